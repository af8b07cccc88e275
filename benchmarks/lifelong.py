"""Classes that come one after the other: what every model keeps of them.

    RIVER_BUDGET_DATA=DIR python -m benchmarks.lifelong [--models NAME,...] [--tracks NAME,...]

Each task brings a few new classes and is learned once. For each track: the accuracy on the test rows of all
classes at the end, how far the accuracy on a class has fallen from its best, and that on each example before
it was learned, all in percent. Pictures and embeddings are arrays; River's models get an element a feature,
but for its nearest neighbours, which get the arrays and NumPy's distance. Naive Bayes and the forest are left
out on clinc150, where they take hours. The leaderboard has these rows, too.
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
    left_out: tuple[str, ...] = ()


TRACKS = {
    "Pendigits": Track(5, 1200, 300, 100, "pendigits"),
    "MNIST": Track(5, 1200, 200, 100, "mnist", has_arrays=True),
    "clinc150": Track(
        15, 900, 200, 200, "clinc150_lsa384", has_arrays=True, left_out=("Naive Bayes", "ARF")
    ),
    "ClassIncremental": Track(5, 1000, 300, 100),
}

HEADINGS = {
    "final": "all classes at the end", "forgetting": "forgetting", "progressive": "progressive"
}  # fmt: skip

Examples = list[tuple[dict[Any, Any], Any]]


def distance(a: dict[Any, Any], b: dict[Any, Any]) -> float:
    """Return the Euclidean distance of examples with one array, or with the same numbers."""
    if "x" in a:
        return float(np.linalg.norm(a["x"] - b["x"]))
    return math.sqrt(sum((a[i] - b[i]) ** 2 for i in a))


def rivers() -> dict[str, base.Classifier]:
    engine = neighbors.LazySearch(window_size=1000, dist_func=distance)
    return {
        "Naive Bayes": naive_bayes.GaussianNB(),
        "KNN": neighbors.KNNClassifier(engine=engine),
        "ARF": forest.ARFClassifier(n_models=10, seed=1),
        "Softmax regression": preprocessing.StandardScaler() | linear_model.SoftmaxRegression(),
    }


def models(track: Track) -> dict[str, Callable[[], base.Classifier]]:
    """Return what makes each model of a track, by name."""
    budget = track.budget
    made = {
        name: lambda row=row: row.build(budget=budget, seed=1) for name, row in ALGORITHMS.items()
    }
    made["Mnemotron, archive"] = lambda: rb.Mnemotron(budget, archive=300)
    made |= {name: lambda name=name: rivers()[name] for name in rivers()}
    return {name: make for name, make in made.items() if name not in track.left_out}


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


def figures(track_name: str, name: str) -> dict[str, float]:
    """Return the figures of a model on a track, in percent, under the keys of HEADINGS."""
    track = TRACKS[track_name]
    is_rivers = name in rivers() and name != "KNN"
    tasks = tasks_of(track, track.has_arrays and not is_rivers)
    run = evaluate.lifelong(
        models(track)[name](), tasks, n_learn=track.n_learn, n_test=track.n_test
    )
    found = [run.accuracy_final, run.class_forgetting_avg, 1 - run.prequential_error]
    return {key: round(100 * float(value), 2) for key, value in zip(HEADINGS, found, strict=True)}


def described(track_name: str) -> str:
    track = TRACKS[track_name]
    return f"{track.n_tasks} tasks of {track.n_learn:,} rows, budget {track.budget}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lifelong")
    parser.add_argument("--models", help="names separated by commas")
    parser.add_argument("--tracks", help=", ".join(TRACKS))
    options = parser.parse_args()
    tracks = options.tracks.split(",") if options.tracks else list(TRACKS)
    chosen = options.models.split(",") if options.models else None
    with ProcessPoolExecutor() as pool:
        jobs = {
            track: {
                name: pool.submit(figures, track, name)
                for name in models(TRACKS[track])
                if chosen is None or name in chosen
            }
            for track in tracks
        }
        for track, own in jobs.items():
            rows = {name: job.result() for name, job in own.items()}
            table = {
                name: {HEADINGS[key]: f"{value:.1f}" for key, value in rows[name].items()}
                for name in sorted(rows, key=lambda name: -rows[name]["final"])
            }
            print(f"\n{track}: {described(track)}\n\n{markdown(table)}", flush=True)


if __name__ == "__main__":
    main()
