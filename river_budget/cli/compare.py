from __future__ import annotations

from itertools import repeat
from typing import Annotated

import typer

from river_budget import evaluate
from river_budget.cli import models, options, output, sources
from river_budget.cli.app import CommandError, app

__all__ = ["compare"]

HEADINGS = ["mistakes %", "support", "bytes", "µs/example"]
FORMATS = [".2f", ",.0f", ",.0f", ".2f"]


@app.command()
def compare(
    stream_name: sources.Name = "gaussians",
    target: options.Target = None,
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
    """Run every algorithm on one stream by progressive validation, and print a table."""
    output.check_directories(json_file, plot_file)
    plots = output.import_plots(plot_file) if plot_file else None
    source = sources.source(stream_name, target, seed)
    rows = sources.rows(source.examples, stream_name, limit)
    kernel = models.rbf(source.gamma if gamma is None else gamma)
    chosen = {
        name: models.build(algorithm, kernel, budget, seed, source.scale)
        for name, algorithm in models.algorithms(names).items()
    }
    with output.progress(len(chosen) * permutations) as advance:
        try:
            comparison = evaluate.compare(chosen, rows, permutations, seed, after_run=advance)
        except ValueError as error:
            raise CommandError(f"{stream_name}: {error}") from None
    with_kernel = models.described(kernel)
    title = f"{stream_name}: {len(rows):,} examples, budget {budget}, {with_kernel}"
    lines = [
        [name, *map(_cell, figures.values(), FORMATS, repeat(permutations))]
        for name, figures in comparison.summary().items()
    ]
    output.print_table(title, HEADINGS, lines)
    if json_file:
        output.write_json(json_file, {"title": title, "models": comparison.to_dict()})
    if plots:
        plots.plot_comparison(comparison, title, plot_file)


def _cell(figure: tuple[float, float], spec: str, permutations: int) -> str:
    mean, deviation = figure
    return f"{mean:{spec}}" + (f" ± {deviation:{spec}}" if permutations > 1 else "")
