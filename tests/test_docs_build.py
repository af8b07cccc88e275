"""The tools that build the documentation site."""

from __future__ import annotations

import pathlib
import re

import pytest

from docs import links

DOCS = pathlib.Path(__file__).parents[1] / "docs"


@pytest.fixture
def site(tmp_path):
    def write(**pages):
        for name, body in pages.items():
            (tmp_path / f"{name}.html").write_text(f"<html><body>{body}</body></html>")
        return tmp_path

    return write


def test_links_that_lead_somewhere(site):
    out = site(
        a='<a href="b.html#there">x</a> <a href="#here">y</a> <p id="here"></p>'
        ' <a href="https://riverml.xyz">z</a>',
        b='<h1 id="there"></h1> <a href="a.html?q=1">x</a>',
    )
    assert links.broken(out) == []


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('<a href="c.html">x</a>', "a.html: c.html does not exist"),
        ('<img src="c.png">', "a.html: c.png does not exist"),
        ('<a href="#gone">x</a>', "a.html: #gone has no such anchor"),
        ('<a href="a.html#gone">x</a>', "a.html: a.html#gone has no such anchor"),
        (
            '<script src="https://example.org/x.js"></script>',
            "a.html: https://example.org/x.js is loaded from elsewhere",
        ),
    ],
)
def test_links_that_lead_nowhere(site, body, fault):
    assert links.broken(site(a=body)) == [fault]


@pytest.mark.parametrize(
    ("link", "shown"),
    [
        ("[x](../demos/drift.py)", "[x](demos/drift.rst)"),
        ("[x](../../demos/drift.py)", "[x](../demos/drift.rst)"),
        ("[x](../benchmarks/RESULTS.md#data)", "[x](results.md#data)"),
        ("[x](../../benchmarks/RESULTS.md#data)", "[x](../results.md#data)"),
        ("![x](../demos/drift.png)", "![x](../demos/drift.png)"),
    ],
)
def test_links_to_files_lead_to_the_pages_that_show_them(link, shown):
    assert links.to_pages(link) == shown


def test_names_in_links_break_before_a_capital():
    link = '<a href="api/BudgetedOGD.html">BudgetedOGD</a>'
    assert links.breakable(link) == '<a href="api/BudgetedOGD.html">Budgeted<wbr>OGD</a>'
    assert links.breakable("<p>BudgetedOGD</p>") == "<p>BudgetedOGD</p>"


def test_docstrings_become_restructured_text():
    docstrings = pytest.importorskip("docs.docstrings")
    assert docstrings.to_rst("as in [^1]") == "as in [1]"
    assert (
        docstrings.to_rst("    [^1]: [Dekel 2005](https://a.b/c), Figure 1")
        == "    | [1] `Dekel 2005 <https://a.b/c>`__, Figure 1"
    )


def test_what_the_sections_of_a_class_say_is_no_member():
    docstrings = pytest.importorskip("docs.docstrings")
    from river_budget.evaluate import ContinualRun, Run

    assert docstrings.is_attribute(Run.figures)
    assert not docstrings.is_attribute(ContinualRun.forgetting), "it has more to say"
    assert not docstrings.is_attribute(ContinualRun.figures), "left to the property"
    assert not docstrings.is_attribute(Run)


def test_the_table_of_all_names_has_those_of_each_page():
    table = pytest.importorskip("docs.names").table()
    assert "\n   RBF\n" in table
    assert "\n   checkpoint.save\n" in table
    assert table.index("   Calibrated\n") < table.index("   metrics.CalibrationError\n")


