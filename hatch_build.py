"""Metadata from the one address in pyproject.toml: the project's links, and a README that works anywhere."""

from __future__ import annotations

import pathlib
import re

from hatchling.metadata.plugin.interface import MetadataHookInterface

# What stands between the address and the path of a page, and between the address and that of a picture.
PAGES, PICTURES = "blob/main", "raw/main"
LINK = re.compile(r"(?P<picture>!?)(?P<text>\[[^\]]*\])\((?!https?://|#)(?P<path>[^)\s]+)\)")


def absolute(text: str, home: str) -> str:
    """Return Markdown whose relative links and pictures begin with an address."""

    def replaced(link: re.Match[str]) -> str:
        place = PICTURES if link["picture"] else PAGES
        return f"{link['picture']}{link['text']}({home}/{place}/{link['path']})"

    return LINK.sub(replaced, text)


class AddressHook(MetadataHookInterface):
    """Sets the README and the links of the project."""

    def update(self, metadata: dict) -> None:
        home = self.config["home"]
        readme = pathlib.Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": absolute(readme, home),
        }
        metadata["urls"] = {
            "Homepage": home,
            "Documentation": f"{home}/{PAGES}/docs",
            "Changelog": f"{home}/{PAGES}/CHANGELOG.md",
            "Issues": f"{home}/issues",
        }
