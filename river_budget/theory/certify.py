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

# How often mistakes and bounds are recorded.
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
    examples, mistakes, bounds
        The run over time, at its end last: number of examples, number of those with a margin of at most
        0, and the lowest bound against the same comparators, infinite if the assumptions of all
        theorems fail (points,).
    """

    name: str
    guarantees: tuple[Guarantee, ...]
    examples: tuple[int, ...]
    mistakes: tuple[int, ...]
    bounds: tuple[float, ...]

    def table(self) -> str:
        """Return the certificate as text."""
        lines = [("mistakes", f"{self.mistakes[-1]:,} of {self.examples[-1]:,} examples")]
        for g in self.guarantees:
            lines.append((f"bound {g.mistakes:,.1f}", g.theorem))
            lines.append(("", f"against norm {g.norm:.4g}, hinge loss {g.loss:,.1f}"))
            for name, held in g.assumptions.items():
                lines.append(("", f"{'holds' if held else 'FAILS'}: {name}"))
        return "\n".join([self.name, *(f"  {left:<18}{right}" for left, right in lines)])

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as JSON types, with None for an infinite bound."""
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

    For each theorem, the comparator with the lowest bound is searched for in the span of at most 300
    examples, which takes O(300 n) memory for n examples, and O(300 n) time for each label. On a
    longer stream, another one might give a lower bound, but the reported bounds are valid.

    Parameters
    ----------
    model
        A classifier of this package that has `guarantees`.
    stream
        The examples, finitely many.
    span
        The span of the examples of this stream, which models with the same kernel may share.

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
    # The comparators are known when all is learned, and the bounds over time in a second run.
    again = model.clone()
    learned = copy.deepcopy(again)
    for x, y in examples:
        learned.learn_one(x, y)
    theorems = range(len(learned.guarantees(0.0, 0.0)))
    span = span or Span(learned.resolved_kernel, examples)

    def bound(norm: float, loss: float, i: int) -> float:
        return learned.guarantees(norm, loss)[i].mistakes

    comparators = [span.best(functools.partial(bound, i=i)) for i in theorems]
    norms = [g.norm for g in comparators]
    losses = [np.cumsum(g.hinge_losses(examples)).tolist() for g in comparators]
    step, points = max(1, len(examples) // N_POINTS), []
    for n, (x, y) in enumerate(examples, 1):
        again.learn_one(x, y)
        if n % step == 0 or n == len(examples):
            found = tuple(again.guarantees(norms[i], losses[i][n - 1])[i] for i in theorems)
            points.append((n, again.n_mistakes, min(g.mistakes for g in found)))
    run = zip(*points, strict=True)
    return Certificate(type(model).__name__, found, *run)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
