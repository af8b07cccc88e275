"""The direction of an update: a label and its rival."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from river_budget._arrays import Floats, Ints


class Target(NamedTuple):
    """The label y of an example, its rival s, and its margin.

    In the space of `z = k(x, .) (x) (e_y - e_s) / sqrt(2)`, a hypothesis f with a score g_c for each
    label has the margin `<f, z> = (g_y(x) - g_s(x)) / 2`, and `||z||^2 = k(x, x)`. A binary
    algorithm that runs on these z with the label +1 is a multi-class algorithm with the same mistake
    bound. With two labels, `g_+ = -g_- = f` and the margin is y f(x).

    Attributes
    ----------
    label, rival
        The column of the label, and that of the largest score among all other labels. With two
        labels, 1 and 0 or 0 and 1, so that `label - rival` is the sign y.
    margin
        The margin m of the example. It is a mistake if m <= 0, and a margin error if 0 < m < 1.
    weight
        The weight of the example, which multiplies its update: its step size as a new vector, and
        the change of coefficients by its projection. It changes no threshold.
    """

    label: int
    rival: int
    margin: float
    weight: float = 1.0


class Terms(NamedTuple):
    """The terms of a hypothesis in which each vector has one label and one rival.

    Attributes
    ----------
    steps
        The step size sigma of each vector: the coefficient of its label, and minus that of its
        rival (vectors,).
    labels, rivals
        Their columns (vectors,).
    """

    steps: Floats
    labels: Ints
    rivals: Ints


def of_both_labels(f: Floats) -> Floats:
    """Return -f and f, what belongs to the negative and to the positive label (values, 2)."""
    return np.stack((-f, f), axis=1)
