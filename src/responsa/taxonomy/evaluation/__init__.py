"""How good it is: the measures of the EU Taxonomy thesis, and rows that were marked by people."""
