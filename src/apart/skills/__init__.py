"""Using what a run found: policies from its checkpoint. From run folders alone."""
