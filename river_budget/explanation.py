"""Why a model says what it says: which features and which earlier examples speak for a label."""

from __future__ import annotations

import copy
import dataclasses
import html
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from river.compose import Pipeline

from river_budget._checks import shown
from river_budget._core.answer import Answer
from river_budget._features import is_array, shortened
from river_budget._state import require
from river_budget.active import Query
from river_budget.base import Chain, Machine, OnlineClassifier
from river_budget.base.chain import ERRORS_OF_TRANSFORMERS
from river_budget.calibration import ClassifierWrapper
from river_budget.kernels import Category, Features

__all__ = ["ExampleContribution", "Explanation", "FeatureEffect", "explain"]

# Probabilities below this count as this, so that log odds are finite.
SMALLEST = 1e-300

# Texts show so many features, examples and relevances.
N_FEATURES, N_EXAMPLES, N_RELEVANCES = 10, 3, 5

# And so many characters of a value, and of all features of an example.
LONGEST_VALUE, LONGEST_EXAMPLE = 40, 80


class FeatureEffect(NamedTuple):
    """What a feature of the example does to the log odds of a label.

    Attributes
    ----------
    name
        The name of the feature.
    value
        Its value in the example.
    effect
        The log odds of the label, less those that it has if the feature is unknown. A positive effect
        speaks for the label.
    """

    name: Any
    value: Any
    effect: float


class ExampleContribution(NamedTuple):
    """What an earlier example, which is a support vector, adds to the score of a label.

    Attributes
    ----------
    x
        Its features.
    label
        Its label. A perceptron stores no labels, so there it is the one with the largest coefficient: the
        same, unless later updates have turned it.
    contribution
        What it adds. A positive contribution speaks for the label that is explained.
    """

    x: Features
    label: Any
    contribution: float


