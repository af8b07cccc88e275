"""Classes that come one after the other: what Mnemotron keeps of them.

    RIVER_BUDGET_DATA=DIR python -m benchmarks.classes [NAME ...] [--seeds N] [--budget B] [--archive D]

Each data set is learned once in tasks of a few classes, and once shuffled. Accuracy is that on the test
rows of all classes at the end, in percent, as a mean over seeds, which choose the rows, their order, and the
classes of each task. By default, all sets, five seeds, the budget of the set, and no archive.

"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import river_budget as rb
from benchmarks.local import load
from benchmarks.multiclass import markdown


class Track(NamedTuple):
    """A data set, and how it is learned: at most so many rows of it, tested on at most so many.

    An example is an array, or one number a feature.
    """

    file: str
    n_tasks: int
    budget: int
    has_arrays: bool
    n_rows: int = 10**6
    n_test: int = 10**6


TRACKS = {
    "Pendigits": Track("pendigits", 5, 100, has_arrays=False),
    "MNIST": Track("mnist", 5, 100, has_arrays=True, n_rows=8_000, n_test=1_000),
    "clinc150": Track("clinc150_lsa384", 15, 200, has_arrays=True),
}

Order = NDArray[np.intp]


def tasks_of(labels: NDArray[Any], n_tasks: int, rng: np.random.Generator) -> Iterator[Order]:
    """Yield the rows of each task, shuffled, for random tasks of equally many classes."""
    for classes in np.array_split(rng.permutation(np.unique(labels)), n_tasks):
        yield rng.permutation(np.flatnonzero(np.isin(labels, classes)))


def frame_of(X: NDArray[Any], has_arrays: bool) -> dict[str, NDArray[Any]]:
    """Return rows as a frame."""
    X = X.astype(np.float64)
    return {"x": X} if has_arrays else {str(j): column for j, column in enumerate(X.T)}


def accuracy(
    name: str, budget: int | None, archive: int | None, in_tasks: bool, seed: int
) -> float:
    """Return the accuracy at the end, in percent."""
    track, rng = TRACKS[name], np.random.default_rng(seed)
    data = load(track.file)
    drawn, tested = (
        rng.permutation(len(data[y]))[:n]
        for y, n in (("y_train", track.n_rows), ("y_test", track.n_test))
    )
    X, y = data["X_train"][drawn], data["y_train"][drawn]
    order = np.concatenate(list(tasks_of(y, track.n_tasks if in_tasks else 1, rng)))
    model = rb.Mnemotron(budget or track.budget, archive=archive)
    model.learn_many(frame_of(X[order], track.has_arrays), y[order].tolist())
    test = frame_of(data["X_test"][tested], track.has_arrays)
    predicted = np.asarray(model.predict_many(test))
    return 100 * float((predicted == data["y_test"][tested]).mean())


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.classes")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(TRACKS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--budget", type=int)
    parser.add_argument("--archive", type=int)
    options = parser.parse_args()
    with ProcessPoolExecutor() as pool:
        jobs = {
            (name, in_tasks): [
                pool.submit(accuracy, name, options.budget, options.archive, in_tasks, seed)
                for seed in range(1, options.seeds + 1)
            ]
            for name in options.names or TRACKS
            for in_tasks in (True, False)
        }
        rows = {}
        for (name, in_tasks), own in jobs.items():
            values = [job.result() for job in own]
            label = f"{name}, {TRACKS[name].n_tasks} tasks" if in_tasks else f"{name}, shuffled"
            spread = f"{min(values):.1f} to {max(values):.1f}"
            rows[label] = {"accuracy": f"{np.mean(values):.1f}", "of single seeds": spread}
    print(markdown(rows))


if __name__ == "__main__":
    main()
