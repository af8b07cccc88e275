"""Any number of classes on one support set, beside one model a class and River's models.

    python -m benchmarks.multiclass [--quick] [STREAM ...]

The ratio on Pendigits is that of a shared support set to one model a class; the two run alternately.

Pendigits, MNIST and ImageSegments: progressive validation in order, of at most 20,000 examples. The
figures are accuracy, microseconds to predict and learn an example, and the classifier's final size in
bytes. Pendigits and ImageSegments pass a StandardScaler; an example of MNIST has the pixels other than
0, divided by 255.

clinc150: ten tasks of 15 new classes each. Accuracy is that at the end, on the test rows of all classes
seen; forgetting is the mean over the tasks before the last one of the accuracy right after learning a
task, minus that at the end, in percentage points. A prediction may be any class seen so far.

The widths of the RBF kernels are the best of the powers of two for a remove-oldest perceptron on other
rows: the test parts of Pendigits and MNIST, the validation part of clinc150. ImageSegments has no other
rows; its width is that of Pendigits. All else has default parameters. Times are processor time of the
thread that runs a model. A model that exceeds the limit of 10 minutes stops, and its row shows how many
examples or tasks it did. Data sets that are not part of River are read from the directory given by
RIVER_BUDGET_DATA; a table without its data is left out. The tables are in Markdown; standard error
shows each row as soon as it is there. `--quick` does a small part of everything.

"""

from __future__ import annotations

import functools
import itertools
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

import numpy as np
from river import forest, linear_model, multiclass, naive_bayes, preprocessing, tree

import river_budget as rb
from benchmarks import streams
from benchmarks.models import knn, ours, run, size_of
from benchmarks.timing import alternating_medians
from river_budget.base import Perceptron
from river_budget.catalog import ALGORITHMS
from river_budget.datasets import DatasetError

PERCEPTRONS = [row for row in ALGORITHMS.values() if issubclass(row.model, Perceptron)]
ALL = [row.name for row in PERCEPTRONS]
FEW = ["RemoveOldestPerceptron", "Forgetron", "ProjectronPlusPlus", "TightestPerceptron"]

# How many examples a model learns between two looks at the clock.
BLOCK = 50


class Effort(NamedTuple):
    """How much to do.

    Attributes
    ----------
    n_examples
        Largest number of examples of a stream.
    n_tasks, n_learn, n_test
        Number of tasks, and of rows for each class of a task to learn and to test.
    seconds
        Limit for one model.

    """

    n_examples: int
    n_tasks: int
    n_learn: int
    n_test: int
    seconds: float


FULL = Effort(streams.N, n_tasks=10, n_learn=100, n_test=30, seconds=600.0)
QUICK = Effort(300, n_tasks=2, n_learn=5, n_test=2, seconds=1.0)


class Setup(NamedTuple):
    """The models to measure on a stream.

    Attributes
    ----------
    kernel
        The kernel of the perceptrons.
    budgets
        The budgets of those that have one.
    algorithms
        The names of the perceptrons.
    others
        The names of River's models.
    is_scaled
        Whether a StandardScaler comes first.

    """

    kernel: rb.RBF
    budgets: tuple[int, ...]
    algorithms: list[str]
    others: list[str]
    is_scaled: bool = False

    def pipeline(self, model):
        return preprocessing.StandardScaler() | model if self.is_scaled else model


RIVERS = {
    "KNNClassifier(1000)": lambda: knn(1000),
    "ARFClassifier(10)": lambda: forest.ARFClassifier(n_models=10, seed=1),
    "SoftmaxRegression": linear_model.SoftmaxRegression,
    "GaussianNB": naive_bayes.GaussianNB,
    "HoeffdingTree": tree.HoeffdingTreeClassifier,
}
FOUR = ["KNNClassifier(1000)", "ARFClassifier(10)", "SoftmaxRegression", "GaussianNB"]

