"""Benchmarks of Responsa against its targets; ``scripts/bench`` runs them and writes ``docs/benchmarks.md``."""
