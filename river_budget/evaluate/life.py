"""A model's life: what it learns, forgets and recovers while concepts come and go."""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river.base import Classifier

from river_budget._checks import check_count, check_not_negative
from river_budget.base import classifier_of, memory_of

__all__ = ["Life", "lifelong", "recovery_time"]

Examples = list[tuple[dict[Any, Any], Any]]


@dataclasses.dataclass(frozen=True, eq=False)
class Life:
    """One model's way through a sequence of visits to concepts.

    Attributes
    ----------
    visits
        The index of the concept of each visit.
    accuracy
        R[i, j], the accuracy on fresh examples of concept j after visit i (visits, concepts).
    chance
        The accuracy of a guess on each concept: 1 / (number of its classes) (concepts,).
    wrong
        Whether the prediction of each example was wrong, made before it was learned (examples,).
    drifts
        The examples with which a visit to another concept than the one before began.
    recovery_times
        For each drift, the examples until the model was as good as before (see `recovery_time`), or
        None if that was not before the next drift.
    support_sizes
        Number of support vectors after each example (examples,); empty for a model without.
    memory_bytes
        Bytes that the model holds at the end.
    microseconds_per_example
        Time to predict and learn one example.

    """

    visits: tuple[int, ...]
    accuracy: NDArray[np.float64]
    chance: NDArray[np.float64]
    wrong: NDArray[np.bool_]
    drifts: tuple[int, ...]
    recovery_times: tuple[int | None, ...]
    support_sizes: NDArray[np.int64]
    memory_bytes: int
    microseconds_per_example: float

    @property
    def average_accuracy(self) -> float:
        """Mean accuracy on all concepts at the end (Lopez-Paz & Ranzato 2017)."""
        return float(self.accuracy[-1].mean())

    @property
    def backward_transfer(self) -> float:
        """What later visits did to the accuracy on a concept, on the mean (Lopez-Paz & Ranzato 2017).

        The accuracy at the end less that right after the last visit to the concept, over all
        concepts but the one that was visited last. Below 0, the model forgets.

        """
        last = {j: i for i, j in enumerate(self.visits)}
        return _mean(self.accuracy[-1, j] - self.accuracy[last[j], j] for j in self._earlier)

    @property
    def forward_transfer(self) -> float:
        """What earlier visits did for a concept before it was ever visited, on the mean.

        The accuracy right before the first visit less that of a guess, over all concepts but the
        one that was visited first (Lopez-Paz & Ranzato 2017, who take the accuracy of a random
        initialization).

        """
        first = {j: i for i, j in reversed(list(enumerate(self.visits)))}
        return _mean(self.accuracy[i - 1, j] - self.chance[j] for j, i in first.items() if i > 0)

    @property
    def forgetting(self) -> float:
        """What was lost of the best accuracy on a concept, on the mean (Chaudhry et al. 2018).

        The largest accuracy before the last visit less that at the end, over all concepts but the
        one that was visited last.

        """
        return _mean(self.accuracy[:-1, j].max() - self.accuracy[-1, j] for j in self._earlier)

    @property
    def mean_recovery_time(self) -> float:
        """Mean of the recovery times; a drift that was never recovered from counts in full."""
        stretches = itertools.pairwise([*self.drifts, len(self.wrong)])
        return _mean(
            end - drift if recovery is None else recovery
            for recovery, (drift, end) in zip(self.recovery_times, stretches, strict=True)
        )

    @property
    def error(self) -> float:
        """Share of wrong predictions over the whole life, each made before learning."""
        return float(self.wrong.mean())

    @property
    def figures(self) -> dict[str, float]:
        """What a table shows of the life; nan where there is nothing to take a mean of."""
        names = [
            "error", "average_accuracy", "backward_transfer", "forward_transfer", "forgetting",
            "mean_recovery_time", "memory_bytes", "microseconds_per_example",
        ]  # fmt: skip
        return {name: getattr(self, name) for name in names}

    def table(self) -> str:
        """Return R in percent as text, a line for each visit."""
        heading = ["after", *(f"on {j}" for j in range(self.accuracy.shape[1]))]
        lines = [
            [str(j), *(f"{100 * value:.1f}" for value in row)]
            for j, row in zip(self.visits, self.accuracy, strict=True)
        ]
        return "\n".join("".join(f"{cell:>7}" for cell in line) for line in [heading, *lines])

    def to_dict(self) -> dict[str, Any]:
        """Return the life in plain types, ready for JSON; None where a figure is not defined."""
        figures = {key: None if value != value else value for key, value in self.figures.items()}
        return figures | {
            "visits": list(self.visits),
            "accuracy": self.accuracy.tolist(),
            "chance": self.chance.tolist(),
            "drifts": list(self.drifts),
            "recovery_times": list(self.recovery_times),
        }

    @property
    def _earlier(self) -> list[int]:
        """The concepts that were visited before the last visit and not by it."""
        return sorted(set(self.visits[:-1]) - {self.visits[-1]})


