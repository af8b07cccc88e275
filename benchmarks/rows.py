"""Rows as they are: categories and missing values inside the models, and done outside of them.

    python -m benchmarks.rows [--quick] [STREAM ...]

Accuracy in percent of progressive validation, in order, of at most 3,000 examples. Budgets are 100, all
else is default.

The first table is about categories. `inside` gives texts to the model, `outside` a River pipeline that
encodes them, `numbers` leaves them out; trees get texts as nominal features. The second is about holes, in
the first 1,000 examples of streams with numbers: a tenth and three tenths of the cells are unknown,
anywhere, or all in a third of the columns. `mean` gives them to the model as None, `zero` leaves them out;
trees get rows without them. The third compares, under one kernel whose scales are those of the whole stream,
means and zeros with `common`, the mean squared difference over the names that both examples have. The last
has microseconds to predict and learn an example of five numbers and three texts, after 4,000 of them.

`flights` (New York, 2013: is the arrival 15 minutes late?), `mushroom`, `splice` and `german` (credit) are
read from the directory given by RIVER_BUDGET_DATA, as `census_income_kdd_testpart` is: files with the arrays
`X_num` and `X_cat` (rows, columns) and `y`. A stream whose file is missing is left out. `tic-tac-toe` has all
boards at the end of a game, in a random order; `agrawal` is River's, with two categories and a zip code;
`shops` are five numbers and a category with 300 values, each of which moves the boundary, and `noise` is
the same where they do not.
"""

from __future__ import annotations

import itertools
import math
import sys
import time
from collections.abc import Callable, Iterable
from statistics import fmean

import numpy as np
from river import compose, evaluate, forest, metrics, preprocessing, tree
from river.datasets import synth

import river_budget as rb
from benchmarks.local import load
from benchmarks.multiclass import markdown
from benchmarks.timing import REPEATS, alternating_medians
from river_budget.datasets import DatasetError

N = 3000
BUDGET = 100

Rows = list[tuple[dict, object]]


def table(file: str) -> Rows:
    """Return the rows of a file of numbers and categories."""
    data = load(file)
    X_num, X_cat = data["X_num"][:N].astype(float), data["X_cat"][:N].astype(object)
    names = [f"n{j}" for j in range(X_num.shape[1])] + [f"c{j}" for j in range(X_cat.shape[1])]
    return [
        (dict(zip(names, [*numbers, *(f"v{text}" for text in texts)], strict=True)), y)
        for numbers, texts, y in zip(
            X_num.tolist(), X_cat.tolist(), data["y"][:N].tolist(), strict=True
        )
    ]


def boards() -> Rows:
    """Return all boards at the end of a game of tic-tac-toe, and whether x has won."""
    lines = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]

    def wins(player: str, board: tuple[str, ...]) -> bool:
        return any(all(board[i] == player for i in line) for line in lines)

    ended = []
    for board in itertools.product("xob", repeat=9):
        x, o = wins("x", board), wins("o", board)
        n_x, n_o = board.count("x"), board.count("o")
        is_possible = n_x - n_o == (1 if x or not o else 0) and not (x and o)
        if is_possible and (x or o or n_x + n_o == 9):
            ended.append(({f"c{j}": cell for j, cell in enumerate(board)}, x))
    return [ended[i] for i in np.random.default_rng(1).permutation(len(ended))]


def agrawal() -> Rows:
    texts = ("car", "zipcode", "elevel")
    return [
        ({name: f"v{v}" if name in texts else float(v) for name, v in x.items()}, y == 1)
        for x, y in synth.Agrawal(classification_function=4, seed=1).take(N)
    ]


