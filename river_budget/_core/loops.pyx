# cython: language_level=3
"""The hot loops, for the widest vectors that the machine supports; see `loops.pxd`."""


def use_lanes(int most):
    """Compute with the widest vectors of at most `most` doubles; return their width."""
    return choose_lanes(&loops, most)


use_lanes(8)
