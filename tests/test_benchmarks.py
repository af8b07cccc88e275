"""The benchmarks: what is measured, what is kept, and what the pages show of it."""

from __future__ import annotations

import ast
import json
import re

import pytest

from benchmarks import all as command
from benchmarks import cells, pages
from benchmarks.cells import Cell, Section
from benchmarks.sections import SECTIONS
from river_budget.datasets import DatasetError

# What is a record of commands, or a table of other things than figures.
RECORDS = {"RESULTS.md", "leaderboard.md"}
PAGES = {path.relative_to(cells.ROOT).as_posix(): path for path in pages.PAGES}


@pytest.mark.slow
@pytest.mark.parametrize("section", SECTIONS.values(), ids=SECTIONS)
def test_every_section_measures_cells_and_makes_its_tables(section, tmp_path):
    if missing := section.missing():
        pytest.skip(missing)
    try:
        found = cells.run(section.cells(True), tmp_path / "cells.jsonl", 1)
    except DatasetError as error:
        pytest.skip(str(error))
    assert json.loads(json.dumps(found)) == found
    for block, table in section.tables.items():
        assert table(found), block


@pytest.mark.parametrize("section", SECTIONS.values(), ids=SECTIONS)
def test_no_two_cells_have_one_place(section):
    places = [(cell.row, cell.column) for cell in section.cells(False)]
    assert len(places) == len(set(places))


def doubled(value, log):
    with open(log, "a") as file:
        file.write(f"{value} ")
    return 2 * value


@pytest.fixture
def section(tmp_path, monkeypatch):
    """Return a function that measures a section, and returns the values that were measured, and its file."""
    log = tmp_path / "log"
    monkeypatch.setattr(cells, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(cells, "CACHE", tmp_path / "cache")

    def measured(*values, code="1", again=False):
        log.write_text("")
        monkeypatch.setattr(cells, "settings", lambda: {"code": code})
        own = Section(
            "own",
            lambda is_quick: [Cell("row", str(v), doubled, (v, str(log))) for v in values],
            {},
            minutes=0,
        )
        cells.measure(own, 1, again=again)
        return log.read_text().split(), cells.stored(own)

    return measured


def test_a_cell_is_measured_once(section):
    assert section(1, 2)[0] == ["1", "2"]
    done, stored = section(1, 2, 3)
    assert done == ["3"]
    assert stored == {"settings": {"code": "1"}, "cells": {"row": {"1": 2, "2": 4, "3": 6}}}


def test_cells_of_other_code_are_measured_again(section):
    section(1)
    assert section(1, code="2")[0] == ["1"]
    assert section(1, code="1")[0] == []
    assert section(1, code="1", again=True)[0] == ["1"]


def test_a_line_that_was_cut_off_is_measured_again(section, tmp_path):
    section(1, 2)
    path = tmp_path / "cache" / "1" / "own.jsonl"
    path.write_text(path.read_text()[:-3])
    done, stored = section(1, 2)
    assert done == ["2"]
    assert stored["cells"] == {"row": {"1": 2, "2": 4}}


def test_docstrings_and_comments_do_not_change_the_code():
    source = '"""A."""\ndef f(x):\n    """B."""\n    return x + 1  # c\n'
    same = '"""Other."""\ndef f(x):\n    return x + 1\n'
    assert cells.without_docstrings(source) == cells.without_docstrings(same)
    for changed in (source.replace("1", "2"), source.replace("f(x)", "f(x, y)")):
        assert cells.without_docstrings(source) != cells.without_docstrings(changed)
    ast.parse(source)


def test_a_section_that_is_unknown_is_refused():
    with pytest.raises(SystemExit, match="no section is called 'shrot': give short"):
        command.main(["shrot"])


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_a_page_shows_what_the_files_say_and_no_other_figure(page):
    text = page.read_text()
    assert text.count("<!-- figures: ") == len(pages.BLOCK.findall(text))
    assert pages.written(text) == text
    if page.name not in RECORDS:
        assert pages.strays(text) == []


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ("Mnemotron has 95.3 % on Elec2.", ["95.3 %"]),
        ("A round takes 47 to 118 µs.", ["118 µs"]),
        ("It takes 0.9 MB.", ["0.9 MB"]),
        ("| Elec2 | 95.3 | 93.7 / 4.1 |", ["95.3", "93.7 / 4.1"]),
        ("```\n95.3 %\n```\nA budget of 100 and `95.3 %`.", []),
    ],
)
def test_a_figure_that_is_planted_is_found(planted, found):
    text = (cells.ROOT / "docs" / "choosing.md").read_text()
    assert pages.strays(f"{text}\n{planted}\n") == found


def test_a_figure_that_is_changed_between_the_marks_is_found():
    text = (cells.ROOT / "docs" / "choosing.md").read_text()
    start = pages.BLOCK.search(text).start()
    changed = re.sub(r"\.\d", ".x", text[start:], count=1)
    assert pages.written(text[:start] + changed) == text


def test_every_block_is_on_a_page():
    shown = {block for page in pages.PAGES for _, block, _ in pages.BLOCK.findall(page.read_text())}
    assert pages.TABLES.keys() - shown == set()
