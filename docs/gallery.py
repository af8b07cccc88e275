"""How sphinx-gallery runs the demos: each gets a file for its picture, which is shown on its page."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst

__all__ = ["arguments", "shown"]

DEMOS = Path(__file__).parents[1] / "demos"
PICTURES = Path("..", "docs", "pictures")


def arguments(settings: dict[str, Any], script: dict[str, Any]) -> list[str]:
    """Return the arguments of a demo, which runs in its own directory."""
    name = Path(script["src_file"]).with_suffix(".png").name
    (DEMOS / PICTURES).mkdir(exist_ok=True)
    return [str(PICTURES / name)]


def shown(block: Any, variables: dict[str, Any], settings: dict[str, Any]) -> str:
    """Return the reStructuredText of the picture that a demo has saved."""
    (saved,) = arguments(settings, variables)
    if not (DEMOS / saved).exists():
        return ""
    path = next(variables["image_path_iterator"])
    shutil.move(DEMOS / saved, path)
    return figure_rst([path], settings["src_dir"])