@pytest.mark.parametrize(
    ("page", "sentence"),
    [
        ("# Title\n\nOne. Two.\n", "One"),
        ("<a id='title'></a>\n\n# Title\n\nOne.\n", "One"),
        ("# Title\n\nA version 1.5 of\n[this](that.md) is here:\n\n- x\n", "A version 1.5 of this is here"),
        ("# Title\n\n**When:** always.\n\n**Source:** x\n", "always"),
        ("# Title\n\n## Section\n\nText.\n", ""),
        ("# Title\n", ""),
    ],
)  # fmt: skip
def test_a_page_is_listed_with_its_first_sentence(page, sentence):
    assert pytest.importorskip("docs.markdown").beginning(page) == sentence


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return the directory of a site of a few pages of the API, in HTML and in Markdown."""
    sphinx = pytest.importorskip("sphinx.cmd.build")
    pytest.importorskip("furo")
    source = tmp_path_factory.mktemp("docs")
    names = ["Mnemotron", "Calibrated", "RBF"]
    (source / "conf.py").write_text(
        f"""
from docs.conf import *
extensions = [name for name in extensions if not name.startswith("sphinx_gallery")]
templates_path = [{str(DOCS / "_templates")!r}]
html_static_path = html_css_files = []
"""
    )
    (source / "index.rst").write_text(
        "A site\n======\n\nA few pages.\n\n.. toctree::\n   :caption: Reference\n\n   models\n"
    )
    (source / "models.rst").write_text(
        "Models\n======\n\nWhat learns.\n\nSee Below_.\n\nBelow\n-----\n\n.. raw:: html\n\n   <p>drawn</p>\n\n"
        ".. currentmodule:: river_budget\n.. autosummary::\n   :toctree: api\n\n   "
        + "\n   ".join(names)
    )
    for builder in ("html", "markdown"):
        assert sphinx.main(["-W", "-q", "-b", builder, str(source), str(source / "site")]) == 0
    return source / "site"


@pytest.fixture(scope="module")
def api(built):
    """Return a function that gives the text of a page of the API."""

    def page(name):
        return (built / "api" / f"river_budget.{name}.html").read_text()

    return page


def members(page):
    """Return the ids of the members on a page of a class, without that of the class."""
    return re.findall(r'<dt class="sig[^"]*" id="river_budget\.\w+\.(\w+)"', page)


def signature(page, name):
    """Return the text of a signature on one line."""
    found = page.partition(f'id="river_budget.{name}"')[2].partition(">")[2].partition("</dt>")[0]
    return " ".join(re.sub("<[^>]*>", "", found).split())


@pytest.mark.slow
def test_the_page_of_a_model_has_what_it_inherits_from_this_package(api):
    page = api("Mnemotron")
    assert {"learn_one", "predict_one", "predict_proba_one", "novelty_one"} <= set(members(page))
    assert "w: float = 1.0" in signature(page, "Mnemotron.learn_one")
    assert "budget: int = 100" in signature(page, "Mnemotron")
    assert "Predict the label of a set of features" in page
    assert {"mutate", "check_label", "state", "n_support"}.isdisjoint(members(page))
    assert {"learn_one", "predict_proba_one"} <= set(members(api("Calibrated")))
    assert "mutate" not in members(api("RBF"))


@pytest.mark.slow
def test_each_page_is_beside_its_html_as_markdown(built, api):
    page = (built / "api" / "river_budget.RBF.md").read_text()
    assert page.startswith("# RBF\n")
    assert "```pycon\n>>>" in page
    assert 'type="text/markdown" href="river_budget.RBF.md"' in api("RBF")


@pytest.mark.slow
def test_markdown_has_the_links_of_a_page_but_not_what_is_drawn(built):
    page = (built / "models.md").read_text()
    assert "drawn" not in page
    assert "See [Below](#below)." in page


@pytest.mark.slow
def test_all_pages_are_listed_for_programs(built):
    first, *others = (built / "llms.txt").read_text().splitlines()
    assert first == "# river_budget"
    assert "> A few pages." in others
    assert others[others.index("## Reference") + 1 :] == [
        "",
        "- [Models](models.md): What learns",
        *(
            f"  - [{name}](api/river_budget.{name}.md)"
            for name in ("Mnemotron", "Calibrated", "RBF")
        ),
    ]