SETUPS = {
    "Pendigits": Setup(rb.RBF(gamma=1 / 4), (100, 200, 1000), ALL, list(RIVERS), is_scaled=True),
    "MNIST": Setup(rb.RBF(gamma=1 / 16), (200, 1000), FEW, FOUR),
    "ImageSegments": Setup(rb.RBF(gamma=1 / 4), (50, 200), FEW, FOUR, is_scaled=True),
    "clinc150": Setup(rb.RBF(gamma=4.0), (500, 1500), FEW, FOUR),
}
ONE_VS_REST = "OneVsRestClassifier(RemoveOldestPerceptron, B=100)"


def one_vs_rest(kernel: rb.RBF, budget: int = 100) -> multiclass.OneVsRestClassifier:
    return multiclass.OneVsRestClassifier(rb.RemoveOldestPerceptron(kernel, budget))


def own(setup: Setup, budget: int) -> dict:
    models = ours(budget, setup.kernel)
    return {f"{name}, B={budget}": models[name] for name in setup.algorithms if name in models}


def models(name: str) -> dict:
    """Return the models to measure on a stream, by name."""
    setup = SETUPS[name]
    unbounded = [row for row in PERCEPTRONS if not row.takes("budget")]
    bounded = (own(setup, budget).items() for budget in setup.budgets)
    return {
        **{row.name: row.build(setup.kernel) for row in unbounded if row.name in setup.algorithms},
        **dict(itertools.chain.from_iterable(bounded)),
        **({ONE_VS_REST: one_vs_rest(setup.kernel)} if name == "Pendigits" else {}),
        **{other: RIVERS[other]() for other in setup.others},
    }


class Part:
    """The examples that a model can do within a limit of time. The length is the number done so far."""

    def __init__(self, examples: list, seconds: float):
        self.examples, self.seconds, self.n_done = examples, seconds, 0

    def __len__(self) -> int:
        return self.n_done

    def __iter__(self) -> Iterator[tuple]:
        end = time.thread_time() + self.seconds
        for example in self.examples:
            if self.n_done % BLOCK == 0 and time.thread_time() > end:
                return
            yield example
            self.n_done += 1


def validated(model, examples: list, seconds: float) -> dict[str, str]:
    """Return the figures of progressive validation."""
    part = Part(examples, seconds)
    accuracy, microseconds, memory = run(model, part)
    return {
        "accuracy (%)": f"{accuracy:.2f}", "µs": f"{microseconds:,.1f}", "bytes": f"{memory:,}",
        "examples": f"{len(part):,}",
    }  # fmt: skip


class Stopwatch:
    """Processor time of this thread, and the number of examples that it was spent on."""

    def __init__(self) -> None:
        self.seconds, self.n = 0.0, 0

    @property
    def microseconds(self) -> float:
        return 1e6 * self.seconds / self.n

    def time(self, work: Callable, examples: list):
        start = time.thread_time()
        result = work(examples)
        self.seconds += time.thread_time() - start
        self.n += len(examples)
        return result


def continued(model, tasks: Iterable[streams.Task], seconds: float) -> dict[str, str]:
    """Return the figures of learning one task after the other."""

    def learn(examples: list) -> None:
        for x, y in examples:
            model.learn_one(x, y)

    def accuracy(examples: list) -> float:
        return 100 * float(np.mean([model.predict_one(x) == y for x, y in examples]))

    learning, testing = Stopwatch(), Stopwatch()
    done: list[list] = []
    at_first: list[float] = []
    for task in tasks:
        learning.time(learn, task.learn)
        at_first.append(testing.time(accuracy, task.test))
        done.append(task.test)
        if learning.seconds + testing.seconds > seconds:
            break
    at_last = [testing.time(accuracy, test) for test in done]
    forgotten = np.subtract(at_first, at_last)[:-1]
    return {
        "accuracy (%)": f"{np.mean(at_last):.2f}", "forgetting": f"{forgotten.mean():.2f}" if forgotten.size else "",
        "µs to learn": f"{learning.microseconds:,.1f}",
        "µs to predict": f"{testing.microseconds:,.1f}",
        "bytes": f"{size_of(model):,}", "tasks": str(len(done)),
    }  # fmt: skip