def shops(weight: float) -> Rows:
    """Return five numbers and a category of 300 values, with its weight in the label."""
    rng = np.random.default_rng(1)
    effects = rng.normal(size=300)
    shares = rng.dirichlet(np.full(300, 0.5))
    rows: Rows = []
    for _ in range(N):
        z, shop = rng.normal(size=5), rng.choice(300, p=shares)
        y = z[0] * z[1] + z[2] + weight * effects[shop] + 0.3 * rng.normal() > 0
        rows.append(
            ({f"n{j}": v for j, v in enumerate(z.tolist())} | {"shop": f"s{shop}"}, bool(y))
        )
    return rows


STREAMS: dict[str, Callable[[], Rows]] = {
    "flights": lambda: table("flights"),
    "census": lambda: table("census_income_kdd_testpart"),
    "german": lambda: table("german"),
    "mushroom": lambda: table("mushroom"),
    "splice": lambda: table("splice"),
    "tic-tac-toe": boards,
    "agrawal": agrawal,
    "shops": lambda: shops(1.5),
    "noise": lambda: shops(0.0),
}

MODELS: dict[str, Callable] = {
    "Mnemotron": lambda: rb.Mnemotron(budget=BUDGET),
    "Tightest": lambda: rb.TightestPerceptron(budget=BUDGET),
}
TREES: dict[str, Callable] = {
    "ARF(10)": lambda: forest.ARFClassifier(n_models=10, seed=1),
    "HAT": lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=1),
}


def encoded(model):
    texts = compose.SelectType(str) | preprocessing.OneHotEncoder()
    return (texts + compose.SelectType(float, int)) | model


def accuracy(model, rows: Rows) -> float:
    return 100 * evaluate.progressive_val_score(rows, model, metrics.Accuracy()).get()


def known(rows: Rows) -> Rows:
    """Return rows without what is unknown."""
    return [({k: v for k, v in x.items() if v is not None}, y) for x, y in rows]


def numbers(rows: Rows) -> Rows:
    return [({k: v for k, v in x.items() if not isinstance(v, str)}, y) for x, y in rows]


def holes(rows: Rows, share: float, by_column: bool) -> Rows:
    """Return rows with a share of unknown cells, anywhere or all in a third of the columns."""
    rng = np.random.default_rng(1)
    names = list(rows[0][0])
    chosen = rng.random(len(names)) < 1 / 3 if by_column else np.ones(len(names), bool)
    chosen[0] = True
    rates = dict(zip(names, chosen * min(0.95, share / chosen.mean()), strict=True))
    return [({k: None if rng.random() < rates[k] else v for k, v in x.items()}, y) for x, y in rows]


class Distance:
    """A Gaussian kernel over numbers and texts, with what takes the place of an unknown number."""

    def __init__(self, rows: Rows, fill: str) -> None:
        self.over_common = fill == "common"
        self.weights, self.fills = {}, {}
        for name in rows[0][0]:
            values = [x[name] for x, _ in rows if isinstance(x[name], float)]
            variance = float(np.var(values)) if values else 0.0
            self.weights[name] = 1 / variance if variance else 0.0
            self.fills[name] = (fmean(values) if fill == "mean" else 0.0) if values else None

    def __call__(self, x: dict, z: dict) -> float:
        total, n = 0.0, 0
        for name, weight in self.weights.items():
            a, b = x[name], z[name]
            if self.over_common and (a is None or b is None):
                continue
            n += 1
            a, b = self.fills[name] if a is None else a, self.fills[name] if b is None else b
            if isinstance(a, float):
                total += weight * (a - b) ** 2
            elif a != b:
                total += 1.0 if a is None or b is None else 2.0
        return math.exp(-total / max(1, n))


def of_categories(rows: Rows) -> dict[str, float]:
    own_figures = {
        f"{name} {way}": accuracy(wrap(make()), prepared)
        for name, make in MODELS.items()
        for way, wrap, prepared in [
            ("inside", lambda model: model, rows),
            ("outside", encoded, rows),
            ("numbers", lambda model: model, numbers(rows)),
        ]
        if prepared[0][0]
    }
    return own_figures | {name: accuracy(make(), rows) for name, make in TREES.items()}


