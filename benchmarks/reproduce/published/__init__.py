"""The figures that the papers published.

They are read from the CSV files in this directory, whose README.md gives the source of each.

"""

from __future__ import annotations

import csv
import functools
import importlib.resources
from collections.abc import Mapping
from typing import NamedTuple


class Published(NamedTuple):
    """A published mean and its standard deviation."""

    mean: float
    sd: float


class Setting(NamedTuple):
    """What a row of a table was measured on. Algorithms without a budget have None."""

    data_set: str
    algorithm: str
    budget: int | None

    @property
    def title(self) -> str:
        limit = f", B={self.budget:,}" if self.budget else ""
        return f"{self.data_set}: {self.algorithm}{limit}"


# The figures of a paper: for each setting, those of its quantities that it gives.
Figures = Mapping[Setting, Mapping[str, Published]]


class TightestDataSet(NamedTuple):
    """A data set of the Tightest paper, and delta^2 of the Gaussian kernel on it."""

    n_train: int
    n_test: int
    n_features: int
    delta_squared: float


# Examples of the Forgetron paper's data sets.
N_EXAMPLES = {"MNIST": 60_000, "census-income": 199_523}


@functools.cache
def projectron_sigma_squared() -> Mapping[str, float]:
    """Return sigma^2 of the Gaussian kernel on each data set of the Projectron paper."""
    return {row["data_set"]: float(row["sigma_squared"]) for row in _rows("projectron_data_sets")}


@functools.cache
def projectron() -> Figures:
    """Return Tables 1 to 3 of the Projectron paper: mistakes in percent, and the support set where it may vary."""
    tables = (_rows(f"projectron_table_{number}") for number in (1, 2, 3))
    return {_setting(row): _figures(row) for rows in tables for row in rows}


@functools.cache
def tightest_data_sets() -> Mapping[str, TightestDataSet]:
    """Return Table 1 of the Tightest paper."""
    return {
        name: TightestDataSet(*map(int, sizes), float(delta_squared))
        for name, *sizes, delta_squared in map(dict.values, _rows("tightest_table_1"))
    }


@functools.cache
def tightest() -> Figures:
    """Return Table 2 of the Tightest paper: test accuracies in percent.

    The Perceptron has no budget; its figures are those beside the smallest one.

    """
    found: dict[Setting, Mapping[str, Published]] = {}
    for row in _rows("tightest_table_2"):
        setting = _setting(row)
        if setting.algorithm == "KernelPerceptron":
            setting = setting._replace(budget=None)
        found.setdefault(setting, _figures(row))
    return found


@functools.cache
def forgetron() -> Figures:
    """Return the Perceptron's mistakes in percent, from Figure 2 of the Forgetron paper; it gives no deviation."""
    return {
        Setting(name, "KernelPerceptron", None): {
            "mistakes": Published(100 * int(support) / N_EXAMPLES[name], 0.0)
        }
        for name, support in map(dict.values, _rows("forgetron_figure_2"))
    }


@functools.cache
def bsgd() -> Figures:
    """Return parts of Table 3 of the budgeted SGD paper: test accuracies in percent."""
    return {_setting(row): _figures(row) for row in _rows("bsgd_table_3")}


def _rows(name: str) -> list[dict[str, str]]:
    text = importlib.resources.files(__name__).joinpath(f"{name}.csv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


def _setting(row: Mapping[str, str]) -> Setting:
    return Setting(row["data_set"], row["algorithm"], int(row["budget"]) if row["budget"] else None)


def _figures(row: Mapping[str, str]) -> dict[str, Published]:
    quantities = [name.removesuffix("_mean") for name in row if name.endswith("_mean")]
    return {
        name: Published(float(row[f"{name}_mean"]), float(row[f"{name}_sd"]))
        for name in quantities
        if row[f"{name}_mean"]
    }
