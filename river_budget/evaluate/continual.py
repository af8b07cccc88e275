"""Continual learning: what a model learns, forgets and recovers over a sequence of tasks."""

from __future__ import annotations

import dataclasses
import itertools
import json
import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river.base import Classifier

from river_budget._checks import check_count, check_indices
from river_budget._state import require
from river_budget.base import Chain
from river_budget.evaluate.comparison import text_table
from river_budget.evaluate.delays import AT_ONCE, Delays


@dataclasses.dataclass(frozen=True, eq=False)
class ContinualRun:
    """One model's run through a sequence of tasks.

    The figures have the names of CapyMOA's `ocl.evaluation`. CapyMOA averages both transfers over all
    steps, while here they follow
    [Lopez-Paz & Ranzato 2017](https://papers.nips.cc/paper/7225-gradient-episodic-memory-for-continual-learning).

    Attributes
    ----------
    task_sequence
        The index of the task that is learned at each step.
    accuracy_matrix
        R[i, j], the accuracy on the test examples of task j after step i (steps, tasks).
    chance_accuracy
        The accuracy of random guesses on each task (tasks,): 1 over the number of its classes.
    classes
        The labels of the test examples, in the order of the task sequence (classes,).
    class_first_steps
        The first step that brings each class, or None if no step does (classes,).
    class_accuracy_matrix
        The accuracy on the test examples of each class after each step (steps, classes).
    wrong
        Whether the prediction for each example, before learning it, was wrong (examples,).
    drifts
        The indices of the examples at which the task changed.
    recovery_times
        How many examples the model took to recover from each drift. It has recovered once the error of
        the next 100 examples exceeds that of the 100 before the drift by at most 0.05. The time is 0 if
        the drift did no harm, and None if the next drift came first.
    support_sizes
        Number of support vectors after each example (examples,); empty for models that have none.
    memory_bytes
        Size of the model at the end, in bytes.
    microseconds_per_example
        Mean time to predict and learn one example.
    accuracy_final, accuracy_seen, accuracy_seen_avg, backward_transfer, class_forgetting,
    class_forgetting_avg, figures, forgetting, forward_transfer, mean_recovery_time, prequential_error
        Derived from these; see each property.
    """

    task_sequence: tuple[int, ...]
    accuracy_matrix: NDArray[np.float64]
    chance_accuracy: NDArray[np.float64]
    classes: tuple[Any, ...]
    class_accuracy_matrix: NDArray[np.float64]
    class_first_steps: tuple[int | None, ...]
    wrong: NDArray[np.bool_]
    drifts: tuple[int, ...]
    recovery_times: tuple[int | None, ...]
    support_sizes: NDArray[np.int64]
    memory_bytes: int
    microseconds_per_example: float

    @property
    def prequential_error(self) -> float:
        """Share of wrong predictions, where each example is predicted before it is learned."""
        return float(self.wrong.mean())

    @property
    def accuracy_final(self) -> float:
        """Mean accuracy on all tasks after the last step."""
        return float(self.accuracy_matrix[-1].mean())

    @property
    def accuracy_seen(self) -> NDArray[np.float64]:
        """Accuracy after each step on the test examples of all tasks so far (steps,)."""
        means = []
        for i, row in enumerate(self.accuracy_matrix, 1):
            seen = sorted(set(self.task_sequence[:i]))
            means.append(row[seen].mean())
        return np.array(means)

    @property
    def accuracy_seen_avg(self) -> float:
        """Mean of `accuracy_seen` over all steps."""
        return float(self.accuracy_seen.mean())

    @property
    def backward_transfer(self) -> float:
        """Mean change of the accuracy on a task, from right after it was last learned to the end.

        The task that was learned last is left out. Negative values mean forgetting.
        """
        R = self.accuracy_matrix
        last_steps = {j: i for i, j in enumerate(self.task_sequence)}
        return _mean(R[-1, j] - R[i, j] for j, i in last_steps.items() if i < len(R) - 1)

    @property
    def forward_transfer(self) -> float:
        """Mean accuracy on a task right before it is first learned, minus that of random guesses.

        The task that is learned first is left out. (Lopez-Paz and Ranzato subtract the accuracy of a
        randomly initialized model instead.)
        """
        R, chance = self.accuracy_matrix, self.chance_accuracy
        first_steps = {j: self.task_sequence.index(j) for j in self.task_sequence}
        return _mean(R[i - 1, j] - chance[j] for j, i in first_steps.items() if i)

    @property
    def forgetting(self) -> float:
        """Mean drop from the best earlier accuracy on a task to the accuracy at the end.

        The task that was learned last is left out
        ([Chaudhry et al. 2018](https://doi.org/10.1007/978-3-030-01252-6_33)).
        """
        R = self.accuracy_matrix
        last = self.task_sequence[-1]
        return _mean(R[:-1, j].max() - R[-1, j] for j in {*self.task_sequence} - {last})

    @property
    def class_forgetting(self) -> NDArray[np.float64]:
        """Drop from the best earlier accuracy on each class to the accuracy at the end (classes,).

        It is nan for classes that only the last step, or no step, brings.
        """
        earlier, final = self.class_accuracy_matrix[:-1], self.class_accuracy_matrix[-1]
        is_earlier = [step in range(len(earlier)) for step in self.class_first_steps]
        return np.where(is_earlier, earlier.max(axis=0, initial=0.0) - final, np.nan)

    @property
    def class_forgetting_avg(self) -> float:
        """Mean of `class_forgetting` over the classes that have one."""
        return _mean(drop for drop in self.class_forgetting if not np.isnan(drop))

    @property
    def mean_recovery_time(self) -> float:
        """Mean recovery time in examples. Without recovery, it counts until the next drift or the end."""
        lengths = np.diff([*self.drifts, len(self.wrong)]).tolist()
        pairs = zip(self.recovery_times, lengths, strict=True)
        return _mean(length if time is None else time for time, length in pairs)

    @property
    def figures(self) -> dict[str, float]:
        """All scalar figures by name. A figure is nan if there is nothing to average."""
        names = [
            "prequential_error", "accuracy_final", "accuracy_seen_avg", "backward_transfer",
            "forward_transfer", "forgetting", "class_forgetting_avg", "mean_recovery_time",
            "memory_bytes", "microseconds_per_example",
        ]  # fmt: skip
        return {name: getattr(self, name) for name in names}

    def table(self) -> str:
        """Return the accuracy matrix in percent as text, with `accuracy_seen` as its last column."""
        tasks = [f"task {j}" for j in range(self.accuracy_matrix.shape[1])]
        lines = [["after", *tasks, "seen"]]
        shares = np.column_stack((self.accuracy_matrix, self.accuracy_seen))
        for j, row in zip(self.task_sequence, 100 * shares, strict=True):
            lines.append([f"task {j}", *(f"{percent:.1f}" for percent in row)])
        return text_table(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the run in types that JSON has. A figure that is nan becomes None.

        Attributes with a value for each example are left out.
        """
        values = vars(self) | self.figures
        values |= {"accuracy_seen": self.accuracy_seen, "class_forgetting": self.class_forgetting}
        del values["wrong"], values["support_sizes"]
        text = json.dumps(values, default=lambda v: v.tolist() if hasattr(v, "tolist") else str(v))
        return json.loads(text, parse_constant=lambda name: None)


def lifelong(
    model: Classifier,
    tasks: Sequence[Iterable[tuple[dict[Any, Any], Any]]],
    task_sequence: Sequence[int] | None = None,
    n_learn: int = 1000,
    n_test: int = 500,
    delays: Delays = AT_ONCE,
) -> ContinualRun:
    """Train a model on a sequence of tasks, and test it on all of them after each step.

    Parameters
    ----------
    model
        Any River classifier. It is cloned.
    tasks
        A stream for each task. Its first `n_test` examples are kept for testing. Each step of the task
        learns the next `n_learn` examples.
    task_sequence
        The index of the task of each step; by default each task once, in order.
    n_learn
        Number of examples in a step. Each is predicted and then learned.
    n_test
        Number of test examples for each task.
    delays
        How late labels come; by default at once. At the end of a step, all that are due later come before
        the test.

    Raises
    ------
    ValueError
        If a parameter is out of range, or a stream ends too early.

    Examples
    --------
    >>> import river_budget as rb
    >>> tasks = [rb.synth.RotatingGaussians(speed=0, start=a, seed=1) for a in (0.0, 1.6, 3.1)]
    >>> model = rb.Forgetron(rb.RBF(gamma=1.0), budget=100)
    >>> run = rb.evaluate.lifelong(model, tasks)
    >>> print(run.table())
    after   task 0  task 1  task 2  seen
    task 0    87.2    72.0    15.4  87.2
    task 1    44.4    87.4    63.4  65.9
    task 2    19.6    52.4    80.4  50.8
    >>> run.accuracy_final, run.recovery_times
    (0.508, (5, 39))
    """
    sequence = tuple(range(len(tasks)) if task_sequence is None else task_sequence)
    check_count("n_learn", n_learn)
    check_count("n_test", n_test)
    check_indices("task_sequence", sequence, len(tasks), "task")

    streams = [iter(task) for task in tasks]
    tests = [_take(stream, n_test, j) for j, stream in enumerate(streams)]
    learner = model.clone()
    chain = Chain(learner)
    learned: list[tuple[bool, int | None]] = []
    # Whether each test example of each task is predicted, after each step (steps, tasks, examples).
    hits = []
    seconds = 0.0
    for j in sequence:
        examples = _take(streams[j], n_learn, j)
        start = time.perf_counter()
        learned += _learn(learner, examples, delays)
        seconds += time.perf_counter() - start
        hits.append([[chain.ask(x).label == y for x, y in test] for test in tests])
    wrong = [is_wrong for is_wrong, _ in learned]

    # The labels of each task, and the classes in the order of the sequence, then those of other tasks.
    labels = [sorted({y for _, y in test}, key=str) for test in tests]
    tasks_in_order = [*sequence, *range(len(tasks))]
    classes = tuple(dict.fromkeys(y for j in tasks_in_order for y in labels[j]))
    # Later steps first, so that the first step of each class remains.
    first_steps = {y: i for i, j in reversed([*enumerate(sequence)]) for y in labels[j]}
    # Which class each test example has (test examples, classes).
    is_of = np.eye(len(classes))[[classes.index(y) for test in tests for _, y in test]]

    drifts = [n_learn * i for i in range(1, len(sequence)) if sequence[i] != sequence[i - 1]]
    spans = itertools.pairwise([*drifts, len(wrong)])
    return ContinualRun(
        task_sequence=sequence,
        accuracy_matrix=np.mean(hits, axis=2),
        chance_accuracy=np.array([1 / len(own) for own in labels]),
        classes=classes,
        class_accuracy_matrix=np.reshape(hits, (len(hits), -1)) @ is_of / is_of.sum(axis=0),
        class_first_steps=tuple(map(first_steps.get, classes)),
        wrong=np.array(wrong),
        drifts=tuple(drifts),
        recovery_times=tuple(recovery_time(wrong[:b], a) for a, b in spans),
        support_sizes=np.array([n for _, n in learned if n is not None], dtype=np.int64),
        memory_bytes=chain.memory_bytes,
        microseconds_per_example=1e6 * seconds / len(wrong),
    )


def recovery_time(wrong: Any, drift: int, window: int = 100, tolerance: float = 0.05) -> int | None:
    """Return how many examples a model needed to recover from a drift, or None if it did not.

    `wrong` says whether each prediction was wrong, up to the next drift. The model has recovered once the
    error in a window exceeds that in the window before the drift by at most the tolerance.
    """
    before = np.mean(wrong[max(0, drift - window) : drift])
    after = np.asarray(wrong[drift:], float)
    if len(after) < window:
        return None
    errors = np.convolve(after, np.ones(window) / window, "valid")
    (recovered,) = np.nonzero(errors <= before + tolerance + 1e-12)
    return int(recovered[0]) if len(recovered) else None


def _take(stream: Any, n: int, task: int) -> list[Any]:
    """Return the next n examples of a task's stream. Raises ValueError if it has fewer."""
    examples = [(x, y) for x, y, *_ in itertools.islice(stream, n)]
    lacking = f"{n - len(examples)} more examples are needed"
    require(len(examples) == n, f"the stream of task {task} is too short: {lacking}")
    return examples


def _learn(model: Any, examples: Sequence[Any], delays: Delays) -> list[tuple[bool, int | None]]:
    """Predict and learn examples. Return whether each was wrong, and the support size, if any, then."""
    classifier, learned = Chain(model).classifier, []
    for number, x, y in delays.turns(examples):
        if y is None:
            is_wrong = model.predict_one(x) != examples[number][1]
            learned.append((is_wrong, getattr(classifier, "n_support", None)))
        else:
            model.learn_one(x, y)
            learned[-1] = (learned[-1][0], getattr(classifier, "n_support", None))
    return learned


def _mean(values: Iterable[float]) -> float:
    """Return the mean of some values; nan if there are none."""
    listed = list(values)
    return float(np.mean(listed)) if listed else float("nan")
