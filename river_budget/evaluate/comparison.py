"""Models side by side on the same permutations of one stream."""

from __future__ import annotations

import copy
import dataclasses
import functools
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from river.base import Estimator

from river_budget._checks import check_count, check_seed, random_of
from river_budget._state import require
from river_budget.base import Chain
from river_budget.evaluate.delays import AT_ONCE, Delays, Turn

if TYPE_CHECKING:
    from river.metrics.base import ClassificationMetric  # slow to import


@dataclasses.dataclass(frozen=True)
class Run:
    """One model's run through one permutation of a stream.

    Attributes
    ----------
    examples
        Numbers of examples after which the run was recorded (points,).
    mistakes
        Number of mistakes until then (points,): the `n_mistakes` of a model that counts them, where a
        mistake is a label that did not have the largest score (with two labels, y f(x) <= 0); for other
        models, and if labels come late, the number of wrong or missing predictions.
    support_sizes
        Number of support vectors then (points,); 0 for a model that has none.
    memory_bytes
        Size of the model at the end, in bytes.
    seconds
        Time to predict and learn all examples.
    scores
        The value of each further metric at the end, by its name.
    figures
        The figures of a summary, by name.
    """

    examples: tuple[int, ...]
    mistakes: tuple[int, ...]
    support_sizes: tuple[int, ...]
    memory_bytes: int
    seconds: float
    scores: dict[str, float] = dataclasses.field(default_factory=dict)

    @property
    def figures(self) -> dict[str, float]:
        return {
            "mistakes_percent": 100.0 * self.mistakes[-1] / self.examples[-1],
            "n_support": self.support_sizes[-1],
            "memory_bytes": self.memory_bytes,
            "microseconds_per_example": 1e6 * self.seconds / self.examples[-1],
            **self.scores,
        }


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The runs of several models on the same permutations of one stream.

    Attributes
    ----------
    runs
        The runs of each model by name, one for each permutation.
    metrics
        The further metrics by name, as they were given. The first one, if there is any, tells which model
        is best; otherwise the number of mistakes does.
    baseline
        The name of the model that the others are to be better than, if there is one.
    """

    runs: dict[str, list[Run]]
    metrics: Mapping[str, ClassificationMetric] = dataclasses.field(default_factory=dict)
    baseline: str | None = None

    def __repr__(self) -> str:
        """Return the summary as a table, with standard deviations if there are several runs."""
        lines = [["model", "mistakes %", "support", "bytes", "µs/example", *self.metrics]]
        specs = [".2f", ",.0f", ",.0f", ".2f", *(".4f" for _ in self.metrics)]
        for name, figures in self.summary().items():
            line = [str(name)]
            for (mean, deviation), spec in zip(figures.values(), specs, strict=True):
                has_deviation = len(self.runs[name]) > 1
                cell = f"{mean:{spec}} ± {deviation:{spec}}" if has_deviation else f"{mean:{spec}}"
                line.append(cell)
            lines.append(line)
        return text_table(lines)

    def summary(self) -> dict[str, dict[str, tuple[float, float]]]:
        """Return mean and standard deviation of each figure over the permutations.

        The baseline comes first, then the best model.
        """
        summary = {
            name: {
                key: _mean_and_deviation([run.figures[key] for run in runs])
                for key in runs[0].figures
            }
            for name, runs in self.runs.items()
        }

        def place(row: tuple[str, Any]) -> tuple[bool, float]:
            name, figures = row
            return name != self.baseline, self._loss(figures)

        return dict(sorted(summary.items(), key=place))

    def verdict(self) -> str:
        """Return a sentence on which model is best.

        If mistakes tell which, another sentence names the models within two standard errors of it.
        """
        others = self._without_baseline()
        best = next(iter(others))
        if self.metrics:
            return f"{best} has the best {next(iter(self.metrics))}."
        return f"{best} has the fewest mistakes." + self._within_chance(others)

    def no_better(self) -> list[str]:
        """Return the names of the models that are no better than the baseline."""
        if self.baseline is None:
            return []
        least = self._loss(self.summary()[self.baseline])
        others = self._without_baseline()
        return [name for name, figures in others.items() if self._loss(figures) >= least]

    def _without_baseline(self) -> dict[str, Any]:
        """Return the summary of the models that are no baseline."""
        return {name: row for name, row in self.summary().items() if name != self.baseline}

    def _loss(self, figures: Mapping[str, tuple[float, float]]) -> float:
        """Return what the best model has least of."""
        for name, metric in self.metrics.items():
            score, _ = figures[name]
            return -score if metric.bigger_is_better else score
        return figures["mistakes_percent"][0]

    def _within_chance(self, summary: Mapping[str, Any]) -> str:
        """Return a sentence on the models that chance may have put behind the first, if there are any."""
        (best, figures), *others = summary.items()
        percent, _ = figures["mistakes_percent"]
        n_examples = self.runs[best][0].examples[-1]
        # The variance of a difference is about twice that of each share of mistakes.
        chance = 2 * math.sqrt(2 * percent * (100 - percent) / n_examples)
        close = [name for name, row in others if row["mistakes_percent"][0] <= percent + chance]
        return f" Within chance of it ({chance:.2f} points): {', '.join(close)}." if close else ""

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison in types that JSON has."""
        return {
            name: {
                "summary": {key: {"mean": mean, "sd": sd} for key, (mean, sd) in figures.items()},
                "runs": [dataclasses.asdict(run) for run in self.runs[name]],
            }
            for name, figures in self.summary().items()
        }