@dataclasses.dataclass(frozen=True, repr=False)
class Explanation:
    """Why a model gives a label its probability, from `explain`.

    Its text is a short version; notebooks show it as tables.

    Attributes
    ----------
    label
        The label that is explained.
    probability
        Its probability.
    log_odds
        Its log odds: the logarithm of its probability divided by that of all other labels together.
    features
        The features of the example, as `FeatureEffect`, largest effects first.
    examples
        The support vectors, as `ExampleContribution`, largest contributions first.
    examples_for, examples_against
        Those that speak for the label, and those that speak against it.
    relevances
        How much each feature counts, if the model learns that: `Mnemotron.relevances_`.
    """

    label: Any
    probability: float
    log_odds: float
    features: list[FeatureEffect]
    examples: list[ExampleContribution]
    relevances: dict[Any, float]

    @property
    def examples_for(self) -> list[ExampleContribution]:
        """The examples that speak for the label, largest contributions first."""
        return [example for example in self.examples if example.contribution > 0]

    @property
    def examples_against(self) -> list[ExampleContribution]:
        """The examples that speak against the label, largest contributions first."""
        return [example for example in self.examples if example.contribution < 0]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as dicts, lists and plain values, for example for `json.dumps`."""
        features = [effect._asdict() | {"value": _plain(effect.value)} for effect in self.features]
        examples = [
            example._asdict() | {"x": {name: _plain(value) for name, value in example.x.items()}}
            for example in self.examples
        ]
        relevances = [{"name": name, "relevance": r} for name, r in self.relevances.items()]
        return {
            "label": self.label, "probability": self.probability, "log_odds": self.log_odds,
            "features": features, "examples": examples, "relevances": relevances,
        }  # fmt: skip

    def __repr__(self) -> str:
        lines = [self._title()]
        for title, rows in self._tables():
            widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
            lines.append(title)
            for row in rows:
                cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
                lines.append(f"  {'  '.join(cells)}".rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        parts = [f"<p>{html.escape(self._title())}</p>"]
        for title, rows in self._tables():
            cells = ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in rows]
            body = "".join(f"<tr>{row}</tr>" for row in cells)
            parts.append(f"<table><caption>{html.escape(title)}</caption>{body}</table>")
        return "".join(parts)

    def _title(self) -> str:
        return f"{shown(self.label)}: probability {self.probability:.4g}, log odds {self.log_odds:+.2f}"

    def _tables(self) -> list[tuple[str, list[list[str]]]]:
        """Return the tables that have rows: for each its title, and the texts of its cells."""
        n, first = len(self.features), self.features[:N_FEATURES]
        effects = [[_signed(effect), short(name), short(value)] for name, value, effect in first]
        more = f", the {N_FEATURES} largest of {n}" if n > N_FEATURES else ""
        by_size = sorted(self.relevances.items(), key=lambda item: -item[1])
        relevances = [[f"{relevance:.2f}", _named(name)] for name, relevance in by_size]
        tables = [
            (f"what each feature adds to the log odds{more}:", effects),
            ("earlier examples that speak for it:", self._rows(self.examples_for)),
            ("earlier examples that speak against it:", self._rows(self.examples_against)),
            ("most relevant to the model (1 in the mean):", relevances[:N_RELEVANCES]),
        ]
        return [(title, rows) for title, rows in tables if rows]

    def _rows(self, examples: Sequence[ExampleContribution]) -> list[list[str]]:
        """Return the first examples as cells of a table, and the sum of all others."""
        rows = [
            [_signed(example.contribution), shown(example.label), self._features_of(example.x)]
            for example in examples[:N_EXAMPLES]
        ]
        rest = [example.contribution for example in examples[N_EXAMPLES:]]
        return [*rows, [_signed(math.fsum(rest)), f"{len(rest)} more", ""]] if rest else rows

    def _features_of(self, x: Features) -> str:
        """Return the features of an earlier example as text, those with the largest effects first."""
        names = dict.fromkeys([*(feature.name for feature in self.features), *x])
        texts = [f"{short(name)}={short(x[name])}" for name in names if name in x]
        return _cut(", ".join(texts), LONGEST_EXAMPLE)


def explain(model: Any, x: Features, label: Any = None) -> Explanation:
    """Explain which features and which earlier examples speak for a label, and which against it.

    Use it to answer "why did it say fraud?". Nothing in the model changes.

    **Features.** Each feature is made unknown, one after the other, and the model is asked again: with
    d features, it is asked d + 1 times. A text and an array are one feature each. Names and values are
    yours, because features are made unknown before a pipeline transforms them. A model that learns
    scales takes the mean so far for an unknown number, and no category for an unknown text. Arrays are
    left out instead, and so is any feature where the model or a transformer refuses unknown values, as
    with a given width; to a model of this package, this means 0. Where the name is needed, a text
    becomes empty, and a number the value that scalers turn into 0, such as the mean. If two features
    say the same, each of them has a small effect, because the other one is still there.

    **Examples.** These are the support vectors. In a perceptron, a contribution is a coefficient times a
    kernel value, and all of them add up to `scores_one(x)[label]`; a wrapper such as `Calibrated` only
    turns this score into another probability. In `Mnemotron`, they add up to the mean of the experts
    under the hedge, less the prior mean; where examples lie close together, they are large and cancel
    each other. Its probability also depends on the two mixers, the last label (`repeats`), the archive and
    the leaves of regions, which contributions leave out. Models without support vectors have no examples.
    Where transformers only scale numbers, examples are scaled back by the present scales; otherwise, they
    are what the transformers have made of them.

    Parameters
    ----------
    model
        A classifier that predicts probabilities, a wrapper around one, or a pipeline that ends in one.
        If the classifier inside is not of this package, the model is copied first, as such a classifier
        may change when it predicts.
    x
        The features of an example.
    label
        The label to explain; by default, the one that is predicted.

    Returns
    -------
    An `Explanation`.

    Raises
    ------
    ValueError
        If the model has learned fewer than two labels or does not know this one, if it predicts no
        probabilities, or if it refuses x.

    Examples
    --------
    >>> from river import datasets
    >>> import river_budget as rb

    >>> model = rb.Mnemotron(budget=50)
    >>> for x, y in datasets.Phishing():
    ...     model.learn_one(x, y)
    >>> explanation = rb.explain(model, x)
    >>> explanation.label, round(explanation.probability, 3)
    (False, 0.985)
    >>> for name, value, effect in explanation.features[:2]:
    ...     print(f"{effect:+.2f} {name} = {value}")
    +4.59 empty_server_form_handler = 1.0
    +1.75 https = 1.0
    >>> [example.label for example in explanation.examples_for[:3]]
    [False, False, False]
    """
    chains = _chains(model)
    classifier = chains[-1].last
    if not isinstance(classifier, OnlineClassifier):
        chains = _chains(copy.deepcopy(model))
    answer = _ask(chains[0], x)
    probabilities = _probabilities(chains[0], answer)
    explained = _label(answer, probabilities) if label is None else label
    require(
        explained in list(probabilities),  # Also if it is not hashable.
        f"the model knows no label {shown(label)}, but " + shortened(f"{list(probabilities)}"),
    )
    log_odds = _log_odds(probabilities, explained)
    return Explanation(
        label=explained,
        probability=probabilities[explained],
        log_odds=log_odds,
        features=_effects(chains, x, explained, log_odds),
        examples=_examples(chains, x, explained),
        relevances=getattr(classifier, "relevances_", {}),
    )


def _chains(model: Any) -> list[Chain]:
    """Return the chain of a model, and those of the models inside. The classifier ends the last one."""
    chain = Chain(model)
    if isinstance(chain.last, Pipeline):
        return [chain, *_chains(chain.last)]
    if isinstance(chain.last, ClassifierWrapper | Query):
        return [chain, *_chains(chain.last.model)]
    return [chain]


def _transformed(chains: Sequence[Chain], x: Features) -> Features:
    """Return what all transformers make of an example, which the classifier gets."""
    for chain in chains:
        x = chain.features(x)
    return x


def _ask(chain: Chain, x: Features) -> Answer:
    """Return what a model says of an example."""
    if isinstance(chain.last, Query):  # A prediction would also decide whether to ask for a label.
        return chain.last.ask(chain.features(x))
    return chain.ask(x)


def _probabilities(chain: Chain, answer: Answer) -> dict[Any, float]:
    """Return the probabilities of an answer. Raises ValueError if there are none to compare."""
    name = type(chain.classifier).__name__
    try:
        probabilities = answer.probabilities
    except NotImplementedError:
        raise ValueError(
            f"{name} predicts no probabilities, which an explanation compares"
        ) from None
    require(
        len(probabilities) > 1,
        f"an explanation compares labels, and {name} has learned fewer than two: let it learn first",
    )
    return probabilities


def _label(answer: Answer, probabilities: dict[Any, float]) -> Any:
    """Return the predicted label, or the most probable one if the answer is rejected."""
    if answer.label is None:
        return max(probabilities, key=probabilities.__getitem__)
    return answer.label


def _log_odds(probabilities: dict[Any, float], label: Any) -> float:
    # All others are added up, because 1 - p would round small ones away.
    others = math.fsum(p for other, p in probabilities.items() if other != label)
    return math.log(max(probabilities[label], SMALLEST)) - math.log(max(others, SMALLEST))


def _effects(
    chains: Sequence[Chain], x: Features, label: Any, log_odds: float
) -> list[FeatureEffect]:
    """Return the effects of all features, largest first."""
    without = {name: _log_odds(_probabilities_without(chains, x, name), label) for name in x}
    effects = [FeatureEffect(name, x[name], log_odds - without[name]) for name in x]
    return sorted(effects, key=lambda feature: -abs(feature.effect))


def _probabilities_without(chains: Sequence[Chain], x: Features, name: Any) -> dict[Any, float]:
    """Return the probabilities if a feature is unknown, in the first way that the model takes."""
    ways: list[Callable[[], Features]] = [
        lambda: {**x, name: None},
        lambda: {other: value for other, value in x.items() if other != name},
        lambda: {**x, name: _neutral(chains, x, name)},
    ]
    for way in ways:
        try:
            return _ask(chains[0], way()).probabilities
        except (ValueError, *ERRORS_OF_TRANSFORMERS) as error:
            refusal = error
    raise ValueError(
        f"the model cannot do without the feature {shown(name)}, which is made unknown: {refusal!r}"
    )


def _neutral(chains: Sequence[Chain], x: Features, name: Any) -> Any:
    """Return an empty text for a text, and for a number the value that scalers make 0 of."""
    if isinstance(x[name], str):
        return ""
    start, end = (_transformed(chains, {**x, name: value})[name] for value in (0.0, 1.0))
    return 0.0 if start == end else start / (start - end)


def _examples(chains: Sequence[Chain], x: Features, label: Any) -> list[ExampleContribution]:
    """Return what each support vector of the classifier adds to the score of a label, largest first."""
    classifier = chains[-1].last
    if not isinstance(classifier, Machine):
        return []
    examples = [
        ExampleContribution(_scaled_back(chains, vector), owner, contribution)
        for vector, owner, contribution in classifier._attributed(_transformed(chains, x), label)  # noqa: SLF001
    ]
    return sorted(examples, key=lambda example: -abs(example.contribution))


def _scaled_back(chains: Sequence[Chain], x: Features) -> Features:
    """Return the example that transformers would make x of; x itself if they do more than scale numbers.

    Features that are constant so far are left out, because any value of them is scaled to 0.
    """
    numbers = {name: value for name, value in x.items() if isinstance(value, float)}
    try:
        start = _transformed(chains, x | dict.fromkeys(numbers, 0.0))
        end = _transformed(chains, x | dict.fromkeys(numbers, 1.0))
        slopes = {name: end[name] - start[name] for name in numbers}
        constant = [name for name, slope in slopes.items() if slope == 0.0]
        given = {name: value for name, value in x.items() if name not in constant}
        for name in numbers.keys() - constant:
            given[name] = (x[name] - start[name]) / slopes[name]
        again = _transformed(chains, given)
        is_same = again.keys() == given.keys() and all(_is_close(again[n], x[n]) for n in given)
    except (ValueError, *ERRORS_OF_TRANSFORMERS):
        return x
    return given if is_same else x


def _is_close(value: Any, other: Any) -> bool:
    if isinstance(value, float):
        return math.isclose(value, other, rel_tol=1e-6, abs_tol=1e-9)
    return value is other or bool(np.array_equal(value, other))


def short(value: Any) -> str:
    """Return a value as a short text of one line.

    Parameters
    ----------
    value
        A name or a value of a feature, or a label.
    """
    if is_array(value):
        return f"array of {len(value)}"
    value = _plain(value)
    if isinstance(value, float):
        return f"{value:.4g}"
    text = value if isinstance(value, str) else shown(value)
    return _cut(" ".join(text.split()), LONGEST_VALUE)


def _named(name: Any) -> str:
    """Return a name in relevances, where a text is a feature of its own, as a short text."""
    return f"{short(name[0])}={short(name[1])}" if isinstance(name, Category) else short(name)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def _signed(number: float) -> str:
    return f"{number:+.2f}"


def _plain(value: Any) -> Any:
    """Return a value without types of NumPy."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
