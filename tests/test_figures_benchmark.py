"""The figures of the documentation: measured into one file, and written from it."""

from __future__ import annotations

import json
import re

import pytest

from benchmarks import figures
from benchmarks.leaderboard import page

FOUND = json.loads(figures.RESULTS.read_text())
# These are records of commands; the leaderboard is made from a file of its own.
RECORDS = {"RESULTS.md", "leaderboard.md"}
PAGES = {path.relative_to(figures.ROOT).as_posix(): path for path in figures.PAGES}


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_a_page_shows_what_the_file_says_and_no_other_figure(page):
    text = page.read_text()
    assert text.count("<!-- figures: ") == len(figures.BLOCK.findall(text))
    assert figures.written(text, FOUND) == text
    if page.name not in RECORDS:
        assert figures.strays(text) == []


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
    text = (figures.ROOT / "docs" / "choosing.md").read_text()
    assert figures.strays(f"{text}\n{planted}\n") == found


def test_a_figure_that_is_changed_between_the_marks_is_found():
    text = (figures.ROOT / "docs" / "choosing.md").read_text()
    start = figures.BLOCK.search(text).start()
    changed = re.sub(r"\.\d", ".x", text[start:], count=1)
    assert figures.written(text[:start] + changed, FOUND) == text


@pytest.mark.slow
def test_the_leaderboard_is_what_its_file_says(monkeypatch):
    """All but its pictures."""
    monkeypatch.setattr(page, "svg", lambda draw, name: "<svg></svg>\n")
    docs = figures.ROOT / "docs"
    made = page.page(json.loads((docs / "leaderboard.json").read_text()))
    pictures = re.compile(r"<svg.*?</svg>", re.DOTALL)
    assert pictures.sub("", made) == pictures.sub("", (docs / "leaderboard.md").read_text())


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """Return a function that measures parts whose figures are their names, and returns the file."""
    path = tmp_path / "results.json"
    monkeypatch.setattr(figures, "RESULTS", path)
    monkeypatch.setattr(figures, "PARTS", {name: lambda n=name: {"is": n} for name in "ab"})

    def measured(*parts, commit="1"):
        monkeypatch.setattr(figures, "settings", lambda: {"commit": commit})
        figures.measure(list(parts))
        return json.loads(path.read_text())

    return measured


def test_parts_are_merged(measured):
    assert measured("a") == {"settings": {"commit": "1"}, "a": {"is": "a"}}
    assert measured("b") == {"settings": {"commit": "1"}, "a": {"is": "a"}, "b": {"is": "b"}}


def test_no_page_is_written_before_all_is_measured(measured, monkeypatch, capsys):
    monkeypatch.setattr(figures, "PAGES", None)
    measured("a")
    figures.write()
    assert "measured: b" in capsys.readouterr().out


def test_parts_of_other_settings_are_not_merged(measured):
    measured("a", "b")
    with pytest.raises(SystemExit, match="measure all"):
        measured("b", commit="2")
    assert measured("a", "b", commit="2")["settings"] == {"commit": "2"}
