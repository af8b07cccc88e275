"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Target = Annotated[
    str | None, typer.Option("--target", help="Name of the label in csv and JSON lines.")
]
Budget = Annotated[int, typer.Option("--budget", min=1, help="Number of support vectors.")]
Gamma = Annotated[
    float | None,
    typer.Option(
        "--gamma", help="Width of the RBF kernel. [default: as published, else 1 / features]"
    ),
]
Models = Annotated[
    str | None,
    typer.Option("--models", help="Names of algorithms, with commas. [default: all]"),
]
Seed = Annotated[int, typer.Option("--seed", help="Seed of everything random.")]
JsonFile = Annotated[Path | None, typer.Option("--json", help="Write all figures to this file.")]
PlotFile = Annotated[Path | None, typer.Option("--plot", help="Draw a picture to this file.")]
