"""Classes that come one after the other: what every model keeps of them.

    RIVER_BUDGET_DATA=DIR python -m benchmarks.lifelong [--models NAME,...] [--tracks NAME,...]

Each task brings a few new classes and is learned once. For each track: the accuracy on the test rows of all
classes at the end, how far the accuracy on a class has fallen from its best, and that on each example before
it was learned, all in percent. Pictures and embeddings are arrays; River's models get an element a feature,
but for its nearest neighbours, which get the arrays and NumPy's distance.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from river import base, forest, linear_model, naive_bayes, neighbors, preprocessing

import river_budget as rb
from benchmarks.local import load
from benchmarks.multiclass import markdown
from river_budget import evaluate, synth
from river_budget.catalog import ALGORITHMS


class Track(NamedTuple):
    """Tasks, how many rows of each are learned and tested, and the budget."""

    n_tasks: int
    n_learn: int
    n_test: int
    budget: int
    file: str | None = None
    has_arrays: bool = False


TRACKS = {
    "Pendigits": Track(5, 1200, 300, 100, "pendigits"),
    "MNIST": Track(5, 1200, 200, 100, "mnist", has_arrays=True),
    "clinc150": Track(15, 900, 200, 200, "clinc150_lsa384", has_arrays=True),
    "ClassIncremental": Track(5, 1000, 300, 100),
}

Examples = list[tuple[dict[Any, Any], Any]]


def distance(a: dict[Any, Any], b: dict[Any, Any]) -> float:
    """Return the Euclidean distance of examples with one array, or with the same numbers."""
    if "x" in a:
        return float(np.linalg.norm(a["x"] - b["x"]))
    return math.sqrt(sum((a[i] - b[i]) ** 2 for i in a))


def rivers() -> dict[str, base.Classifier]:
    engine = neighbors.LazySearch(window_size=1000, dist_func=distance)
    return {
        "GaussianNB": naive_bayes.GaussianNB(),
        "KNNClassifier(1000)": neighbors.KNNClassifier(engine=engine),
        "ARFClassifier(10)": forest.ARFClassifier(n_models=10, seed=1),
        "SoftmaxRegression": preprocessing.StandardScaler() | linear_model.SoftmaxRegression(),
    }


def models(budget: int) -> dict[str, Callable[[], base.Classifier]]:
    """Return what makes each model, by name."""
    made = {
        name: lambda row=row: row.build(budget=budget, seed=1) for name, row in ALGORITHMS.items()
    }
    made["Mnemotron, archive"] = lambda: rb.Mnemotron(budget, archive=300)
    return {**made, **{name: lambda name=name: rivers()[name] for name in rivers()}}


def tasks_of(track: Track, takes_arrays: bool) -> list[Any]:
    """Return a stream for each task: first the test rows, then the others."""
    if track.file is None:
        return list(synth.ClassIncremental(seed=42).tasks)
    data, rng = load(track.file), np.random.default_rng(1)
    tasks = []
    for classes in np.array_split(rng.permutation(np.unique(data["y_train"])), track.n_tasks):
        task: Examples = []
        for part, n in (("test", track.n_test), ("train", track.n_learn)):
            labels = data[f"y_{part}"]
            drawn = rng.permutation(np.flatnonzero(np.isin(labels, classes)))[:n]
            task += [
                (example(row, takes_arrays), label)
                for row, label in zip(
                    data[f"X_{part}"][drawn].astype(np.float64), labels[drawn].tolist(), strict=True
                )
            ]
        tasks.append(task)
    return tasks


def example(row: np.ndarray, takes_arrays: bool) -> dict[Any, Any]:
    return {"x": row} if takes_arrays else dict(enumerate(row.tolist()))


def figures(track_name: str, name: str) -> dict[str, str]:
    """Return a row of the table."""
    track = TRACKS[track_name]
    is_rivers = name in rivers() and not name.startswith("KNN")
    tasks = tasks_of(track, track.has_arrays and not is_rivers)
    model = models(track.budget)[name]()
    run = evaluate.lifelong(model, tasks, n_learn=track.n_learn, n_test=track.n_test)
    return {
        "all classes at the end": f"{100 * run.accuracy_final:.1f}",
        "forgetting": f"{100 * run.class_forgetting_avg:.1f}",
        "progressive": f"{100 - 100 * run.prequential_error:.1f}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lifelong")
    parser.add_argument("--models", help="names separated by commas")
    parser.add_argument("--tracks", help=", ".join(TRACKS))
    options = parser.parse_args()
    names = options.models.split(",") if options.models else list(models(1))
    with ProcessPoolExecutor() as pool:
        jobs = {
            track: {name: pool.submit(figures, track, name) for name in names}
            for track in (options.tracks.split(",") if options.tracks else TRACKS)
        }
        for track, own in jobs.items():
            rows = {name: job.result() for name, job in own.items()}
            best_first = sorted(rows, key=lambda n: -float(rows[n]["all classes at the end"]))
            t = TRACKS[track]
            print(f"\n{track}: {t.n_tasks} tasks of {t.n_learn:,} rows, budget {t.budget}\n")
            print(markdown({name: rows[name] for name in best_first}), flush=True)


if __name__ == "__main__":
    main()
