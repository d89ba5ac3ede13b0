"""Documents: reading them, keeping them in versions, looking them up."""
