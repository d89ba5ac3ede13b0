"""The activities of the EU Taxonomy: criteria read from the acts, found by id and year, screened for in a report."""
