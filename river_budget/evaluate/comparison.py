"""Models side by side on the same permutations of one stream."""

from __future__ import annotations

import dataclasses
import functools
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from river.base import Estimator

from river_budget._checks import check_count, check_seed, random_of
from river_budget._state import require
from river_budget.base import Chain
from river_budget.evaluate.delays import AT_ONCE, Delays, Turn


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
    figures
        The figures of a summary, by name.
    """

    examples: tuple[int, ...]
    mistakes: tuple[int, ...]
    support_sizes: tuple[int, ...]
    memory_bytes: int
    seconds: float

    @property
    def figures(self) -> dict[str, float]:
        return {
            "mistakes_percent": 100.0 * self.mistakes[-1] / self.examples[-1],
            "n_support": self.support_sizes[-1],
            "memory_bytes": self.memory_bytes,
            "microseconds_per_example": 1e6 * self.seconds / self.examples[-1],
        }


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The runs of several models on the same permutations of one stream.

    Attributes
    ----------
    runs
        The runs of each model by name, one for each permutation.
    """

    runs: dict[str, list[Run]]

    def __repr__(self) -> str:
        """Return the summary as a table, with standard deviations if there are several runs."""
        lines = [["model", "mistakes %", "support", "bytes", "µs/example"]]
        for name, figures in self.summary().items():
            line = [str(name)]
            specs = [".2f", ",.0f", ",.0f", ".2f"]
            for (mean, deviation), spec in zip(figures.values(), specs, strict=True):
                has_deviation = len(self.runs[name]) > 1
                cell = f"{mean:{spec}} ± {deviation:{spec}}" if has_deviation else f"{mean:{spec}}"
                line.append(cell)
            lines.append(line)
        return text_table(lines)

    def summary(self) -> dict[str, dict[str, tuple[float, float]]]:
        """Return mean and standard deviation of each figure over the permutations.

        The model with the fewest mistakes comes first.
        """
        summary = {
            name: {
                key: _mean_and_deviation([run.figures[key] for run in runs])
                for key in runs[0].figures
            }
            for name, runs in self.runs.items()
        }
        return dict(sorted(summary.items(), key=lambda row: row[1]["mistakes_percent"][0]))

    def verdict(self) -> str:
        """Return a sentence on which model is best, and which are within two standard errors of it."""
        (best, figures), *others = self.summary().items()
        percent, _ = figures["mistakes_percent"]
        n_examples = self.runs[best][0].examples[-1]
        # The variance of a difference is about twice that of each share of mistakes.
        chance = 2 * math.sqrt(2 * percent * (100 - percent) / n_examples)
        close = [name for name, row in others if row["mistakes_percent"][0] <= percent + chance]
        within = f" Within chance of it ({chance:.2f} points): {', '.join(close)}." if close else ""
        return f"{best} has the fewest mistakes.{within}"

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
            runs[name].append(_run(model.clone(), rows, n_points, advance, delays))
    return Comparison(runs)


def _run(
    model: Any, rows: list[Any], n_points: int, advance: Callable[[int], None], delays: Delays
) -> Run:
    """Run one model through the rows, and call `advance` with the number of rows at each point."""
    chain = Chain(model)
    n_wrong, seconds = 0, 0.0
    points: list[tuple[int, int, int]] = []
    step = max(1, len(rows) // n_points)
    for part in _parts(delays.turns(rows), step):
        n_examples = 0
        start = time.perf_counter()
        for number, x, y in part:
            if y is None:
                n_wrong += bool(model.predict_one(x) != rows[number][1])
                n_examples += 1
            else:
                model.learn_one(x, y)
        seconds += time.perf_counter() - start

        n_mistakes = n_wrong if delays.mean else getattr(chain.last, "n_mistakes", n_wrong)
        n_before = points[-1][0] if points else 0
        n_support = getattr(chain.classifier, "n_support", 0)
        points.append((n_before + n_examples, n_mistakes, n_support))
        advance(n_examples)
    examples, mistakes, support_sizes = zip(*points, strict=True)
    return Run(examples, mistakes, support_sizes, chain.memory_bytes, seconds)


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
