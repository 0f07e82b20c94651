"""The Python functions: the same folders, files and errors as the command line."""