@functools.cache
def examples_of(name: str, effort: Effort) -> list:
    """Return a stream, or the first examples to learn of one that comes as tasks."""
    if name == "clinc150":
        return next(streams.intents(1)).learn[: effort.n_examples]
    return streams.labelled(name, effort.n_examples)


@functools.cache
def warm_up(name: str, effort: Effort) -> None:
    """Import what is used first, which is not part of the cost."""
    setup, few = SETUPS[name], examples_of(name, effort)[:100]
    for model in [*own(setup, 5).values(), one_vs_rest(setup.kernel, 5)]:
        run(setup.pipeline(model), few)
    for other in setup.others:
        run(setup.pipeline(RIVERS[other]()), few[:20])


def measured(name: str, row: str, effort: Effort) -> dict[str, str]:
    """Return the figures of one model on a stream, and show them as progress."""
    warm_up(name, effort)
    model = SETUPS[name].pipeline(models(name)[row])
    if name == "clinc150":
        tasks = streams.intents(effort.n_tasks, effort.n_learn, effort.n_test)
        figures = continued(model, tasks, effort.seconds)
    else:
        figures = validated(model, examples_of(name, effort), effort.seconds)
    print(f"{name}, {row}: {figures}", file=sys.stderr, flush=True)
    return figures


def shared_and_several(effort: Effort) -> tuple[float, float]:
    """Return microseconds an example of a shared support set, and of one for each class."""
    setup, examples = SETUPS["Pendigits"], examples_of("Pendigits", effort)

    def validation(model) -> Callable[[], object]:
        return lambda: run(setup.pipeline(model.clone()), examples)

    shared = rb.RemoveOldestPerceptron(setup.kernel, budget=1000)
    works = validation(shared), validation(one_vs_rest(setup.kernel))
    return tuple(1e6 * t / len(examples) for t in alternating_medians(*works, repeats=3))


def markdown(rows: dict[str, dict[str, str]]) -> str:
    """Return figures by row and column as a table."""
    columns = list(next(iter(rows.values())))
    lines = [["", *columns], *([name, *figures.values()] for name, figures in rows.items())]
    first, *others = (max(map(len, cells)) for cells in zip(*lines, strict=True))
    heading, *rest = (
        f"| {name:<{first}} | "
        + " | ".join(f"{cell:>{width}}" for cell, width in zip(cells, others, strict=True))
        + " |"
        for name, *cells in lines
    )
    rule = f"|{'-' * (first + 2)}|{'|'.join('-' * (width + 1) + ':' for width in others)}|"
    return "\n".join([heading, rule, *rest])


def print_ratio(effort: Effort) -> None:
    try:
        shared, several = shared_and_several(effort)
    except DatasetError as error:
        print(f"Pendigits: left out, {error}")
        return
    print(
        "Pendigits: shared RemoveOldestPerceptron, B=1000 / one a class, B=100: "
        f"{shared:.1f} / {several:.1f} µs = {shared / several:.2f} (goal: 0.25)",
        flush=True,
    )


def main() -> None:
    effort = QUICK if "--quick" in sys.argv else FULL
    names = [name for name in sys.argv[1:] if name != "--quick"] or list(SETUPS)
    if "Pendigits" in names:
        print_ratio(effort)
    with ProcessPoolExecutor() as pool:
        # Those that take longest start first: the last stream, and River's models on it.
        jobs = {
            (name, row): pool.submit(measured, name, row, effort)
            for name in reversed(names)
            for row in reversed(list(models(name)))
        }
        for name in names:
            try:
                rows = {row: jobs[name, row].result() for row in models(name)}
            except DatasetError as error:
                print(f"\n{name}: left out, {error}")
                continue
            print(f"\n### {name}\n\n{markdown(rows)}", flush=True)


if __name__ == "__main__":
    main()
