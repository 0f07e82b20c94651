"""The compiled chunk, evaluation and the host loop."""
