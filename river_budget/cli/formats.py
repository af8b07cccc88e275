"""Lines as cells, and cells as values: what a line of csv, libsvm or JSON says."""

from __future__ import annotations

import contextlib
import json
import math
import re
import shlex
from collections.abc import Callable
from typing import Any

import numpy as np

from river_budget._state import require

# Cells that have no value, and labels that are missing. The number NaN is another one.
MISSING = ("", "NA", "NaN", "null", None)

INFINITE = (math.inf, -math.inf)

# Dates, and numbers with decimal commas. They are refused: each would be a category of its own.
DATE = re.compile(r"(\d{4}([-/.])\d\d?\2\d\d?|\d\d?([-/.])\d\d?\3\d{4}|\d\d?/\d\d?/\d\d)([T ,].*)?")
DECIMAL_COMMA = re.compile(r"[-+]?(\d+|\d{1,3}([. ]\d{3})+),\d+")

# Numbers where commas are decimal marks. Points and blanks may separate thousands.
WITH_COMMA = re.compile(r"[-+]?(\d+|\d{1,3}([. ]\d{3})+)(,\d+)?([eE][-+]?\d+)?")

# What may separate columns if no delimiter is given.
DELIMITERS = ",;\t|"


def parser_of(line: str, target: str | None) -> Callable[[Any], dict[Any, Any]]:
    """Return the function that parses lines like a first one. In libsvm, no target has a name."""
    if line.lstrip().startswith("{"):
        return parse_json
    label, *pairs = line.partition("#")[0].split() or ["0"]
    is_libsvm = all(":" in pair for pair in pairs) and (bool(pairs) or parsed(label) is not label)
    return parse_libsvm if target is None and is_libsvm else parse_csv


def delimiter_of(header: str) -> str:
    """Return the delimiter that a header of csv has most of, outside of quotes."""
    unquoted = re.sub(r'"[^"]*"', "", header)
    return max(DELIMITERS, key=unquoted.count)


def parse_csv(cells: dict[Any, Any]) -> dict[Any, Any]:
    """Return the cells that the reader of csv has found. Raises ValueError if there are too many or few."""
    is_whole = None not in cells and None not in cells.values()
    require(is_whole, "this line has more or fewer columns than the header")
    return cells


def parse_json(line: str) -> dict[Any, Any]:
    """Return the features and the label. Raises ValueError if the line is no JSON object."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from None
    require(isinstance(row, dict), "not a JSON object")
    return row


def parse_libsvm(line: str) -> dict[Any, Any]:
    """Return the features and the label, whose name is None. Raises ValueError if the line is not valid."""
    try:
        label, *pairs = line.split()
        cells = {name: parsed(value) for name, value in (pair.rsplit(":", 1) for pair in pairs)}
        if len(cells) < len(pairs) or any(isinstance(v, str | bool) for v in cells.values()):
            raise ValueError
        return cells | {None: label_of(label)}
    except ValueError:
        error = "not 'label name:value name:value ...', with each name once"
        raise ValueError(error) from None


def parsed(text: str) -> Any:
    """Return the number or truth value that a text is, or the text."""
    # Python would read 1_0 as a number, too.
    if text.isascii() and "_" not in text:
        kind = int if text.strip().lstrip("+-").isdigit() else float
        with contextlib.suppress(ValueError):
            return kind(text)
    return {"True": True, "False": False}.get(text, text)


def parsed_with_comma(text: str) -> Any:
    """Return what `parsed` does where commas are decimal marks."""
    if WITH_COMMA.fullmatch(text.strip()):
        return parsed(re.sub("[. ]", "", text).replace(",", "."))
    return text if "." in text else parsed(text)


def check_text(text: str, name: Any, is_csv: bool) -> None:
    """Raise ValueError if a text in a column is a date or a number that is written otherwise."""
    what = f"{text!r} in column {name!r}"
    if DATE.fullmatch(text):
        ignore = f"--ignore {shlex.quote(str(name))}"
        raise ValueError(f"{what} is a date: give {ignore}, or convert it to a number")
    if DECIMAL_COMMA.fullmatch(text):
        cure = "give --decimal ," if is_csv else "write it as a number"
        raise ValueError(f"{what} has a decimal comma: {cure}")


def array_or_same(value: Any) -> Any:
    """Return a list of numbers as an array, and anything else as it is."""
    is_list = isinstance(value, list) and value != []
    if is_list and all(type(item) in (int, float) for item in value):
        with contextlib.suppress(OverflowError):
            return np.array(value, np.float64)
    return value


def class_of(cell: Any, is_csv: bool) -> Any:
    """Return the label in a cell; None if it is missing. Raises ValueError if it is none."""
    is_class = not isinstance(cell, list | dict) and cell not in INFINITE
    require(is_class, f"the label is {cell!r}: expected a class")
    return none_if_missing(label_of(cell) if is_csv else cell)


def label_of(text: str) -> Any:
    """Return the label that a text is: a finite number only if it is written as Python would."""
    value = parsed(text)
    is_plain = str(value) == text.strip().removeprefix("+")
    return value if is_plain and value not in INFINITE else text


def none_if_missing(value: Any) -> Any:
    return None if value in MISSING or value != value else value
