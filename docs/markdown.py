"""The pages as Markdown for readers that are programs: each beside its HTML, and `llms.txt`, which lists them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.util.osutil import relative_uri
from sphinx_markdown_builder.translator import MarkdownTranslator

__all__ = ["Translator", "beginning", "setup"]

LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")


class Translator(MarkdownTranslator):
    """Writes a page, with links to the pictures of the site, and without scripts, comments and drawings in HTML."""

    def visit_image(self, node: nodes.image) -> None:
        _, name = self.builder.env.images[node["uri"]]
        self._add_picture(node, name)

    def visit_imgsgnode(self, node: nodes.Element) -> None:
        """Write the picture of a demo, which the gallery copies under its own name."""
        self._add_picture(node, PurePosixPath(node["uri"]).name)

    def _add_picture(self, node: nodes.Element, name: str) -> None:
        url = relative_uri(self.builder.current_doc_name, f"_images/{name}")
        self.add(f"![{node.get('alt', '')}]({url})")

    def visit_comment(self, node: nodes.comment) -> None:
        """Leave out what is for those who write the page."""
        raise nodes.SkipNode

    def visit_caption(self, node: nodes.caption) -> None:
        self.ensure_eol(2)

    def depart_caption(self, node: nodes.caption) -> None:
        self.ensure_eol(2)

    def visit_raw(self, node: nodes.raw) -> None:
        """Leave out what is only for browsers."""
        raise nodes.SkipNode

    def visit_abbreviation(self, node: nodes.abbreviation) -> None:
        """Write the star of a signature, which HTML explains in a tooltip."""

    def depart_abbreviation(self, node: nodes.abbreviation) -> None:
        pass


def beginning(page: str) -> str:
    """Return the first sentence of a page in Markdown, or nothing if it begins with something else."""
    _, _, text = page.partition("# ")
    _, paragraph, *_ = [*text.split("\n\n", 2), ""]
    paragraph = " ".join(paragraph.split()).removeprefix("**When:** ")
    if not paragraph[:1].isalnum():
        return ""
    sentence = re.split(r"(?<=[.!?]) ", paragraph)[0]
    return LINK.sub(r"\1", sentence).rstrip(".:")


def lines(app: Any) -> Iterator[str]:
    """Return the lines of `llms.txt`: the sections of the navigation, and the pages below them."""
    out = Path(app.outdir)

    def listed(name: str, indent: str = "") -> Iterator[str]:
        about = beginning((out / f"{name}.md").read_text())
        title = app.env.titles[name].astext()
        yield f"{indent}- [{title}]({name}.md)" + (f": {about}" if about else "")
        for below in app.env.toctree_includes.get(name, []):
            yield from listed(below, indent + "  ")

    yield f"# {app.config.project}\n"
    yield f"> {beginning((out / 'index.md').read_text())}.\n"
    yield "Each page is Markdown; `.html` in the place of `.md` is the same page for a browser."
    for section in app.env.get_doctree("index").findall(addnodes.toctree):
        yield f"\n## {section['caption']}\n"
        for _, name in section["entries"]:
            yield from listed(name)


def write_index(app: Any, error: Exception | None) -> None:
    if error is None and app.builder.name == "markdown":
        Path(app.outdir, "llms.txt").write_text("\n".join(lines(app)) + "\n")


def link_markdown(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Tell programs that read a page in HTML where its Markdown is."""
    if page in app.env.found_docs:
        name = page.rpartition("/")[2]
        context["metatags"] += f'\n<link rel="alternate" type="text/markdown" href="{name}.md">'


def mark_internal(app: Any, tree: nodes.document, page: str) -> None:
    """Mark links within a page as such: without a mark, they lose their target in Markdown."""
    for link in tree.findall(nodes.reference):
        if "refid" in link:
            link["internal"] = True


def setup(app: Any) -> dict[str, bool]:
    app.setup_extension("sphinx_markdown_builder")
    app.set_translator("markdown", Translator)
    app.connect("doctree-resolved", mark_internal)
    app.connect("html-page-context", link_markdown)
    app.connect("build-finished", write_index)
    return {"parallel_read_safe": True}
