"""Templates of perceptrons with mistake bounds."""

from __future__ import annotations

import abc
import dataclasses
import inspect
import math

from river_budget._checks import check_not_negative, check_positive
from river_budget.base import BudgetPerceptron, Example, Expansion, Number, Perceptron, parameter
from river_budget.theory import Guarantee


class ProvenPerceptron(Perceptron):
    """A perceptron with mistake bounds, which a subclass returns from `_theorems`."""

    def guarantees(self, norm: float, loss: float, path_length: float = 0) -> tuple[Guarantee, ...]:
        """Return the mistake bounds of this model against a comparator, one for each theorem.

        All assume `k(x, x) <= 1`, which is checked for every example that has updated the model.

        Parameters
        ----------
        norm
            Norm of the comparator; the largest one if it moves.
        loss
            Cumulative hinge loss of the comparator on the stream.
        path_length
            The sum of `||g_t - g_(t-1)||` for a comparator that moves.

        Raises
        ------
        ValueError
            If one of them is negative.
        """
        check_not_negative("path_length", path_length)
        assumptions = {
            **self._assumptions(path_length),
            "a kernel that does not change": self._feature_scales is None,
            "all weights 1": self._f.n_weighted == 0,
            "k(x, x) <= 1": self._f.largest_self_value <= 1 + 1e-9,  # Rounding errors are allowed.
        }
        return tuple(
            dataclasses.replace(theorem, assumptions={**theorem.assumptions, **assumptions})
            for theorem in self._theorems(norm, loss, path_length)
        )

    @abc.abstractmethod
    def _theorems(self, norm: float, loss: float, path_length: float) -> tuple[Guarantee, ...]:
        """Return the bounds of the theorems, without the assumptions that `guarantees` adds."""

    def _assumptions(self, path_length: float) -> dict[str, bool]:
        """Return the assumptions that all theorems of this algorithm share, and whether each holds."""
        return {"a fixed comparator": path_length == 0}


class NormedPerceptron(ProvenPerceptron, BudgetPerceptron):
    """A perceptron that keeps track of the norm of its hypothesis, and may limit it to `_radius`."""

    _square = Number(key="squared_norm")
    _radius = math.inf

    @property
    def norm(self) -> float:
        """Norm of f in the kernel's Hilbert space, updated incrementally."""
        return math.sqrt(max(0.0, self._square))

    def numerical_errors(self) -> dict[str, float]:
        return {"squared norm": abs(self.norm**2 - self._f.norm**2)}

    def _on_rescaled(self) -> None:
        super()._on_rescaled()
        self._square = self._f.norm**2
        self._limit_norm()

    def _limit_norm(self) -> None:
        largest = self._radius * self._radius  # The power of a huge radius would raise.
        if self._square > largest:
            self._f.shrink(math.sqrt(largest / self._square))
            self._square = largest


class BallPerceptron(NormedPerceptron):
    """The template of Sutskever's analysis.

    A step is `w <- pi_C(decay (w - term) + eta y k(x, .))`, where pi_C projects onto a ball C.
    """

    learning_rate: float = parameter(default=1.0, check=check_positive)

    _decay = 1.0

    def _assumptions(self, path_length: float) -> dict[str, bool]:
        # The theorem holds for the default learning rate only.
        rate = inspect.signature(type(self)).parameters["learning_rate"].default
        return {f"a learning rate of 1/{1 / rate:.0f}": self.learning_rate == rate}

    def _descend(self, f: Expansion, y: Example, r: int) -> None:
        """Make one gradient step on the example, which replaces the vector in slot r if that is in use."""
        decay, margin, square = self._decay, y.margin, self._square
        eta = self.learning_rate * y.weight
        if r < f.n:
            sigma, mu = f.step_of(r), f.margin_of(r)
            square += sigma * (sigma * f.self_value_of(r) - 2 * mu)
            margin -= sigma * f.overlap(r) * f.row_at(r)
        self._square = decay**2 * square + eta * (2 * decay * margin + eta * y.self_value)
        f.shrink(decay)
        if r < f.n:
            f.replace(r, y, self.learning_rate)
        else:
            f.add(y, self.learning_rate)
        self._limit_norm()
