from __future__ import annotations

import collections
import json
from collections.abc import Iterable, Iterator
from typing import Annotated, Any

import typer

from river_budget.cli import files, models, options, output
from river_budget.cli.app import app
from river_budget.keyed import Event, KeyedLearner, ModelCache, Prediction

__all__ = ["keyed"]


@app.command()
def keyed(
    file: Annotated[
        str, typer.Argument(help="csv or JSON lines, compressed or not; - is standard input.")
    ] = "-",
    key: Annotated[str, typer.Option(help="Name of the column with the key.")] = "key",
    target: Annotated[str, typer.Option(help="Name of the label.")] = "y",
    seq: Annotated[
        str | None,
        typer.Option(
            help="Name of the column that numbers the lines of a key. [default: in order of arrival]"
        ),
    ] = None,
    model: Annotated[str, typer.Option(help="Name of the algorithm.")] = "tightest",
    budget: options.Budget = 50,
    gamma: options.Gamma = None,
    seed: options.Seed = 42,
) -> None:
    """Predict, then learn, line by line, with a model for each key, and write lines of JSON.

    With --seq, a line that comes twice is learned once, and a label can come later than its line: as
    a line with the key, the number and the label, and no features. Features are scaled online, for
    each key, to zero mean and unit variance. Each answer has the key, the number, the prediction, the
    margin (positive for the positive class), the number of lines of the key so far, and its share of
    correct predictions.

    """
    algorithm = models.algorithm(model)
    kernel = models.rbf(gamma)
    with files.read(file, None, target) as (form, lines), output.status() as show:
        learner = KeyedLearner(lambda: models.build(algorithm, kernel, budget, seed, scale=True))
        if form == "libsvm":
            raise ValueError("libsvm has no column for a key: csv and JSON lines have")
        answers = _answers(_events(lines, form, key, target, seq), learner)
        for n, answer in enumerate(answers, 1):
            print(json.dumps(_fields(answer)), flush=True)
            show(f"{n:,} lines")


def _events(
    lines: Iterable[str], form: files.Format, key: str, target: str, seq: str | None
) -> Iterator[tuple[int, Event]]:
    counts: collections.Counter[Any] = collections.Counter()
    for n, row in files.rows(lines, form):
        whose = _column(n, row, key)
        number = counts[whose] if seq is None else _number(n, _column(n, row, seq))
        counts[whose] += 1
        y = files.label(row.pop(target, None), form)
        is_late = seq is not None and all(value in ("", None) for value in row.values())
        yield n, Event(whose, number, None if is_late else files.features(n, row, form), y)


def _column(n: int, row: dict[str, Any], name: str) -> Any:
    value = row.pop(name, None)
    if not isinstance(value, str | int) or value == "":
        raise ValueError(f"line {n} has no text or whole number in column {name!r}")
    return value


def _number(n: int, value: Any) -> int:
    try:
        return int(value)
    except ValueError:
        raise ValueError(f"line {n} has the number {value!r}: expected a whole one") from None


def _answers(events: Iterator[tuple[int, Event]], learner: KeyedLearner) -> Iterator[Prediction]:
    states: dict[Any, bytes] = {}
    cache = ModelCache(learner, states.get, states.__setitem__)
    for n, event in events:
        try:
            yield cache.advance(event)
        except ValueError as error:
            raise ValueError(f"line {n}: {error}") from None


def _fields(prediction: Prediction) -> dict[str, Any]:
    fields = prediction._asdict()
    return {("prediction" if name == "y_pred" else name): fields[name] for name in fields}
