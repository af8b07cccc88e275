"""What the pages of the documentation site say, compared with the package and its tests."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import pathlib
import re
import subprocess
import sys
import types

import estimator_checks
import pytest
import snippets
from test_layers import LAYERS

import river_budget as rb
from river_budget import synth
from river_budget.catalog import ALGORITHMS
from river_budget.theory import bounds

ROOT = pathlib.Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(
    page
    for folder in ["", "algorithms/", "recipes/", "reference/"]
    for page in DOCS.glob(f"{folder}*.md")
)
THEORY = (DOCS / "theory.md").read_text()
API = "".join(page.read_text() for page in sorted(DOCS.glob("reference/*.md")))

# Packages whose public names the API reference lists, and whose classes describe their attributes.
PACKAGES = [
    "calibration", "checkpoint", "datasets", "evaluate", "explanation", "keyed", "metrics", "preprocessing",
    "synth", "testing", "theory",
]  # fmt: skip


def each(pages):
    return pytest.mark.parametrize(
        "page", pages, ids=lambda page: page.relative_to(DOCS).as_posix()
    )


@pytest.fixture(scope="session")
def files():
    """Return the files that git tracks, or all where there is no repository."""
    if not (ROOT / ".git").exists():
        return {path for path in ROOT.rglob("*") if path.is_file()}
    listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True)
    return {ROOT / name for name in listed.split("\0")}


def lost_links(page, files):
    """Return the relative links of a page that lead to none of the files."""
    links = re.findall(r"\]\(([^)\s#]+)[^)\s]*\)", page.read_text())
    relative = [link for link in links if "://" not in link]
    return [link for link in relative if (page.parent / link).resolve() not in files]


def test_every_relative_link_leads_to_a_file_of_the_repository(files):
    lost = {page: lost_links(page, files) for page in PAGES}
    assert {page: links for page, links in lost.items() if links} == {}


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "benchmarks/RESULTS.md"])
def test_no_link_beside_the_pages_leads_to_a_file_that_is_built(name, files):
    assert lost_links(ROOT / name, files) == []


def test_a_link_to_a_file_that_is_built_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("[here](page.md#top), [built](demos/drift.rst), [away](https://riverml.xyz)\n")
    assert lost_links(page, {page}) == ["demos/drift.rst"]


@pytest.mark.slow
@each([page for page in PAGES if "```pycon" in page.read_text()])
def test_every_example_gives_what_the_page_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert snippets.failures(page) == ""


@pytest.mark.slow
def test_the_algorithm_of_the_page_is_a_whole_classifier(tmp_path, monkeypatch):
    """As a class of a module, so that its pickles are checked, too."""
    monkeypatch.chdir(tmp_path)
    module = types.ModuleType("own_algorithm")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert snippets.failures(DOCS / "algorithms/your_own.md", vars(module)) == ""
    model = module.SmallestCoefficientPerceptron(budget=10)
    estimator_checks.run(model)
    for x, y in synth.TwoGaussians(200, seed=1):
        model.learn_one(x, y)
    assert model.n_support == 10
    assert model.removed > 0


def test_an_example_that_gives_something_else_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```pycon\n>>> x = 1\n```\n\n```pycon\n>>> x\n1\n>>> x\n2\n```\n")
    assert snippets.failures(page).count("Expected:") == 1
    assert "line 8" in snippets.failures(page)


@functools.cache
def names_in(file):
    tree = ast.parse((ROOT / file).read_text())
    return {getattr(node, "name", None) for node in tree.body}


@each([page for page in PAGES if "`tests/" in page.read_text()])
def test_every_test_that_a_page_names_exists(page):
    for file, name in re.findall(r"`(tests/[^`]+)::(\w+)`", page.read_text()):
        assert name in names_in(file), f"{file}::{name}"


@pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=ALGORITHMS)
def test_every_algorithm_has_a_page(algorithm):
    module = algorithm.model.__module__
    slug = "mnemotron" if "mnemotron" in module else module.rpartition(".")[2]
    page = (DOCS / "algorithms" / f"{slug}.md").read_text()
    assert page.startswith(f"# {algorithm.name}\n")
    assert "{literalinclude}" in page
    assert f"[{algorithm.name}]({slug}.md)" in (DOCS / "algorithms" / "index.md").read_text()


SHOWN = re.compile(r"\{literalinclude\} (\S+)\n:pyobject: (\S+)")
NATIVE = re.compile(r"\{literalinclude\} (\S+)\n:.*\n:start-at: (.*)\n:end-\w+: (.*)\n")


@each([page for page in PAGES if "{literalinclude}" in page.read_text()])
def test_the_code_that_a_page_shows_exists(page):
    text = page.read_text()
    python, native = SHOWN.findall(text), NATIVE.findall(text)
    assert len(python) + len(native) == text.count("{literalinclude}")
    for file, name in python:
        body = ast.parse((page.parent / file).read_text()).body
        for part in name.split("."):
            (body,) = (node.body for node in body if getattr(node, "name", None) == part)
    for file, start, end in native:
        _, found, after = (page.parent / file).read_text().partition(start)
        assert found
        assert end in after


def test_every_bound_is_in_the_theory():
    makers = [
        name
        for name, function in inspect.getmembers(bounds, inspect.isfunction)
        if inspect.signature(function).return_annotation == "Guarantee"
    ]
    assert makers
    assert [name for name in makers if f"`bounds.{name}`" not in THEORY] == []


DEMOS = [path for path in sorted((ROOT / "demos").glob("*.py")) if path.name != "mock_kafka.py"]


@pytest.mark.parametrize("path", DEMOS, ids=lambda path: path.name)
def test_every_demo_has_a_title_for_its_page(path):
    title, underline, blank, *_ = ast.get_docstring(ast.parse(path.read_text())).splitlines()
    assert underline == "=" * len(title)
    assert blank == ""


def listed(name):
    return re.search(rf"^   {re.escape(name)}$", API, re.MULTILINE) is not None


def test_the_api_lists_every_public_name():
    names = [name for name in rb.__all__ if not inspect.ismodule(getattr(rb, name))]
    assert [name for name in names if not listed(name)] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_the_api_lists_every_public_name_of_a_package(package):
    module = importlib.import_module(f"river_budget.{package}")
    names = [name for name in module.__all__ if not listed(f"{package}.{name}")]
    assert [name for name in names if not listed(name)] == []


def public_properties(kind):
    """Return the properties that a class of this package defines itself or inherits from one."""
    return {
        name
        for base in kind.__mro__
        if base.__module__.startswith("river_budget")
        for name, value in vars(base).items()
        if isinstance(value, property) and value.__doc__ and not name.startswith("_")
    }


def test_an_algorithm_of_your_own_has_what_its_page_says():
    text = (DOCS / "algorithms/your_own.md").read_text()
    names = set(re.findall(r"`f\.(\w+)", text))
    assert len(names) > 10
    assert names - set(dir(rb.Forgetron()._f)) == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_every_class_describes_its_attributes(package):
    module = importlib.import_module(f"river_budget.{package}")
    classes = [getattr(module, name) for name in module.__all__]
    for kind in filter(inspect.isclass, classes):
        owners = [base for base in kind.__mro__ if base.__module__.startswith("river_budget")]
        sections = [(inspect.getdoc(base) or "").partition("\nAttributes\n")[2] for base in owners]
        names = re.findall(r"^\w.*$", "\n".join(sections), re.MULTILINE)
        described = set(re.findall(r"\w+", " ".join(names)))
        assert public_properties(kind) - described == set(), kind.__name__


def test_the_table_of_layers_is_the_one_that_imports_follow():
    contributing = (ROOT / "CONTRIBUTING.md").read_text()
    first_cells = re.findall(r"^\| (`[^|]+) \|", contributing, re.MULTILINE)
    assert [re.findall(r"`(\w+)`", cell) for cell in first_cells] == LAYERS


def test_the_docstring_of_a_package_lists_its_modules():
    module = importlib.import_module("river_budget.base")
    names = [path.stem for path in pathlib.Path(module.__file__).parent.glob("[!_]*.py")]
    assert [name for name in names if f"`{name}`" not in module.__doc__] == []
