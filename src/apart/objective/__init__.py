"""The mathematics of the paper as pure functions of one state or one sample."""
