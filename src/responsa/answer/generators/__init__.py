"""Answers written by a language model, each method of a paper in a module of its own.

A generator is called as every stage that answers is. It puts what it asked the model into the answer's trace, cites
only passages that it gave to the model, and says in the answer's notes what was left out. `together.answers` runs one
over many questions at once.
"""
