"""Calibration error and log loss of the models' own probabilities and of the calibrated ones.

    python -m benchmarks.calibration [--accuracy]

Progressive validation of the first 20,000 examples in order, after a StandardScaler, with a budget of
100. The kernel is RBF(gamma=1.0) on Bananas and the default elsewhere; Mnemotron uses its own kernels.
The table is in Markdown. Streams that are not part of River are read from the directory given by
RIVER_BUDGET_DATA and left out if they are absent. `--accuracy` adds the accuracy of the model and of
the label with the largest calibrated probability.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

from river import metrics, preprocessing

import river_budget as rb
from benchmarks.streams import labelled, named
from river_budget.base import Machine
from river_budget.datasets import DatasetError
from river_budget.metrics import CalibrationError

BUDGET = 100
STREAMS = ["Bananas", "Phishing", "Adult9", "Elec2", "Pendigits"]
KERNELS = {"Bananas": rb.RBF(gamma=1.0)}

# Largest calibration error to reach.
GOALS = {
    ("Bananas", "TightestPerceptron"): 0.026, ("Phishing", "TightestPerceptron"): 0.026,
    ("Bananas", "ProjectronPlusPlus"): 0.016, ("Phishing", "ProjectronPlusPlus"): 0.029,
    ("Bananas", "Forgetron"): 0.019, ("Phishing", "Forgetron"): 0.043,
}  # fmt: skip
GOAL = 0.03


class Scores(NamedTuple):
    """The metrics of one kind of predictions."""

    error: CalibrationError
    log_loss: metrics.CrossEntropy
    accuracy: metrics.Accuracy

    @classmethod
    def new(cls) -> Scores:
        return cls(CalibrationError(), metrics.CrossEntropy(), metrics.Accuracy())

    def update(self, y, probabilities: dict, label) -> None:
        self.error.update(y, probabilities)
        self.log_loss.update(y, probabilities)
        self.accuracy.update(y, label)


class Result(NamedTuple):
    """The metrics of a model, of its own probabilities and of the calibrated ones."""

    raw: Scores
    calibrated: Scores


def models(stream: str) -> dict[str, Machine]:
    """Return the models to measure, by name."""
    kernel = KERNELS.get(stream)
    found: dict[str, Machine] = {
        model.__name__: model(kernel, budget=BUDGET)
        for model in (rb.TightestPerceptron, rb.ProjectronPlusPlus, rb.Forgetron)
    }
    if stream != "Pendigits":
        found["Mnemotron"] = rb.Mnemotron(budget=BUDGET)
    return found


def examples_of(stream: str) -> list:
    """Return the examples of a stream; those of Pendigits with their ten labels."""
    return labelled(stream) if stream == "Pendigits" else named(stream)


def measure(model: Machine, examples: list) -> Result:
    """Return the metrics of a model and of its calibration, in one run."""
    wrapper = rb.Calibrated(model)
    pipeline = preprocessing.StandardScaler() | wrapper
    result = Result(Scores.new(), Scores.new())
    for x, y in examples:
        scaled = pipeline.transform_one(x)
        probabilities = wrapper.predict_proba_one(scaled)
        result.raw.update(y, model.predict_proba_one(scaled), model.predict_one(scaled))
        result.calibrated.update(
            y, probabilities, max(probabilities, key=probabilities.get, default=None)
        )
        pipeline.learn_one(x, y)
    return result


def row(stream: str, name: str, result: Result, *, with_accuracy: bool) -> str:
    """Return a row of the table."""
    raw, calibrated = result
    change = 100 * (calibrated.log_loss.get() / raw.log_loss.get() - 1)
    goal = GOALS.get((stream, name), None if name == "Forgetron" else GOAL)
    cells = [
        stream, name, f"{raw.error.get():.3f}", f"{calibrated.error.get():.3f}",
        "" if goal is None else f"{goal:.3f}", f"{raw.log_loss.get():.4f}",
        f"{calibrated.log_loss.get():.4f}", f"{change:+.1f} %",
    ]  # fmt: skip
    if with_accuracy:
        cells += [f"{100 * scores.accuracy.get():.2f}" for scores in result]
    return f"| {' | '.join(cells)} |"


def header(*, with_accuracy: bool) -> str:
    columns = [
        "stream", "model", "error", "calibrated", "goal", "log loss", "calibrated", "change",
    ]  # fmt: skip
    if with_accuracy:
        columns += ["accuracy", "of the largest probability"]
    return f"| {' | '.join(columns)} |\n|{len(columns) * '---|'}"


def main() -> None:
    with_accuracy = "--accuracy" in sys.argv
    print(header(with_accuracy=with_accuracy))
    for stream in STREAMS:
        try:
            examples = examples_of(stream)
        except DatasetError as error:
            print(f"{stream}: left out, {error}", file=sys.stderr)
            continue
        for name, model in models(stream).items():
            result = measure(model, examples)
            print(row(stream, name, result, with_accuracy=with_accuracy), flush=True)


if __name__ == "__main__":
    main()
