# cython: language_level=3
"""The hot loops of linear discriminants, for the widest vectors of the machine."""


def use_lanes(int most):
    """Compute with vectors of at most `most` doubles; return how many they have."""
    return choose_symmetric_lanes(loops, most)


use_lanes(8)
