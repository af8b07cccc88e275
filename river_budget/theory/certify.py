"""Certificates: the mistakes of a model on a stream, compared with its mistake bounds."""

from __future__ import annotations

import copy
import dataclasses
import functools
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from river_budget._state import require
from river_budget.theory.bounds import Guarantee
from river_budget.theory.comparators import Span

# The number of times that mistakes and bounds are recorded, about evenly spaced.
N_POINTS = 100


@dataclasses.dataclass(frozen=True, eq=False)
class Certificate:
    """The mistakes of a model on a stream and its mistake bounds.

    Attributes
    ----------
    name
        Name of the model's class.
    guarantees
        The bound of each theorem, with its comparator and its assumptions.
    examples
        Numbers of examples at which the run was recorded, that of all examples last (points,).
    mistakes
        Number of mistakes until then: examples with a margin of at most 0 (points,).
    bounds
        The lowest bound until then, against the same comparators; infinite if an assumption of each
        theorem fails (points,).
    """

    name: str
    guarantees: tuple[Guarantee, ...]
    examples: tuple[int, ...]
    mistakes: tuple[int, ...]
    bounds: tuple[float, ...]

    def table(self) -> str:
        """Return the certificate as a text of several lines."""
        lines = [("mistakes", f"{self.mistakes[-1]:,} of {self.examples[-1]:,} examples")]
        for g in self.guarantees:
            lines.append((f"bound {g.mistakes:,.1f}", g.theorem))
            lines.append(("", f"against norm {g.norm:.4g}, hinge loss {g.loss:,.1f}"))
            for name, held in g.assumptions.items():
                lines.append(("", f"{'holds' if held else 'FAILS'}: {name}"))
        return "\n".join([self.name, *(f"  {left:<18}{right}" for left, right in lines)])

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate in types that JSON has. An infinite bound is None."""
        guarantees = [
            vars(g) | {"formula": _finite(g.formula), "mistakes": _finite(g.mistakes)}
            for g in self.guarantees
        ]
        return vars(self) | {"guarantees": guarantees, "bounds": list(map(_finite, self.bounds))}


def certify(
    model: Any,
    stream: Iterable[tuple[dict[Any, Any], Any]],
    span: Span | None = None,
) -> Certificate:
    """Train a clone of a model on a stream, and compare its mistakes with its mistake bounds.

    For each theorem, it searches for the comparator with the lowest bound, in the span of at most 300
    examples. With n examples this takes O(300 n) memory, and O(300 n) time for each label. If the stream
    is longer than 300, a comparator outside of this span might give a lower bound. The reported bounds
    are valid all the same.

    Parameters
    ----------
    model
        A classifier of this package that has `guarantees`.
    stream
        The examples, finitely many.
    span
        The span of the examples of this stream. Give it to certify several models with the same kernel
        in less time; by default it is computed.

    Raises
    ------
    ValueError
        If the model has no mistake bound, the stream is empty, or an example is invalid.

    Examples
    --------
    >>> from river_budget import synth, theory
    >>> import river_budget as rb

    >>> model = rb.Projectron(rb.RBF(gamma=1.0), norm_bound=4.0)
    >>> certificate = theory.certify(model, synth.TwoGaussians(500, flip=0.0, seed=1))
    >>> print(certificate.table())
    Projectron
      mistakes          23 of 500 examples
      bound 133...      Projectron paper, Corollary 1
                        against norm 3.97..., hinge loss 25...
                        holds: a norm of at most 4
                        holds: ...
    """
    require(hasattr(model, "guarantees"), f"there is no theorem about {type(model).__name__}")
    examples = list(stream)
    require(examples, "the stream has no examples")

    # The comparators need the model after the whole stream. The bounds over time need a second run, with
    # the same random numbers.
    untrained = model.clone()
    trained = copy.deepcopy(untrained)
    for x, y in examples:
        trained.learn_one(x, y)
    theorems = range(len(trained.guarantees(0.0, 0.0)))
    span = span or Span(trained.resolved_kernel, examples)

    def bound(norm: float, loss: float, i: int) -> float:
        """Return the bound of theorem i."""
        return trained.guarantees(norm, loss)[i].mistakes

    comparators = [span.best(functools.partial(bound, i=i)) for i in theorems]
    norms = [g.norm for g in comparators]
    losses = [np.cumsum(g.hinge_losses(examples)).tolist() for g in comparators]

    second, points = untrained, []
    step = max(1, len(examples) // N_POINTS)
    for n, (x, y) in enumerate(examples, 1):
        second.learn_one(x, y)
        if n % step == 0 or n == len(examples):
            guarantees = tuple(second.guarantees(norms[i], losses[i][n - 1])[i] for i in theorems)
            points.append((n, second.n_mistakes, min(g.mistakes for g in guarantees)))
    numbers, mistakes, bounds = zip(*points, strict=True)
    return Certificate(type(model).__name__, guarantees, numbers, mistakes, bounds)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