def compare(
    models: Mapping[str, Estimator],
    stream: Iterable[tuple[dict[Any, Any], Any]],
    permutations: int = 1,
    seed: int | None = None,
    n_points: int = 100,
    after_examples: Callable[[str, int], None] = lambda name, n: None,
    delays: Delays = AT_ONCE,
    metrics: Mapping[str, ClassificationMetric] | None = None,
    baseline: str | None = None,
) -> Comparison:
    """Compare models on a stream by progressive validation.

    Parameters
    ----------
    models
        Classifiers, or pipelines that end in one, by name. They are cloned.
    stream
        Pairs of features and label. It must be finite.
    permutations
        Number of runs of each model; with more than 1, the stream is shuffled before each.
    seed
        Random number generator seed for the permutations.
    n_points
        Number of times in a run that mistakes and support sizes are recorded.
    after_examples
        Is called each time with the name of the model and the number of examples since the last call,
        for instance to show progress. Its time is not counted.
    delays
        How late labels come; by default at once.
    metrics
        Further metrics by name, of River or of this package. They are copied. The first one tells which
        model is best.
    baseline
        The name of the model that the others are to be better than.

    Raises
    ------
    ValueError
        If a number is below 1, `models` is not a dict, the stream is empty, or a model refuses a label.

    Examples
    --------
    >>> import river_budget as rb
    >>> models = {
    ...     "all": rb.KernelPerceptron(rb.RBF(gamma=1.0)),
    ...     "50": rb.RemoveOldestPerceptron(rb.RBF(gamma=1.0), budget=50),
    ... }
    >>> stream = rb.synth.TwoGaussians(1000, seed=42)
    >>> comparison = rb.evaluate.compare(models, stream, permutations=3, seed=1)
    >>> for name, figures in comparison.summary().items():
    ...     print(name, *figures["n_support"])
    all 171.66... 7.23...
    50 50.0 0.0

    A metric tells which model is best, and a baseline what it is worth:

    >>> from river import dummy, metrics
    >>> models["prior"] = dummy.PriorClassifier()
    >>> kappa = {"kappa": metrics.CohenKappa()}
    >>> comparison = rb.evaluate.compare(models, stream, metrics=kappa, baseline="prior")
    >>> for name, figures in comparison.summary().items():
    ...     print(name, round(figures["kappa"][0], 3))
    prior -0.042
    all 0.67
    50 0.634
    >>> comparison.verdict()
    'all has the best kappa.'
    """
    check_count("permutations", permutations)
    check_count("n_points", n_points)
    expected = f"models must be a dict of classifiers by name, got a {type(models).__name__}"
    require(isinstance(models, Mapping), expected)
    rows = list(stream)
    require(rows, "the stream has no examples")
    if seed is not None:
        check_seed("seed", seed)

    rng = random_of(seed)
    runs: dict[str, list[Run]] = {name: [] for name in models}
    for _ in range(permutations):
        if permutations > 1:
            rng.shuffle(rows)
        for name, model in models.items():
            advance = functools.partial(after_examples, name)
            own = copy.deepcopy(dict(metrics or {}))
            runs[name].append(_run(model.clone(), rows, n_points, advance, delays, own))
    return Comparison(runs, metrics or {}, baseline)


