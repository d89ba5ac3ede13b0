"""Experiments: the rows of a table run on the same questions, scored, compared and kept."""
