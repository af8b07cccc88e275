"""Classes that come one after the other: what every model keeps of them.

Each task brings a few new classes and is learned once, each example after it was predicted; then all tasks are tested.
Figures are in percent: the accuracy on the test rows of all classes at the end, how far the accuracy on a class has
fallen from its best, and the accuracy of the predictions before learning. One seed draws the rows and the classes of each
task; with others, the accuracy at the end differs by several points.

Pictures and embeddings are arrays. River's models get a number a feature, but its nearest neighbours get the arrays and
NumPy's distance. Naive Bayes and the forest are left out on clinc150, where they take hours.

"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from river import forest, linear_model, naive_bayes, neighbors, preprocessing

import river_budget as rb
from benchmarks.cells import Cell, Found, Section
from benchmarks.local import load
from benchmarks.tables import columns, markdown
from river_budget import evaluate, synth
from river_budget.base import OnlineClassifier
from river_budget.catalog import ALGORITHMS


class Track(NamedTuple):
    """How many tasks, how many rows of each are learned and tested, the budget, and the file, if any."""

    n_tasks: int
    n_learn: int
    n_test: int
    budget: int
    file: str = ""
    has_arrays: bool = False


TRACKS = {
    "Pendigits": Track(5, 1200, 300, 100, "pendigits"),
    "MNIST": Track(5, 1200, 200, 100, "mnist", has_arrays=True),
    "clinc150": Track(15, 900, 100, 200, "clinc150_lsa384", has_arrays=True),
    "ClassIncremental": Track(5, 1000, 300, 100),
}


class Kept(NamedTuple):
    """What a model knows at the end, how far classes have fallen, and what it knew before it learned each example."""

    final: float
    forgetting: float
    progressive: float

    def __str__(self) -> str:
        return f"{self.final:.1f} ({self.forgetting:.1f})"


def distance(a: dict[Any, Any], b: dict[Any, Any]) -> float:
    """Return the Euclidean distance of examples with one array, or with the same numbers."""
    if "x" in a:
        return float(np.linalg.norm(a["x"] - b["x"]))
    return math.dist([*a.values()], [*b.values()])


OWN: dict[str, Callable[[int], OnlineClassifier]] = {
    name: functools.partial(lambda row, budget: row.build(budget=budget, seed=1), row)
    for name, row in ALGORITHMS.items()
    if row.takes("budget") or name == "KernelLDA"
} | {"Mnemotron(archive=300)": lambda budget: rb.Mnemotron(budget, archive=300)}

RIVERS: dict[str, Callable[[], Any]] = {
    "GaussianNB": naive_bayes.GaussianNB,
    "KNNClassifier(1000)": lambda: neighbors.KNNClassifier(
        engine=neighbors.LazySearch(window_size=1000, dist_func=distance)
    ),
    "ARFClassifier(10)": lambda: forest.ARFClassifier(n_models=10, seed=1),
    "SoftmaxRegression": lambda: preprocessing.StandardScaler() | linear_model.SoftmaxRegression(),
}
LEFT_OUT = {("GaussianNB", "clinc150"), ("ARFClassifier(10)", "clinc150")}


def tasks_of(track: Track, takes_arrays: bool) -> list[Any]:
    """Return a stream for each task: first the test rows, then the others."""
    if not track.file:
        return list(synth.ClassIncremental(seed=42).tasks)
    data, rng = load(track.file), np.random.default_rng(1)
    tasks = []
    for classes in np.array_split(rng.permutation(np.unique(data["y_train"])), track.n_tasks):
        task: list[tuple[dict[Any, Any], Any]] = []
        for part, n in (("test", track.n_test), ("train", track.n_learn)):
            labels = data[f"y_{part}"]
            drawn = rng.permutation(np.flatnonzero(np.isin(labels, classes)))[:n]
            rows = data[f"X_{part}"][drawn].astype(np.float64)
            xs = [{"x": row} if takes_arrays else dict(enumerate(row.tolist())) for row in rows]
            task += zip(xs, labels[drawn].tolist(), strict=True)
        tasks.append(task)
    return tasks


def kept(model: str, name: str, n_learn: int, n_test: int) -> dict[str, float]:
    """Return the figures of a model on a track."""
    track = TRACKS[name]
    learner = OWN[model](track.budget) if model in OWN else RIVERS[model]()
    tasks = tasks_of(track, track.has_arrays and model in {*OWN, "KNNClassifier(1000)"})
    run = evaluate.lifelong(learner, tasks, n_learn=n_learn, n_test=n_test)
    shares = run.accuracy_final, run.class_forgetting_avg, 1 - run.prequential_error
    return Kept(*(round(100 * float(share), 2) for share in shares))._asdict()


def cells(is_quick: bool) -> list[Cell]:
    if is_quick:
        few, name = (
            ("KernelLDA", "Mnemotron(archive=300)", "KNNClassifier(1000)"),
            "ClassIncremental",
        )
        return [Cell(model, name, kept, (model, name, 40, 20)) for model in few]
    return [
        Cell(model, name, kept, (model, name, track.n_learn, track.n_test))
        for model in (*OWN, *RIVERS)
        for name, track in TRACKS.items()
        if (model, name) not in LEFT_OUT
    ]


def means(found: Found) -> dict[str, Kept]:
    """Return the mean figures of each model over the tracks that all models have, the best model first."""
    shared = [track for track in columns(found) if all(track in row for row in found.values())]
    of_models = {
        model: Kept(*(fmean(row[track][figure] for track in shared) for figure in Kept._fields))
        for model, row in found.items()
    }
    return dict(sorted(of_models.items(), key=lambda item: -item[1].final))


def final(found: Found) -> str:
    """Return the table of accuracies at the end, with the forgetting in brackets."""
    rows = {}
    for model, mean in means(found).items():
        tracks = dict.fromkeys(columns(found), "")
        tracks |= {track: str(Kept(**figures)) for track, figures in found[model].items()}
        rows[model] = {"mean": str(mean), **tracks, "before learning": f"{mean.progressive:.1f}"}
    return markdown(rows)


SECTION = Section("tasks", cells, {"tasks_final": final}, minutes=15)
