"""Criterion by criterion: evidence and numbers put together, a language model asked, its claims checked."""
