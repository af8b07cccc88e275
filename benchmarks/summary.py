"""Tables that join sections: which model to take, what it costs, and the leaderboard."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks import costs, short
from benchmarks.cells import Found
from benchmarks.tables import complete, markdown, mean
from benchmarks.tables import short as shortened
from river_budget.catalog import ALGORITHMS

# Returns what the section of a name has measured.
Stored = Callable[[str], Found]

# What one wants, the model, its budget, and its page.
CHOICES = [
    ("accuracy without tuning, on streams that drift or not", "Mnemotron", 100, "mnemotron"),
    ("the same with a third of the memory", "Mnemotron", 50, "mnemotron"),
    ("speed, on a stream that does not drift", "TightestPerceptron", 100, "tightest"),
    ("speed under drift", "ProjectronPlusPlus", 100, "projectron_plus_plus"),
    ("the smallest state, drift, and a mistake bound", "Forgetron", 100, "forgetron"),
    ("the least time", "RemoveOldestPerceptron", 100, "remove_oldest"),
    ("classes that arrive one after the other; embeddings", "KernelLDA", 100, "kernel_lda"),
]

# The best of each kind, for README: name, and that of its costs where it is another.
BEST = {
    "Mnemotron": "Mnemotron",
    "KernelLDA": "KernelLDA",
    "ProjectronPlusPlus": "ProjectronPlusPlus",
    "Forgetron": "Forgetron",
    "SRPClassifier(10)": None,
    "ARFClassifier(10)": "ARFClassifier(10)",
    "KNNClassifier(1000)": "KNNClassifier",
    "LogisticRegression": "LogisticRegression",
    "CapyMOA ARF(100)": None,
    "CapyMOA SRP(100)": None,
}

BUDGETS, BUDGETS_OF_MEMORY = [20, 100, 500, 1000], [100, 1000]


def cost(found: Found, model: str, budget: int = 100) -> dict[str, str]:
    """Return the columns of time and memory; empty ones where they are not measured."""
    figures = costs.cost_of(found, model, budget)
    if figures is None:
        return {}
    return {"µs": shortened(figures["microseconds"]), "kB": shortened(figures["bytes"] / 1000)}


def which(stored: Stored) -> str:
    """Return the table of what to take."""
    return markdown({
        f"{wish}: [`{name}{'' if budget == 100 else f'(budget={budget})'}`](algorithms/{page}.md)": {
            "accuracy (%)": f"{mean(stored('short'), short.of_budget(name, budget), 'accuracy'):.1f}",
            **cost(stored("costs"), name, budget),
        }
        for wish, name, budget, page in CHOICES
    })  # fmt: skip


def by_budget(stored: Stored) -> str:
    """Return the table of costs by budget."""
    def cells(name: str) -> dict[str, str]:
        by = {budget: cost(stored("costs"), name, budget) for budget in BUDGETS}
        times = {f"µs, B={b:,}": by[b].get("µs", "") for b in BUDGETS}
        return times | {f"kB, B={b:,}": by[b].get("kB", "") for b in BUDGETS_OF_MEMORY}

    names = ["RemoveOldestPerceptron", *reversed(short.BY_BUDGET), "KNNClassifier"]
    return markdown({f"`{name}`": cells(name) for name in names})


def against(stored: Stored) -> str:
    """Return the table of the best of each kind, the most accurate first."""
    found, models = stored("short"), [model for model in BEST if model in stored("short")["Bananas"]]
    return markdown({
        model: {
            "accuracy (%)": f"{mean(found, model, 'accuracy'):.1f}",
            "on long streams (%)": of_long(stored).get(model, ""),
            "log loss": f"{mean(found, model, 'log_loss'):.3f}",
            "µs": shortened(mean(found, model, "microseconds")),
            "kB": shortened(mean(found, model, "bytes") / 1000),
        }
        for model in sorted(models, key=lambda model: -mean(found, model, "accuracy"))
    })  # fmt: skip


def of_long(stored: Stored) -> dict[str, str]:
    """Return the mean accuracy of each model over the long streams, if it has done all of them."""
    found = stored("long")
    n_streams = len(found)
    names = {name for row in found.values() for name in row}
    return {
        name: f"{mean(found, name, 'accuracy'):.1f}"
        for name in names
        if len(complete(found, [name])) == n_streams
    }


def board(stored: Stored) -> str:
    """Return the leaderboard: every model, the best mean rank first."""
    found = stored("short")
    models = [*short.OURS, *short.PEERS]
    ranks = short.ranks(found, models)
    columns = {"long": of_long(stored), "late": of_late(stored), "tasks": of_tasks(stored)}

    def row(model: str) -> dict[str, str]:
        return {
            "rank": f"{ranks[model]:.1f}",
            "accuracy": f"{mean(found, model, 'accuracy'):.1f}",
            "log loss": f"{mean(found, model, 'log_loss'):.3f}",
            **{title: values.get(model, "") for title, values in columns.items()},
            "µs": shortened(median(found, model, "microseconds")),
            "kB": shortened(median(found, model, "bytes") / 1000),
        }

    return markdown({
        f"**{model}**" if model in ALGORITHMS else model: row(model)
        for model in sorted(models, key=ranks.__getitem__)
    })
