"""What README.md and docs/promises.md say, compared with the package and its tests."""

from __future__ import annotations

import ast
import functools
import pathlib
import re

import pytest
import snippets

import river_budget as rb
from river_budget.catalog import ALGORITHMS

ROOT = pathlib.Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
KEYED = (ROOT / "docs" / "keyed.md").read_text()
PROMISES = (ROOT / "docs" / "promises.md").read_text()
PAGES = [
    "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/keyed.md", "docs/promises.md",
    "docs/embeddings.md",    "benchmarks/RESULTS.md",
]  # fmt: skip


def test_the_table_of_algorithms_is_the_catalog():
    section = README.partition("## Algorithms\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    cells = [re.fullmatch(r"\| `(\w+)` \| (.+) \| (.+) \|", row).groups() for row in rows]
    assert [name for name, _, _ in cells] == list(ALGORITHMS)
    for name, _, source in cells[1:]:
        cited = re.findall(r"\[\^\d\]: \[(.+?)\]", ALGORITHMS[name].model.__doc__)
        assert source.startswith(tuple(cited)), name
    assert cells[0][::2] == ("Mnemotron", "its docstring")


@pytest.fixture
def application(tmp_path):
    """Return the names that the text calls the reader's own: a Quix application and its topics."""
    pytest.importorskip("quixstreams")
    import mock_kafka

    with mock_kafka.broker() as address:
        app = mock_kafka.application(address, "readme", state_dir=tmp_path)
        yield {"app": app, "events": app.topic("events"), "answers": app.topic("answers")}


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README.md", "docs/embeddings.md"])
def test_the_snippets_run_as_one_script(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    snippets.run(ROOT / page, {})


@pytest.mark.slow
def test_the_first_snippet_prints_the_result_that_is_shown(capsys):
    code, _ = next(snippets.blocks(README, "python"))
    exec(code, {})
    assert f"prints `{capsys.readouterr().out.strip()}`" in README


@pytest.mark.slow
def test_the_line_for_quix_runs(application):
    from river_budget.keyed import KeyedLearner, quix

    (line,) = [line for line in KEYED.splitlines() if line.startswith("quix.apply(")]
    learner = KeyedLearner(lambda: rb.TightestPerceptron(budget=50))
    exec(line, {"quix": quix, "learner": learner, **application})


@pytest.mark.parametrize("page", PAGES)
def test_every_relative_link_leads_to_a_file(page):
    path = ROOT / page
    links = re.findall(r"\]\(([^)\s]+)\)", path.read_text())
    relative = [link.partition("#")[0] for link in links if "://" not in link]
    assert [link for link in relative if not (path.parent / link).exists()] == []


@functools.cache
def functions(path):
    return {node.name for node in ast.parse(path.read_text()).body if hasattr(node, "name")}


def test_every_promise_names_a_test_that_exists():
    rows = [line for line in PROMISES.splitlines() if line.startswith("| ")][1:]
    assert rows
    for row in rows:
        tests = re.findall(r"`(tests/[^`]+)::(\w+)`", row)
        assert tests, row
        for file, name in tests:
            assert name in functions(ROOT / file), f"{file}::{name}"
