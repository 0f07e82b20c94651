"""The host loop: processes, signals, progress, and everything between two compiled chunks."""
