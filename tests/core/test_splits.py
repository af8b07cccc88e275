"""The statistics of a region, and the split that is chosen from them."""

from __future__ import annotations

import numpy as np

from river_budget._core.splits import restored_splits

N_MEASURED = 50


def splits_of(*columns, n_labels=2):
    """Return statistics of rows, given the bin of each row in each column, and its label."""
    *features, labels = map(np.array, columns)
    n = len(features)
    edges = np.arange(15.0) + 100.0 * np.arange(n)[:, None]
    counts, sums = np.zeros((n, 16), np.float32), np.zeros((n, 16, n_labels), np.float32)
    for j, bins in enumerate(features):
        np.add.at(counts[j], bins, 1.0)
        np.add.at(sums[j], (bins, labels), 1.0)
    state = {
        "n": N_MEASURED + len(labels), "names": list("abcdef"[:n]), "elements": np.full(n, -1),
        "moments": np.zeros((0, 2)), "edges": edges, "counts": counts, "sums": sums,
    }  # fmt: skip
    return restored_splits(state, n_labels)


# Eight and two of ten rows below, one and nine of ten above.
LABELS = 8 * [0] + 2 * [1] + 1 * [0] + 9 * [1]
HALVES = 10 * [3] + 10 * [9]


def test_the_edge_with_the_largest_gain_is_chosen():
    """(8^2 + 2^2) / 10 + (1^2 + 9^2) / 10 - (9^2 + 11^2) / 20 = 4.9, the same for edges 3 to 8."""
    assert splits_of(HALVES, LABELS).best() == ("a", -1, 3.0)


def test_a_feature_with_a_larger_gain_is_chosen():
    """With 8 and 1 of 9 rows below, and 1 and 10 of 11 above, the gain is 65 / 9 + 101 / 11 - 10.1 = 6.3."""
    moved = 8 * [3] + [9] + [3] + 10 * [9]
    assert splits_of(HALVES, moved, LABELS).best() == ("b", -1, 103.0)


def test_of_two_equal_gains_the_first_is_chosen():
    assert splits_of(HALVES, HALVES, LABELS).best()[0] == "a"


def test_a_side_has_a_tenth_of_the_rows():
    """A single row with another label than all others is no side, and two are one."""
    for n_other, best in [(1, None), (2, ("a", -1, 0.0))]:
        bins = n_other * [0] + (20 - n_other) * [5]
        assert splits_of(bins, n_other * [1] + (20 - n_other) * [0]).best() == best


def test_without_a_gain_there_is_no_split():
    assert splits_of(HALVES, 20 * [1]).best() is None
    assert splits_of(10 * [3] + 10 * [9], 5 * [0, 1] + 5 * [0, 1]).best() is None
    assert splits_of(LABELS).best() is None
