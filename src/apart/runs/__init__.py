"""Run folders: the only thing that later stages read."""
