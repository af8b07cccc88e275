# cython: language_level=3
"""The hot loops, for the widest vectors of the machine."""


def use_lanes(int most):
    """Compute with vectors of at most `most` doubles; return how many they have."""
    return choose_lanes(&loops, most)


use_lanes(8)
