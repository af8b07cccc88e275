"""The figures of `benchmarks.long` as tables in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from benchmarks.long.measure import Figures
from benchmarks.multiclass import markdown

Results = dict[str, dict[str, Figures]]


def kilobytes(figures: Figures) -> str:
    return "unknown" if figures.bytes is None else f"{figures.bytes / 1000:,.0f}"


TABLES: dict[str, Callable[[Figures], str]] = {
    "Accuracy of the whole stream, and of its last 20 % in brackets (%)": lambda figures: (
        f"{figures.accuracy:.1f} ({figures.last_fifth:.1f})"
    ),
    "Log loss": lambda figures: f"{figures.log_loss:.3f}",
    "Processor time to predict and learn an example (µs)": lambda figures: (
        f"{figures.microseconds:,.0f}"
    ),
    "Memory in the end (kB)": kilobytes,
}


def measured(results: Results, models: Iterable[str]) -> list[str]:
    """Return the models that have figures, in their order, and after them those of other runs."""
    found = {model for row in results.values() for model in row}
    known = [model for model in models if model in found]
    return [*known, *sorted(found.difference(known))]


def cell(figures: Figures | None, shown: Callable[[Figures], str]) -> str:
    """Return a figure, and the number of its examples if the limit of time has ended them."""
    if figures is None:
        return "not measured"
    return shown(figures) + f" of {figures.n_done:,}" * (not figures.is_complete)


def tables(results: Results, models: Iterable[str]) -> str:
    """Return a table for each kind of figure, with a row for each stream."""
    columns, parts = measured(results, models), []
    for title, shown in TABLES.items():
        rows = {
            f"{stream} ({next(iter(row.values())).n_examples:,})": {
                model: cell(row.get(model), shown) for model in columns
            }
            for stream, row in results.items()
        }
        parts.append(f"{title}:\n\n{markdown(rows)}")
    return "\n\n".join(parts)
