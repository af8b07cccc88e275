"""The direction of an update: a label and its rival."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from river_budget._arrays import Floats, Ints


class Target(NamedTuple):
    """The label y of an example, its rival s, its margin, and a weight that multiplies its update.

    In the space of `z = k(x, .) (x) (e_y - e_s) / sqrt(2)`, a hypothesis f with a score g_c for
    each label has the margin `<f, z> = (g_y(x) - g_s(x)) / 2`, and `||z||^2 = k(x, x)`. A binary
    algorithm that runs on these z with the label +1 is a multi-class algorithm with the same
    mistake bound. With two labels, `g_+ = -g_- = f`, the margin is y f(x), and `label - rival` is
    the sign y.

    The rival has the largest score among all other labels. A margin m is a mistake if m <= 0, and a
    margin error if 0 < m < 1, whatever the weight.
    """

    label: int
    rival: int
    margin: float
    weight: float = 1.0


class Terms(NamedTuple):
    """The terms of a hypothesis in which each vector has one label and one rival (vectors,).

    A step size is the coefficient of the label, and minus that of the rival.
    """

    steps: Floats
    labels: Ints
    rivals: Ints


def of_both_labels(f: Floats) -> Floats:
    """Return -f and f, what belongs to the negative and to the positive label (values, 2)."""
    return np.stack((-f, f), axis=1)
