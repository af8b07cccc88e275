"""Tables that join sections: which model to take, what it costs, and the leaderboard."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks import costs, long, short, tasks
from benchmarks.cells import Found
from benchmarks.tables import columns, markdown, mean, median_if_known, ranks
from benchmarks.tables import short as shortened
from river_budget.catalog import ALGORITHMS

# Returns what the section of a name has measured.
Stored = Callable[[str], Found]

# What one wants, the model, its budget, and its page.
CHOICES = [
    ("accuracy without tuning, on streams that drift or not", "Mnemotron", 100, "mnemotron"),
    ("the same with a third of the memory", "Mnemotron", 50, "mnemotron"),
    ("speed, on a stream that does not drift", "ProjectedGradient", 100, "projected_gradient"),
    ("speed under drift", "ProjectronPlusPlus", 100, "projectron_plus_plus"),
    ("the smallest state, on a stream that does not drift", "BudgetedSGD", 20, "budgeted_sgd"),
    ("a small state, drift, and a mistake bound", "Forgetron", 100, "forgetron"),
    ("the least time", "RemoveOldestPerceptron", 100, "remove_oldest"),
    ("classes that arrive one after the other; embeddings", "KernelLDA", 100, "kernel_lda"),
]

# The best of each kind.
BEST = [
    "Mnemotron", "Mnemotron, regions=16", "KernelLDA", "ProjectedGradient", "Forgetron", "SRPClassifier(10)",
    "ARFClassifier(10)", "KNNClassifier(1000)", "LogisticRegression", "CapyMOA ARF(100)", "CapyMOA SRP(10)",
]  # fmt: skip

BUDGETS, BUDGETS_OF_MEMORY = [20, 100, 500, 1000], [100, 1000]


def which(stored: Stored) -> str:
    """Return the table of what to take."""
    return markdown({
        f"{wish}: [`{name}{'' if budget == 100 else f'(budget={budget})'}`](algorithms/{page}.md)": {
            "accuracy (%)": f"{mean(stored('short'), short.of_budget(name, budget), 'accuracy'):.1f}",
            **costs.cost_of(stored("costs"), name, budget),
        }
        for wish, name, budget, page in CHOICES
    })  # fmt: skip


def by_budget(stored: Stored) -> str:
    """Return the table of costs by budget."""

    def cells(name: str) -> dict[str, str]:
        by = {b: costs.cost_of(stored("costs"), name, b) for b in BUDGETS}
        times = {f"µs, B={b:,}": by[b]["µs"] for b in BUDGETS}
        return times | {f"kB, B={b:,}": by[b]["kB"] for b in BUDGETS_OF_MEMORY}

    names = ["RemoveOldestPerceptron", *reversed(short.BY_BUDGET), "KNNClassifier"]
    return markdown({f"`{name}`": cells(name) for name in names})


def with_capymoa(stored: Stored) -> Found:
    """Return the short streams, with CapyMOA's learners if they were measured."""
    others = stored("capymoa_short")
    return {stream: row | others.get(stream, {}) for stream, row in stored("short").items()}


def of_long(stored: Stored) -> dict[str, long.Summary]:
    """Return what each model has on the long streams that all have."""
    return long.summaries(long.joined(stored("long"), stored("capymoa")))


def against(stored: Stored) -> str:
    """Return the table of the best of each kind, the most accurate first."""
    found, on_long = with_capymoa(stored), of_long(stored)
    models = [model for model in BEST if all(model in row for row in found.values())]
    return markdown({
        model: {
            "accuracy (%)": f"{mean(found, model, 'accuracy'):.1f}",
            "log loss": f"{mean(found, model, 'log_loss'):.3f}",
            "long streams (%)": f"{on_long[model].accuracy:.1f}" if model in on_long else "",
            "µs": shortened(mean(found, model, "microseconds")),
            "kB": kilobytes(found, model),
        }
        for model in sorted(models, key=lambda model: -mean(found, model, "accuracy"))
    })  # fmt: skip


def kilobytes(found: Found, model: str) -> str:
    """Return the median of the memory, or nothing if it is unknown."""
    size = median_if_known([row[model]["bytes"] for row in found.values()])
    return "" if size is None else shortened(size / 1000)


def board(stored: Stored) -> str:
    """Return the leaderboard: every model, the best mean rank first."""
    found, on_long = with_capymoa(stored), of_long(stored)
    models = [model for model in columns(found) if model not in short.VARIANTS]
    ranked = ranks(found, models)
    late = {
        name.removesuffix(" @ 100"): mean(stored("late"), name) for name in columns(stored("late"))
    }
    kept = {name: one.final for name, one in tasks.means(stored("tasks")).items()}

    def row(model: str) -> dict[str, str]:
        others = {
            "long": on_long[model].accuracy if model in on_long else None,
            "late": late.get(model),
            "tasks": kept.get(model),
        }
        return {
            "rank": f"{ranked[model]:.1f}",
            "accuracy": f"{mean(found, model, 'accuracy'):.1f}",
            "log loss": f"{mean(found, model, 'log_loss'):.3f}",
            **{title: "" if value is None else f"{value:.1f}" for title, value in others.items()},
            "µs": shortened(mean(found, model, "microseconds")),
            "kB": kilobytes(found, model),
        }

    return markdown({
        f"**{model}**" if model.partition(",")[0] in ALGORITHMS else model: row(model)
        for model in sorted(models, key=ranked.__getitem__)
    })  # fmt: skip


SHOWN_STREAMS = [
    "Bananas", "Waveform", "SpamAssassin", "Pendigits (10)", "Hyperplane", "SEA, drift", "Mixed, drift",
    "Sine, drift", "RotatingGaussians", "RandomRBFDrift (5)",
]  # fmt: skip
SHOWN_MODELS = [
    "Mnemotron", "ProjectedGradient", "ProjectronPlusPlus", "TightestPerceptron", "ARFClassifier(10)",
    "KNNClassifier(1000)", "LogisticRegression",
]  # fmt: skip


def by_stream(stored: Stored) -> str:
    """Return the table of some accuracies on some streams."""
    return markdown({
        stream: {model: f"{stored('short')[stream][model]['accuracy']:.1f}" for model in SHOWN_MODELS}
        for stream in SHOWN_STREAMS
    })  # fmt: skip


TABLES: dict[str, Callable[[Stored], str]] = {
    "which": which, "cost": by_budget, "accuracy": by_stream, "against": against, "board": board,
}  # fmt: skip