def of_holes(rows: Rows) -> dict[str, float]:
    ways = {"mean": rows, "zero": known(rows)}
    own_figures = {
        f"{name} {way}": accuracy(make(), prepared)
        for name, make in MODELS.items()
        for way, prepared in ways.items()
    }
    return own_figures | {name: accuracy(make(), known(rows)) for name, make in TREES.items()}


def of_distances(rows: Rows) -> dict[str, float]:
    return {
        fill: accuracy(
            rb.TightestPerceptron(rb.FunctionKernel(Distance(rows, fill)), budget=BUDGET), rows
        )
        for fill in ("mean", "zero", "common")
    }


def costs(model, n_warm: int, n_timed: int) -> dict[str, float]:
    """Return the costs of a round inside and outside, and of texts that were encoded before."""
    rng = np.random.default_rng(1)
    examples: dict[str, Rows] = {"inside": [], "outside": [], "encoded before": []}
    for _ in range(n_warm + n_timed * (REPEATS + 1)):
        z = dict(zip("abcde", rng.normal(size=5).tolist(), strict=True))
        texts = {f"t{k}": f"text{rng.integers(k)}" for k in (3, 5, 20)}
        y = bool(z["a"] * z["b"] > 0)
        for way in ("inside", "outside"):
            examples[way].append((z | texts, y))
        examples["encoded before"].append((z | dict.fromkeys(texts.items(), 1.0), y))
    works = []
    for way, rows in examples.items():
        own = model.clone() if way != "outside" else encoded(model.clone())
        stream = iter(rows)
        learn(own, itertools.islice(stream, n_warm))
        works.append(lambda own=own, stream=stream: learn(own, itertools.islice(stream, n_timed)))
    times = [1e6 * t / n_timed for t in alternating_medians(*works)]
    return dict(zip(examples, times, strict=True)) | {"inside / outside": times[0] / times[1]}


def learn(model, rows: Iterable[tuple[dict, object]]) -> None:
    for x, y in rows:
        model.predict_one(x)
        model.learn_one(x, y)


def measured(tables: dict[str, dict[str, float]]) -> str:
    """Return a table with a row of means over those rows that have a figure."""
    columns = list(dict.fromkeys(column for row in tables.values() for column in row))
    means = {
        column: fmean(row[column] for row in tables.values() if column in row) for column in columns
    }
    rows = {
        name: {column: f"{row[column]:.1f}" if column in row else "" for column in columns}
        for name, row in {**tables, "mean": means}.items()
    }
    return markdown(rows)


def main() -> None:
    arguments = sys.argv[1:]
    n = 300 if "--quick" in arguments else N
    streams: dict[str, Rows] = {}
    for name in [a for a in arguments if a != "--quick"] or STREAMS:
        try:
            streams[name] = STREAMS[name]()[:n]
        except DatasetError as error:
            print(error, file=sys.stderr)
    with_holes = {
        f"{name}, {100 * share:.0f} % {'by column' if by_column else 'anywhere'}": holes(
            rows[: n // 3], share, by_column
        )
        for name, rows in streams.items()
        if any(isinstance(value, float) for value in rows[0][0].values())
        for by_column in (False, True)
        for share in (0.1, 0.3)
    }
    for measure, tables in [
        (of_categories, streams), (of_holes, with_holes), (of_distances, with_holes),
    ]:  # fmt: skip
        figures = {}
        for name, rows in tables.items():
            start = time.perf_counter()
            figures[name] = measure(rows)
            print(name, figures[name], f"{time.perf_counter() - start:.1f} s", file=sys.stderr)
        print(measured(figures), end="\n\n")
    timed = {name: costs(make(), n + n // 3, n // 10) for name, make in MODELS.items()}
    print(markdown({name: {k: f"{v:.2f}" for k, v in row.items()} for name, row in timed.items()}))


if __name__ == "__main__":
    main()
