"""The tools that build the documentation site."""

from __future__ import annotations

import pytest

from docs import links


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
    assert not docstrings.is_attribute(Run)
