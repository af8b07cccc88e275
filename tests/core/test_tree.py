"""The tree of regions: a sequence of splits."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from river_budget._core.tree import restored_tree


def tree_of(*splits):
    """Return a tree, given the region that each split divides, its feature and its threshold."""
    regions, names, thresholds = zip(*splits, strict=True) if splits else ((), (), ())
    state = {
        "names": list(names), "elements": np.full(len(names), -1),
        "thresholds": np.array(thresholds, float), "regions": np.array(regions, np.int64),
    }  # fmt: skip
    return restored_tree(state)


def test_the_path_to_each_region():
    tree = tree_of((0, "a", 1.0), (0, "b", 2.0), (1, "a", 3.0))
    low, high = ("a", -1, 1.0, False), ("a", -1, 1.0, True)
    assert [tree.path(region) for region in range(4)] == [
        [low, ("b", -1, 2.0, False)],
        [high, ("a", -1, 3.0, False)],
        [low, ("b", -1, 2.0, True)],
        [high, ("a", -1, 3.0, True)],
    ]


def test_a_tree_grows_like_one_that_is_restored():
    tree = tree_of()
    for split in [(0, "a", 1.0), (1, "b", 2.0), (0, "a", -1.0)]:
        region, name, threshold = split
        tree = tree.divided(region, name, -1, threshold)
    whole = tree_of((0, "a", 1.0), (1, "b", 2.0), (0, "a", -1.0))
    assert [tree.path(region) for region in range(4)] == [whole.path(region) for region in range(4)]
    assert tree_of().path(0) == []


@pytest.mark.parametrize("regions", [*itertools.product(range(1), range(2), range(3))])
def test_each_sequence_of_splits_is_a_tree(regions):
    """Each region is reached by one path, and the paths divide all examples among them."""
    tree = tree_of(*((region, name, 0.0) for region, name in zip(regions, "abc", strict=True)))
    paths = [tree.path(region) for region in range(4)]
    for signs in itertools.product([False, True], repeat=3):
        is_above = dict(zip("abc", signs, strict=True))
        reached = [all(is_above[name] == above for name, _, _, above in path) for path in paths]
        assert sum(reached) == 1


@pytest.mark.parametrize("regions", [(1,), (-1,), (0, 2), (0, 0, 3)])
def test_a_split_of_a_region_that_is_not_there_is_refused(regions):
    with pytest.raises(ValueError, match="divides a region that is not there"):
        tree_of(*((region, "a", 0.0) for region in regions))
