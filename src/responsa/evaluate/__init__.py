"""Scores of runs and answers, with intervals and paired comparisons."""