def _run(
    model: Any,
    rows: list[Any],
    n_points: int,
    advance: Callable[[int], None],
    delays: Delays,
    metrics: dict[str, Any],
) -> Run:
    """Run one model through the rows, and call `advance` with the number of rows at each point."""
    chain = Chain(model)
    asks_probabilities = not all(metric.requires_labels for metric in metrics.values())
    n_wrong, seconds = 0, 0.0
    points: list[tuple[int, int, int]] = []
    step = max(1, len(rows) // n_points)
    for part in _parts(delays.turns(rows), step):
        start = time.perf_counter()
        answers = []
        for number, x, y in part:
            if y is None:
                answers.append((rows[number][1], *_predicted(chain, x, asks_probabilities)))
            else:
                model.learn_one(x, y)
        seconds += time.perf_counter() - start

        for y, label, probabilities in answers:
            n_wrong += bool(label != y)
            for metric in metrics.values():
                _update(metric, y, label, probabilities)
        n_mistakes = n_wrong if delays.mean else getattr(chain.last, "n_mistakes", n_wrong)
        n_before = points[-1][0] if points else 0
        n_support = getattr(chain.classifier, "n_support", 0)
        points.append((n_before + len(answers), n_mistakes, n_support))
        advance(len(answers))
    examples, mistakes, support_sizes = zip(*points, strict=True)
    scores = {name: metric.get() for name, metric in metrics.items()}
    return Run(examples, mistakes, support_sizes, chain.memory_bytes, seconds, scores)


def _predicted(chain: Chain, x: Any, asks_probabilities: bool) -> tuple[Any, dict[Any, float]]:
    """Predict an example once, as a label, and as probabilities if they are asked for."""
    if not asks_probabilities:
        return chain.model.predict_one(x), {}
    answer = chain.ask(x)
    chain.note_prediction()
    return answer.label, answer.probabilities


def _update(metric: Any, y: Any, label: Any, probabilities: dict[Any, float]) -> None:
    """Take a prediction into account; as in River, a model's first answer is none."""
    if label is not None:
        metric.update(y, label if metric.requires_labels else probabilities)


def _parts(turns: Iterable[Turn], step: int) -> Iterator[list[Turn]]:
    """Yield the turns in parts, each of which predicts so many examples, or fewer at the end."""
    part: list[Turn] = []
    n_predicted = 0
    for turn in turns:
        is_question = turn[2] is None
        if is_question and n_predicted == step:
            yield part
            part, n_predicted = [], 0
        part.append(turn)
        n_predicted += is_question
    yield part


def text_table(lines: Sequence[Sequence[str]]) -> str:
    """Return lines of cells as a text. The first column is aligned to the left, others to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join([name.ljust(widths[0]), *map(str.rjust, cells, widths[1:])])
        for name, *cells in lines
    )


def _mean_and_deviation(values: list[float]) -> tuple[float, float]:
    """Return the mean and the sample standard deviation, which is 0 for a single value."""
    deviation = np.std(values, ddof=1) if len(values) > 1 else 0.0
    return float(np.mean(values)), float(deviation)
