"""The kernel perceptrons, one file an algorithm."""
