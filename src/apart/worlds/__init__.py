"""Worlds: maps as text, transition tables as arrays."""
