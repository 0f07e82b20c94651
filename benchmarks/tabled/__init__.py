"""The tables of README and docs, a module for each subject (`benchmarks/tables.py` writes them)."""
