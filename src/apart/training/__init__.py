"""The compiled core: collecting, learning and evaluating, and the program that joins them."""
