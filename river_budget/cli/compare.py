from __future__ import annotations

from itertools import repeat
from typing import Annotated

import typer

from river_budget import evaluate
from river_budget.cli import files, named, options, output
from river_budget.cli.app import app

HEADINGS = ["mistakes %", "support", "bytes", "µs/example"]
FORMATS = [".2f", ",.0f", ",.0f", ".2f"]


@app.command()
def compare(
    stream_name: options.Stream = "gaussians",
    target: options.Target = None,
    features: options.Features = None,
    ignored: options.Ignored = None,
    delimiter: options.Delimiter = None,
    budget: options.Budget = 100,
    gamma: options.Gamma = None,
    names: options.Models = None,
    permutations: Annotated[
        int, typer.Option(min=1, help="Number of orders; 1 keeps the stream's own.")
    ] = 1,
    limit: Annotated[int | None, typer.Option(min=1, help="Number of examples.")] = None,
    seed: options.Seed = 42,
    json_file: options.JsonFile = None,
    plot_file: options.PlotFile = None,
) -> None:
    """Run every algorithm on one stream, and print the best first.

    Validation is progressive: each example is predicted, then learned. The line below the table says
    which algorithms chance may have put behind the first.
    """
    columns = files.Columns(target, features, ignored, delimiter)
    rows, published = named.stream(stream_name, columns, seed, limit)
    kernel = named.rbf(published if gamma is None else gamma)
    chosen = {
        name: algorithm.build(kernel, budget, seed)
        for name, algorithm in named.algorithms(names).items()
    }
    n_rounds = len(rows) * len(chosen) * permutations
    with output.progress(n_rounds) as advance, files.blaming(stream_name):
        comparison = evaluate.compare(chosen, rows, permutations, seed, after_examples=advance)
    title = f"{stream_name}: {len(rows):,} examples, budget {budget}, {named.described(kernel)}"
    lines = [
        [name, *map(_cell, figures.values(), FORMATS, repeat(permutations))]
        for name, figures in comparison.ranking()
    ]
    output.print_table(title, HEADINGS, lines)
    if len(lines) > 1:
        print(comparison.verdict())
    figures = comparison.to_dict()
    output.report(json_file, plot_file, title, figures, "plot_comparison", comparison)


def _cell(figure: tuple[float, float], spec: str, permutations: int) -> str:
    mean, deviation = figure
    return f"{mean:{spec}}" + (f" ± {deviation:{spec}}" if permutations > 1 else "")
