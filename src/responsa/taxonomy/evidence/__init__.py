"""Where a report bears on a criterion: the report in chunks, questions from criteria, retrieval by recipes."""
