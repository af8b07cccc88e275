"""Models that learned apart, merged into the one that has learned all of their examples."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from river_budget._arrays import Floats, Ints, unpacked
from river_budget._checks import shown
from river_budget._core.discriminant import BUFFER
from river_budget._state import State, require
from river_budget.base.labels import Labels
from river_budget.kernel_lda import KernelLDA

__all__ = ["merge"]

WRONG_BASE = "the base has learned what the models have not: give the model that was copied"


class _Sums(NamedTuple):
    """What a model has learned, as sums over its examples with labels in a common order.

    In the terms of `discriminant.pxd`: `inverse` is `P^-1`, `coefficients` are W by rows, `residuals`
    are R, and `counts` the diagonal of N. Labels that the model has not seen have zeros.
    """

    inverse: Floats  # (features, features)
    coefficients: Floats  # (labels, features)
    residuals: Floats  # (labels, labels)
    counts: Floats  # (labels,)
    rounds: Ints  # (labels,)
    n_mistakes: int
    beta: float
    squares: float


def merge(models: Iterable[KernelLDA], base: KernelLDA | None = None) -> KernelLDA:
    """Return the model that has learned the examples of all models.

    A `KernelLDA` that forgets nothing keeps sums over its examples, so those of several models add up:
    workers learn apart, and the merged model has learned what all of them have. It is exact but for
    rounding errors, and the temperature of the probabilities. That is learned online, so the result has
    the mean over the models, weighted by how much each has learned and how well it knows its own. It is
    set anew by what the merged model learns: by hundreds of examples, or by thousands if there are many
    labels and models.

    All sums are in double precision, and the result has the `dtype` of the models. The order of the models,
    and merging in stages, change predicted probabilities by less than 1e-6. In single precision, each stage
    rounds its result, and the difference is about 1e-5.

    The models need the same random features and the same kernel, so models that have learned their
    scales apart cannot be merged. Either copy one base for all workers after its first 256 examples,
    when its scales are fixed, and give it to `merge`, which counts its examples once. Or give new
    models the same kernel, such as the `resolved_kernel` of a trained model, and leave out the base.

    Kernel perceptrons and `Mnemotron` cannot be merged at their budget: add the scores of such models.
    Nor is the archive of a `Mnemotron` merged, since the weights of the experts beside it were learned for
    it as it was: let a `KernelLDA` of its own learn the same examples.

    Parameters
    ----------
    models
        Models of the class `KernelLDA` with equal parameters and scales. For checkpoints, give
        `map(checkpoint.loads, states)`.
    base
        The model that all models are copies of, as it was when it was copied. By default, they began
        without examples.

    Returns
    -------
    A new model. Its labels are those of the base, then of the first model, and so on. The models
    stay as they are.

    Raises
    ------
    ValueError
        If there is no model, if one cannot be merged, or if there are too many labels.

    Examples
    --------
    >>> import copy
    >>> import river_budget as rb
    >>> from river.datasets import ImageSegments

    >>> rows = list(ImageSegments())
    >>> base = rb.KernelLDA(dtype="float64")
    >>> for x, y in rows[:256]:
    ...     base.learn_one(x, y)

    >>> workers = [copy.deepcopy(base) for _ in range(2)]
    >>> for i, (x, y) in enumerate(rows[256:2000]):
    ...     workers[i % 2].learn_one(x, y)

    >>> merged = rb.merge(workers, base)
    >>> merged.n_rounds
    2000
    >>> sum(merged.predict_one(x) == y for x, y in rows[2000:])
    293
    """
    given = list(models)
    require(given, "there is no model to merge")
    names = {f"models[{i}]": model for i, model in enumerate(given)}
    names |= {} if base is None else {"base": base}
    for name, model in names.items():
        _check_model(name, model)
        _check_same(name, model, given[0])

    shared = _without_examples(given) if base is None else base
    labels = _united_labels([shared, *given])
    of_base = _sums("base", shared, labels)

    parts = (_sums(f"models[{i}]", model, labels, of_base) for i, model in enumerate(given))
    merged = functools.reduce(functools.partial(_added, of_base), parts)
    return _model_of(merged, given[0], labels)


def _check_model(name: str, model: Any) -> None:
    """Raise ValueError unless a model keeps sums that can be added to those of others."""
    kind = type(model)
    require(
        kind is KernelLDA,
        f"{name} is of the class {kind.__name__}, and only KernelLDA keeps sums that add up: load "
        "checkpoints first, give the KernelLDA inside of a pipeline or wrapper, and add the scores of other "
        "classifiers",
    )
    require(
        model.forgetting == 1,
        f"{name} has forgetting={model.forgetting}, and fading sums have no common time: merge models "
        "with forgetting=1",
    )
    require(
        not _learns_scales(model) or model.n_rounds >= BUFFER,
        f"{name} has learned {model.n_rounds} examples, and its scales are fixed after {BUFFER}: let a "
        "base learn as many before it is copied, or give new models the resolved_kernel of one that has",
    )


def _check_same(name: str, model: KernelLDA, first: KernelLDA) -> None:
    """Raise ValueError unless a model has the parameters and the scales of the first one."""
    for field in dataclasses.fields(KernelLDA):
        value, expected = getattr(model, field.name), getattr(first, field.name)
        require(
            value == expected,
            f"{name} has {field.name}={shown(value)}, and models[0] has {shown(expected)}: merge models "
            "with equal parameters",
        )
    require(
        model.resolved_kernel == first.resolved_kernel,
        f"{name} has learned other scales than models[0]: copy one base after its first {BUFFER} "
        "examples, or give new models the resolved_kernel of one that has learned them",
    )


def _learns_scales(model: KernelLDA) -> bool:
    return model.kernel is None or model.kernel.learns_scales


def _without_examples(models: list[KernelLDA]) -> KernelLDA:
    """Return the base of models that have none. Raises ValueError if they must have one."""
    require(
        len(models) == 1 or not _learns_scales(models[0]),
        "the models have learned the same scales, so they are copies of one model: give it as base, or "
        "the examples that it had learned would count several times",
    )
    return models[0].clone()


def _united_labels(models: list[KernelLDA]) -> Labels:
    """Return all labels of models, in order of appearance. Raises ValueError if there are too many."""
    labels = Labels(models[0].max_classes)
    for model in models:
        for label in model.classes:
            labels.add(label)
    return labels


def _sums(name: str, model: KernelLDA, labels: Labels, of_base: _Sums | None = None) -> _Sums:
    """Return the sums of a model. Raises ValueError if it lacks examples of its base."""
    state = model.state()
    columns, learned = state["labels"]["columns"], state["hypothesis"]
    # The matrix that brings rows of labels into the common order.
    order = np.zeros((len(labels.names), len(learned["counts"])), np.int64)
    for label, column in columns.items():
        order[labels.column[label], column] = 1

    rounds = order @ learned["rounds"]
    if of_base is not None:
        for label, column in labels.column.items():
            n, n_before = rounds[column], of_base.rounds[column]
            require(
                n >= n_before,
                f"{name} has learned {n} examples of the label {shown(label)}, and the base {n_before}, so "
                "it is no copy of that: give the model that was copied, as it was then",
            )

    P = learned["scale"] * unpacked(learned["inverse"], model.n_features)
    lost = f"{name} has lost its sums in rounding errors: let workers learn with dtype='float64'"
    residuals = _inverse_of_seen(learned["residuals"], learned["counts"], lost)
    return _Sums(
        inverse=_inverse(P, lost),
        coefficients=order @ learned["coefficients"].astype(np.float64),
        residuals=order @ residuals @ order.T,
        counts=order @ learned["counts"],
        rounds=rounds,
        n_mistakes=learned["n_mistakes"],
        beta=learned["beta"],
        squares=learned["squares"],
    )


def _added(base: _Sums, one: _Sums, other: _Sums) -> _Sums:
    """Return the sums of two models that began with those of a base."""
    inverse = one.inverse + other.inverse - base.inverse
    products = _products(one) + _products(other) - _products(base)
    coefficients = products @ _inverse(inverse, WRONG_BASE)

    def residuals_of(part: _Sums) -> Floats:
        """Return what the coefficients of all leave of a part: R = N - B' P B without cancellation."""
        changes = part.coefficients - coefficients
        return part.residuals + changes @ part.inverse @ changes.T

    beta, squares = _temperature(base, one, other)
    return _Sums(
        inverse=inverse,
        coefficients=coefficients,
        residuals=residuals_of(one) + residuals_of(other) - residuals_of(base),
        counts=one.counts + other.counts - base.counts,
        rounds=one.rounds + other.rounds - base.rounds,
        n_mistakes=one.n_mistakes + other.n_mistakes - base.n_mistakes,
        beta=beta,
        squares=squares,
    )