def lifelong(
    model: Classifier,
    concepts: Sequence[Iterable[tuple[dict[Any, Any], Any]]],
    visits: Sequence[int] | None = None,
    n_learn: int = 1000,
    n_test: int = 500,
    window: int = 100,
    tolerance: float = 0.05,
) -> Life:
    """Let a model live through visits to concepts, and look what it knows of all of them after each.

    Parameters
    ----------
    model
        Any classifier of River's. It is cloned.
    concepts
        Streams. The first `n_test` examples of each are kept to test on and never learned; each
        visit learns the next `n_learn`.
    visits
        Indices of concepts, in the order in which they are learned; by default each once.
    n_learn
        Number of examples that one visit learns, each after it was predicted.
    n_test
        Number of examples that each concept is tested on.
    window, tolerance
        What counts as recovered; see `recovery_time`.

    Raises
    ------
    ValueError
        If a parameter is out of its range, or a stream ends too early.

    Examples
    --------

    >>> from river_budget import evaluate, synth
    >>> import river_budget as rb

    >>> concepts = [synth.RotatingGaussians(speed=0, start=a, seed=1) for a in (0.0, 1.6, 3.1)]
    >>> model = rb.Forgetron(rb.RBF(gamma=1.0), budget=100)
    >>> life = evaluate.lifelong(model, concepts)
    >>> print(life.table())
      after   on 0   on 1   on 2
          0   87.2   72.0   15.4
          1   44.4   87.4   63.4
          2   19.6   52.4   80.4
    >>> life.average_accuracy
    0.508
    >>> round(life.forgetting, 3)
    0.513
    >>> life.recovery_times
    (5, 39)

    References
    ----------
    [^1]: [Lopez-Paz, D. and Ranzato, M.A., 2017. Gradient episodic memory for continual learning. NIPS 30.](https://papers.nips.cc/paper/7225-gradient-episodic-memory-for-continual-learning)
    [^2]: [Chaudhry, A., Dokania, P.K., Ajanthan, T. and Torr, P.H., 2018. Riemannian walk for incremental learning: understanding forgetting and intransigence. ECCV 2018.](https://doi.org/10.1007/978-3-030-01252-6_33)

    """
    order = tuple(range(len(concepts)) if visits is None else visits)
    check_count("n_learn", n_learn)
    check_count("n_test", n_test)
    check_count("window", window)
    check_not_negative("tolerance", tolerance)
    if not order:
        raise ValueError("visits must be at least one, got none")
    for j in order:
        if j not in range(len(concepts)):
            raise ValueError(f"visits has concept {j!r}, but there are {len(concepts)} from 0 on")
    streams = [iter(concept) for concept in concepts]
    tests = [_next(stream, n_test, j) for j, stream in enumerate(streams)]

    # What is compiled on first use is no part of the time.
    _visit(model.clone(), tests[order[0]])
    learner = model.clone()
    accuracy, wrong, sizes, seconds = [], [], [], 0.0
    for j in order:
        examples = _next(streams[j], n_learn, j)
        start = time.perf_counter()
        visit_wrong, visit_sizes = _visit(learner, examples)
        seconds += time.perf_counter() - start
        wrong += visit_wrong
        sizes += visit_sizes
        accuracy.append([_accuracy(learner, test) for test in tests])

    drifts = [n_learn * i for i in range(1, len(order)) if order[i] != order[i - 1]]
    return Life(
        visits=order,
        accuracy=np.array(accuracy),
        chance=np.array([1 / len({y for _, y in test}) for test in tests]),
        wrong=np.array(wrong),
        drifts=tuple(drifts),
        recovery_times=tuple(
            recovery_time(wrong[:end], drift, window, tolerance)
            for drift, end in itertools.pairwise([*drifts, len(wrong)])
        ),
        support_sizes=np.array(sizes, dtype=np.int64),
        memory_bytes=memory_of(learner),
        microseconds_per_example=1e6 * seconds / len(wrong),
    )


def recovery_time(
    wrong: Sequence[bool], drift: int, window: int = 100, tolerance: float = 0.05
) -> int | None:
    """Return how many examples after a drift a model was as good again as right before it.

    These are the examples before the first `window` of them that lies wholly after the drift and
    has an error of at most `tolerance` more than the `window` right before the drift.

    Parameters
    ----------
    wrong
        Whether each prediction was wrong, in order.
    drift
        The first example after the drift.
    window
        Number of examples that an error is taken over.
    tolerance
        What the error may be larger than before, as a share.

    Returns
    -------
    The number of examples, 0 if the drift did no harm; None if there is no such window.

    Raises
    ------
    ValueError
        If the drift is not after the first of the predictions, or a parameter is out of its range.

    Examples
    --------

    >>> from river_budget import evaluate

    >>> wrong = [0, 0, 0, 0, 1, 1, 1, 0, 0, 0]
    >>> evaluate.recovery_time(wrong, drift=4, window=2)
    3

    """
    check_count("drift", drift)
    check_count("window", window)
    check_not_negative("tolerance", tolerance)
    before, after = np.mean(wrong[max(0, drift - window) : drift]), np.asarray(wrong[drift:], float)
    if len(after) < window:
        return None
    errors = np.convolve(after, np.ones(window) / window, "valid")
    (recovered,) = np.nonzero(errors <= before + tolerance + 1e-12)
    return int(recovered[0]) if len(recovered) else None


def _next(stream: Any, n: int, concept: int) -> Examples:
    examples = [(x, y) for x, y, *_ in itertools.islice(stream, n)]
    if len(examples) < n:
        raise ValueError(f"concept {concept} ended: {n - len(examples)} more examples were needed")
    return examples


def _visit(model: Any, examples: Examples) -> tuple[list[bool], list[int]]:
    """Predict, then learn; return which predictions were wrong, and the support sizes."""
    classifier = classifier_of(model)
    has_support = hasattr(classifier, "n_support")
    wrong, sizes = [], []
    for x, y in examples:
        wrong.append(model.predict_one(x) != y)
        model.learn_one(x, y)
        if has_support:
            sizes.append(classifier.n_support)
    return wrong, sizes


def _accuracy(model: Any, examples: Examples) -> float:
    return float(np.mean([model.predict_one(x) == y for x, y in examples]))


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return float(np.mean(listed)) if listed else float("nan")
