"""Long streams: Mnemotron with and without regions, beside forests, adaptive trees and logistic regression.

Progressive validation of the first examples of each stream, a sample of most of them: accuracy of all examples and of
the last 20 %, log loss, microseconds of processor time to predict and learn an example, and memory in the end. What is
predicted is the most probable label; probabilities below 0.001 count as 0.001 in the log loss. Each model is measured
once. Parameters are the defaults, but for the number of trees. Trees get categories as such, others as columns of zeros
and ones. Logistic regression is behind a StandardScaler.

Learners of CapyMOA are another section, `capymoa`, since they need the extra `long` and Java. The tables have both.

"""

from __future__ import annotations

from itertools import product
from statistics import fmean
from typing import Any, NamedTuple

from benchmarks.cells import Cell, Found, Section, stored
from benchmarks.long import capymoa
from benchmarks.long.measure import figures
from benchmarks.long.models import MODELS
from benchmarks.long.streams import SIZES, STREAMS
from benchmarks.tables import columns, complete, markdown, median_if_known, ranks, short

# Trees of River take hours for so many features.
LEFT_OUT = [("MNIST, shuffled", "HoeffdingAdaptiveTree"), ("MNIST, shuffled", "ARFClassifier(10)")]
QUICK = list(
    product(["RandomTree", "LED, drift"], ["Mnemotron", "Forgetron", "HoeffdingAdaptiveTree"])
)
MEANS = ["accuracy", "last_fifth", "log_loss", "microseconds"]


class Summary(NamedTuple):
    """The means of a model over streams, where rank 1 is the best accuracy; of bytes, the median, or None."""

    rank: float
    accuracy: float
    last_fifth: float
    log_loss: float
    microseconds: float
    bytes: float | None


def measured(stream: str, model: str, n: int) -> dict[str, Any]:
    return figures(MODELS[model], STREAMS[stream](n))


def cells(is_quick: bool) -> list[Cell]:
    every = [pair for pair in product(SIZES, MODELS) if pair not in LEFT_OUT]
    return [
        Cell(stream, model, measured, (stream, model, 200 if is_quick else SIZES[stream]))
        for stream, model in (QUICK if is_quick else every)
    ]


def size(row: dict[str, Any]) -> int:
    return next(iter(row.values()))["n_examples"]


def joined(found: Found, others: Found) -> Found:
    """Return what was found, with what others have found on as many examples of the same streams."""
    same = {
        stream: row
        for stream, row in others.items()
        if stream in found and size(row) == size(found[stream])
    }
    return {stream: row | same.get(stream, {}) for stream, row in found.items()}


def with_capymoa(found: Found) -> Found:
    """Return what was found, with what CapyMOA's learners have, if they have been measured."""
    path = capymoa.SECTION.path
    return joined(found, stored(capymoa.SECTION)["cells"]) if path.exists() else found


def shared(found: Found) -> Found:
    """Return the streams that all models have."""
    return complete(found, columns(found))


def summaries(found: Found) -> dict[str, Summary]:
    """Return what each model has on the streams that all models have."""
    rows = shared(found).values()
    return {
        model: Summary(
            rank=rank,
            bytes=median_if_known([row[model]["bytes"] for row in rows]),
            **{name: fmean(row[model][name] for row in rows) for name in MEANS},
        )
        for model, rank in ranks(found, columns(found)).items()
    }


def both(accuracy: float, last_fifth: float) -> str:
    return f"{accuracy:.1f} ({last_fifth:.1f})"


def accuracies(found: Found) -> str:
    """Return the table of accuracies of all examples, with those of the last 20 % in brackets."""
    found = with_capymoa(found)
    rows = {
        f"{stream} ({size(row):,})": {
            model: both(one["accuracy"], one["last_fifth"]) for model, one in row.items()
        }
        for stream, row in found.items()
    }
    means = {model: both(one.accuracy, one.last_fifth) for model, one in summaries(found).items()}
    return markdown({**rows, f"mean of the {len(shared(found))} that all have": means})


def summary(found: Found) -> str:
    """Return the table of means, with a row for each model, the best ones first."""
    found = with_capymoa(found)
    table = markdown({
        model: {
            "Rank": f"{one.rank:.1f}",
            "Accuracy (%)": f"{one.accuracy:.1f}",
            "Last 20 % (%)": f"{one.last_fifth:.1f}",
            "Log loss": f"{one.log_loss:.3f}",
            "Time (µs)": short(one.microseconds),
            "Memory (kB)": "unknown" if one.bytes is None else short(one.bytes / 1000),
        }
        for model, one in sorted(summaries(found).items(), key=lambda item: item[1].rank)
    })  # fmt: skip
    return f"Means over the {len(shared(found))} streams that all models have; of memory, the median.\n\n{table}"


SECTION = Section("long", cells, {"long_summary": summary, "long_accuracy": accuracies}, minutes=25)
