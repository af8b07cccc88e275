"""The links of the pages: where they lead on the site, where they break, and those of a built site that lead nowhere."""

from __future__ import annotations

import html.parser
import re
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["breakable", "broken", "to_pages"]

# Links to files of the repository that pages of the site show.
DEMO = re.compile(r"\]\(((?:\.\./)*)\.\./demos/(\w+)\.py\)")
RESULTS = re.compile(r"\]\(((?:\.\./)*)\.\./benchmarks/RESULTS\.md")

# The text of a link, and where a name in it may break.
TEXT = re.compile(r"(?<=>)\w+(?=</a>)")
CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")

# What a page loads, as opposed to what a reader may follow.
LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("object", "data")}
# Relations of `link` that load nothing.
IDLE = {"canonical", "next", "prev", "index", "search", "author", "copyright"}


class Link(NamedTuple):
    """A link of a page."""

    url: str
    is_loaded: bool


class Page(html.parser.HTMLParser):
    """The links and anchors of one page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[Link] = []
        self.anchors = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        is_idle = not IDLE.isdisjoint(values.get("rel", "").split())
        for name in ("href", "src", "data"):
            if values.get(name):
                self.links.append(Link(values[name], (tag, name) in LOADED and not is_idle))


def to_pages(text: str) -> str:
    """Return Markdown whose links to demos and results lead to their pages on the site."""
    return RESULTS.sub(r"](\1results.md", DEMO.sub(r"](\1demos/\2.rst)", text))


def breakable(navigation: str) -> str:
    """Return HTML whose links may break within the names of classes, before a capital."""
    return TEXT.sub(lambda text: CAPITAL.sub("<wbr>", text[0]), navigation)


def broken(site: Path) -> list[str]:
    """Return a message for each local link without a target, and for each file loaded from elsewhere."""
    pages = {path.resolve(): Page(path.read_text()) for path in sorted(site.rglob("*.html"))}
    return [
        f"{path.relative_to(site.resolve())}: {link.url} {message}"
        for path, page in pages.items()
        for link in page.links
        for message in _faults(path, link, pages)
    ]


def _faults(path: Path, link: Link, pages: dict[Path, Page]) -> Iterator[str]:
    url = urllib.parse.urlsplit(link.url)
    if url.scheme or url.netloc:
        if link.is_loaded and url.scheme != "data":
            yield "is loaded from elsewhere"
        return
    target = path if not url.path else (path.parent / urllib.parse.unquote(url.path)).resolve()
    if not target.exists():
        yield "does not exist"
    elif target in pages and urllib.parse.unquote(url.fragment) not in pages[target].anchors:
        yield "has no such anchor"
