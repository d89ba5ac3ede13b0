"""A company's report against the EU Taxonomy: activities and their criteria, evidence, numbers, assessment."""