def _products(sums: _Sums) -> Floats:
    """Return B by rows: the sum of the features of the examples of each label."""
    return sums.coefficients @ sums.inverse


def _temperature(base: _Sums, *parts: _Sums) -> tuple[float, float]:
    """Return `beta` and `squares` for parts, as means with weights that add up.

    A part counts as the examples that it has learned since the base, times, for `beta`, how well it
    knows its own: the second derivative of its log loss.
    """
    added = np.array([max(0.0, sums.counts.sum() - base.counts.sum()) for sums in parts])
    squares = np.array([sums.squares for sums in parts])
    betas = np.array([sums.beta for sums in parts])
    if (added * squares).sum() == 0:
        return base.beta, base.squares
    beta = np.exp(np.average(np.log(betas), weights=added * squares))
    # Rounding errors must not carry it beyond its bounds.
    beta = min(max(beta, betas.min()), betas.max())
    return float(beta), float(np.average(squares, weights=added))


def _model_of(sums: _Sums, like: KernelLDA, labels: Labels) -> KernelLDA:
    """Return the model with some sums, and with the parameters and the scales of another one."""
    P = _inverse(sums.inverse, WRONG_BASE)
    learned: State = {
        "inverse": P[np.tril_indices(len(P))].astype(like.dtype),
        "coefficients": sums.coefficients.astype(like.dtype),
        "residuals": _inverse_of_seen(sums.residuals, sums.counts, WRONG_BASE),
        "counts": sums.counts,
        "rounds": sums.rounds,
        "n_mistakes": sums.n_mistakes,
        "beta": sums.beta,
        "squares": sums.squares,
        "scale": 1.0,
    }
    state, model = like.state(), like.clone()
    model.restore(
        {**state, "labels": labels.state(), "hypothesis": {**state["hypothesis"], **learned}}
    )
    return model


def _inverse_of_seen(matrix: Floats, counts: Floats, otherwise: str) -> Floats:
    """Return a matrix (labels, labels) whose part for labels with examples is inverted, and else 0."""
    seen = np.ix_(counts > 0, counts > 0)
    inverse = np.zeros_like(matrix)
    inverse[seen] = _inverse(matrix[seen], otherwise)
    return inverse


def _inverse(matrix: Floats, otherwise: str) -> Floats:
    """Return the inverse of a positive definite matrix, exactly symmetric. Raises ValueError if it is not."""
    try:
        root = np.linalg.inv(np.linalg.cholesky(matrix))
    except np.linalg.LinAlgError:
        raise ValueError(otherwise) from None
    return root.T @ root
