"""Our figures beside the published ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, stdev

from benchmarks.reproduce.published import Figures, Published, Setting
from benchmarks.tables import markdown

N_STANDARD_DEVIATIONS = 2.0

# What a paper's settings have measured: our repeats, by quantity.
Measured = Mapping[Setting, Mapping[str, Sequence[float]]]


def verdict(
    values: Sequence[float], published: Published, *, bigger_is_better: bool = False
) -> str:
    """Return whether the mean of our repeats is 'within' the spread of the published one.

    It is if the two differ by at most two standard deviations, the larger of the paper's and ours.
    Otherwise ours is 'better' or 'worse'.

    """
    difference = fmean(values) - published.mean
    if abs(difference) <= N_STANDARD_DEVIATIONS * max(published.sd, sample_sd(values)):
        return "within"
    return "better" if (difference > 0) == bigger_is_better else "worse"


def sample_sd(values: Sequence[float]) -> float:
    """Return the sample standard deviation; 0 for a single value."""
    return stdev(values) if len(values) > 1 else 0.0


def verdicts(measured: Measured, published: Figures) -> dict[tuple[Setting, str], str]:
    """Return the verdict on each of our figures that the paper has, by setting and quantity."""
    return {
        (setting, name): verdict_on(name, values, published[setting][name])
        for setting, figures in measured.items()
        for name, values in figures.items()
        if name in published.get(setting, {})
    }


def verdict_on(quantity: str, values: Sequence[float], published: Published) -> str:
    return verdict(values, published, bigger_is_better=quantity == "accuracy")


def shown(measured: Measured, published: Figures, setting: Setting, quantity: str) -> str:
    """Return ours, the paper's in brackets, and the verdict if ours is not within its spread."""
    values = measured[setting][quantity]
    theirs = published.get(setting, {}).get(quantity)
    text = f"{fmean(values):,.1f} ± {sample_sd(values):.1f}"
    if theirs is None:
        return text
    found = verdict_on(quantity, values, theirs)
    return f"{text} ({theirs.mean:,.1f}){'' if found == 'within' else f' {found}'}"


def by_budget(measured: Measured, published: Figures, quantity: str) -> str:
    """Return a table of one quantity with a column for each budget.

    An algorithm without a budget is in all columns that the others on its data set have.

    """
    rows: dict[str, dict[str, str]] = {}
    for setting in measured:
        row = rows.setdefault(f"{setting.data_set}: {setting.algorithm}", {})
        for budget in [setting.budget] if setting.budget else budgets(measured, setting.data_set):
            row[f"B={budget:,}"] = shown(measured, published, setting, quantity)
    return markdown(rows)


def budgets(measured: Measured, data_set: str) -> list[int]:
    return sorted({own.budget for own in measured if own.data_set == data_set and own.budget})
