"""Mistakes on a stream beside what the theorems promise."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from river_budget.bounds import Guarantee
from river_budget.checks import check_count
from river_budget.comparators import Comparator, Span

__all__ = ["Certificate", "certify"]

# Rounding may take k(x, x) of a normalized kernel above 1 by this much.
TOLERANCE = 1e-9


@dataclasses.dataclass(frozen=True, eq=False)
class Certificate:
    """What a model did on a stream, and what theorems promise against one competitor.

    Attributes
    ----------
    name
        The model's class.
    n_examples, n_mistakes
        How many examples there were, and how many were predicted with y f(x) <= 0.
    guarantees
        What each theorem promises, against which competitor, and under which assumptions.
    examples, mistakes, bounds
        The run over time: the examples seen, the mistakes among them, and the lowest bound against the
        same competitors on these (points,).

    """

    name: str
    n_examples: int
    n_mistakes: int
    guarantees: tuple[Guarantee, ...]
    examples: tuple[int, ...]
    mistakes: tuple[int, ...]
    bounds: tuple[float, ...]

    @property
    def bound(self) -> float:
        """The lowest of the guarantees; infinite if none of them holds."""
        return _lowest(self.guarantees)

    @property
    def holds(self) -> bool:
        """Whether the mistakes are within the bound."""
        return self.n_mistakes <= self.bound

    def table(self) -> str:
        """Return the certificate as text."""
        lines = [
            ("mistakes", f"{self.n_mistakes:,} of {self.n_examples:,} examples"),
        ]
        for guarantee in self.guarantees:
            lines += [
                (f"bound {guarantee.mistakes:,.1f}", guarantee.theorem),
                ("", f"against norm {guarantee.norm:.4g}, hinge loss {guarantee.loss:,.1f}"),
            ]
            lines += [
                ("", f"{'holds' if held else 'FAILS'}: {name}")
                for name, held in guarantee.assumptions.items()
            ]
        heading = f"{self.name}\n"
        return heading + "\n".join(f"  {left:<18}{right}" for left, right in lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate in plain types, ready for JSON; None for an infinite bound."""
        return dataclasses.asdict(self) | {
            "bounds": [_finite(value) for value in self.bounds],
            "bound": _finite(self.bound),
            "guarantees": [
                {
                    "theorem": guarantee.theorem,
                    "norm": guarantee.norm,
                    "loss": guarantee.loss,
                    "mistakes": _finite(guarantee.mistakes),
                    "assumptions": dict(guarantee.assumptions),
                }
                for guarantee in self.guarantees
            ],
        }


def certify(
    model: Any,
    stream: Iterable[tuple[dict[Any, Any], Any]],
    comparator: Comparator | None = None,
    span: Span | None = None,
    n_points: int = 100,
) -> Certificate:
    """Run a model through a stream, and hold it to its theorems.

    Parameters
    ----------
    model
        A classifier of this package that has `guarantees`. It is cloned.
    stream
        The examples. It has to end.
    comparator
        The competitor; by default, for each theorem, the one against which its bound is lowest in
        hindsight (see `comparators.Span`).
    span
        The span of this stream's examples, where the competitors are searched for, if several models
        with one kernel are to share that work.
    n_points
        Number of points at which mistakes and bound are recorded.

    Raises
    ------
    ValueError
        If there is no theorem about the model, the stream is empty, or an example is refused.

    Examples
    --------

    >>> from river_budget import evaluate, synth
    >>> import river_budget as rb

    >>> model = rb.Projectron(rb.RBF(gamma=1.0), norm_bound=4.0)
    >>> certificate = evaluate.certify(model, synth.TwoGaussians(500, flip=0.0, seed=1))
    >>> print(certificate.table())
    Projectron
      mistakes          23 of 500 examples
      bound 133...      Projectron paper, Corollary 1
                        against norm 3.98..., hinge loss 25...
                        holds: a norm of at most 4
                        holds: a competitor that does not move
                        holds: k(x, x) <= 1

    """
    check_count("n_points", n_points)
    if not hasattr(model, "guarantees"):
        raise ValueError(f"there is no theorem about {type(model).__name__}")
    rows = list(stream)
    if not rows:
        raise ValueError("the stream has no examples")
    ended = model.clone()
    for x, y in rows:
        ended.learn_one(x, y)
    n_theorems = len(ended.guarantees(0.0, 0.0))
    if comparator is None:
        span = span or Span(ended.resolved_kernel, rows)
        competitors = [span.best(_bound(ended, i)) for i in range(n_theorems)]
    else:
        competitors = n_theorems * [comparator]
    norms = [competitor.norm for competitor in competitors]
    losses = [np.cumsum(competitor.hinge_losses(rows)) for competitor in competitors]
    within = max(ended.resolved_kernel(x, x) for x, _ in rows) <= 1 + TOLERANCE

    def guarantees(model: Any, n: int) -> tuple[Guarantee, ...]:
        return tuple(
            model.guarantees(norm, float(loss[n - 1]))[i].assuming("k(x, x) <= 1", within)
            for i, (norm, loss) in enumerate(zip(norms, losses, strict=True))
        )

    learner, step, points = model.clone(), max(1, len(rows) // n_points), []
    for n, (x, y) in enumerate(rows, 1):
        learner.learn_one(x, y)
        if n % step == 0 or n == len(rows):
            points.append((n, learner.n_mistakes, _lowest(guarantees(learner, n))))
    examples, mistakes, bounds = zip(*points, strict=True)
    return Certificate(
        type(model).__name__, len(rows), learner.n_mistakes, guarantees(learner, len(rows)),
        examples, mistakes, bounds,
    )  # fmt: skip


def _bound(model: Any, i: int) -> Callable[[float, float], float]:
    """Return the bound that a model's theorem i gives, as a function of norm and loss."""
    return lambda norm, loss: model.guarantees(norm, loss)[i].mistakes


def _lowest(guarantees: Iterable[Guarantee]) -> float:
    return min(guarantee.mistakes for guarantee in guarantees)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
