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


class ProjectronDataSet(NamedTuple):
    """A data set of the Projectron paper, and sigma^2 of the Gaussian kernel on it."""

    n_train: int
    sigma_squared: float


class ProjectronResult(NamedTuple):
    """Mistakes in percent, and the size of the support set where it is not the budget."""

    mistakes: Published
    support: Published | None


class TightestDataSet(NamedTuple):
    """A data set of the Tightest paper, and delta^2 of the Gaussian kernel on it."""

    n_train: int
    n_test: int
    n_features: int
    delta_squared: float


@functools.cache
def projectron_data_sets() -> Mapping[str, ProjectronDataSet]:
    """Return the data sets of Tables 1 to 3 of the Projectron paper."""
    return {
        row["data_set"]: ProjectronDataSet(int(row["n_train"]), float(row["sigma_squared"]))
        for row in _rows("projectron_data_sets")
    }


@functools.cache
def projectron_results() -> Mapping[Setting, ProjectronResult]:
    """Return Tables 1 to 3 of the Projectron paper."""
    return {
        _setting(row): ProjectronResult(_published(row, "mistakes"), _published(row, "support"))
        for number in (1, 2, 3)
        for row in _rows(f"projectron_table_{number}")
    }


@functools.cache
def tightest_data_sets() -> Mapping[str, TightestDataSet]:
    """Return Table 1 of the Tightest paper."""
    return {
        name: TightestDataSet(*map(int, sizes), float(delta_squared))
        for name, *sizes, delta_squared in map(dict.values, _rows("tightest_table_1"))
    }


@functools.cache
def tightest_accuracies() -> Mapping[Setting, Published]:
    """Return Table 2 of the Tightest paper: test accuracies in percent."""
    return {_setting(row): _published(row, "accuracy") for row in _rows("tightest_table_2")}


def tightest_support() -> Mapping[str, int]:
    """Return the Perceptron's support vectors by data set, from Table 2 of the Tightest paper."""
    return _perceptron_support("tightest_table_2_support")


def forgetron_support() -> Mapping[str, int]:
    """Return the Perceptron's support vectors by data set, from Figure 2 of the Forgetron paper."""
    return _perceptron_support("forgetron_figure_2")


@functools.cache
def bsgd_accuracies() -> Mapping[Setting, Published]:
    """Return parts of Table 3 of the budgeted SGD paper: test accuracies in percent."""
    return {_setting(row): _published(row, "accuracy") for row in _rows("bsgd_table_3")}


def _rows(name: str) -> list[dict[str, str]]:
    text = importlib.resources.files(__name__).joinpath(f"{name}.csv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


def _setting(row: Mapping[str, str]) -> Setting:
    return Setting(row["data_set"], row["algorithm"], int(row["budget"]) if row["budget"] else None)


def _published(row: Mapping[str, str], quantity: str) -> Published | None:
    mean, sd = (row[f"{quantity}_{figure}"] for figure in ("mean", "sd"))
    return Published(float(mean), float(sd)) if mean else None


def _perceptron_support(name: str) -> dict[str, int]:
    return {row["data_set"]: int(row["perceptron_support"]) for row in _rows(name)}
