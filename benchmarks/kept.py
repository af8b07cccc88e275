"""How far what a model keeps up to date has come from what it stands for."""

from __future__ import annotations

import numpy as np

import river_budget as rb
from river_budget.ball import BallPerceptron
from river_budget.rounds import JITTER
from river_budget.support import SupportSet
from river_budget.validation import SupportVectors


def kept_residuals(model) -> dict[str, float]:
    """Return the largest absolute error of each kept quantity, against values from scratch.

    What is kept depends on the algorithm: the squared norm, margins of support vectors or of
    validation examples, the factor of the Gram matrix, inverses, the leeway of the Forgetron. Models
    without any have an empty answer.

    """
    support = model._support
    if isinstance(model, BallPerceptron):
        return {"squared norm": abs(model.norm**2 - support.norm**2)}
    if isinstance(model, rb.FixedBudgetPerceptron):
        own = [support.self_value_of(slot) for slot in range(support.n)]
        return {
            "margins": _largest(model._values - values_and_rows(support)[0]),
            "self values": _largest(model._self_values - own),
        }
    if isinstance(model, (rb.TighterPerceptron, rb.TightestPerceptron)):
        return _validation_residuals(model)
    if isinstance(model, rb.Projectron):
        return {"factor": _factor_residual(model)}
    if isinstance(model, rb.Forgetron):
        return {"deviation": max(0.0, model.deviation - 15 / 32 * model.n_mistakes)}
    if isinstance(model, rb.Mnemotron):
        return {"inverses": max(_inverse_residuals(model), default=0.0)}
    return {}


def values_and_rows(support: SupportSet) -> tuple[np.ndarray, np.ndarray]:
    """Return f at each support vector, and the Gram matrix, by slots."""
    n = support.n
    pairs = [support.decide_slot(slot) for slot in range(n)]
    return np.array([f for f, _ in pairs]), np.array([row for _, row in pairs]).reshape(n, n)


def _largest(errors) -> float:
    return float(np.abs(errors).max(initial=0.0))


def _validation_residuals(model) -> dict[str, float]:
    validation, support = model._validation, model._support
    if isinstance(validation, SupportVectors):
        values, rows = values_and_rows(support)
    else:
        examples = [validation._store.vector(i) for i in range(validation.n)]
        looks = [support.look(x) for x in examples]
        values = np.array([f for _, f, *_ in looks])
        rows = np.array([support.row_of(look) for look in looks]).reshape(len(looks), support.n)
    table = validation.table[:, : support.n]
    return {
        "validation margins": _largest(validation.values - values),
        "validation table": _largest(table - rows),
    }


def _factor_residual(model) -> float:
    """Return the largest element of R'R - K, where R is the kept factor."""
    _, gram = values_and_rows(model._support)
    n, packed = model.n_support, model._factor._columns
    factor = np.zeros((n, n))
    factor.T[np.tril_indices(n)] = packed
    return _largest(factor.T @ factor - gram)


def _inverse_residuals(model) -> list[float]:
    """Return the largest element of Q (K + jitter I) - I for each kernel."""
    residuals, n = [], model.n_support
    for inverse, support in zip(model._inverses, model._supports, strict=True):
        _, gram = values_and_rows(support)
        np.fill_diagonal(gram, 1.0)
        residuals.append(_largest(inverse[:n, :n] @ (gram + JITTER * np.eye(n)) - np.eye(n)))
    return residuals
