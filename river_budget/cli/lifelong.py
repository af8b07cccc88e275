from __future__ import annotations

import math
from typing import Annotated

import typer

from river_budget import evaluate, synth
from river_budget.cli import models, options, output, sources
from river_budget.cli.app import app

__all__ = ["lifelong"]

HEADINGS = ["error %", "final %", "backward", "forward", "forgets", "recovery", "bytes"]


@app.command()
def lifelong(
    concepts: Annotated[
        str,
        typer.Option(
            help="'turns' (two Gaussians at four angles), 'boards' (a board of four squares "
            f"at three offsets), or streams with commas: {sources.NAMES}."
        ),
    ] = "turns",
    visits: Annotated[
        int, typer.Option(min=1, help="Number of visits to each concept, in turn.")
    ] = 2,
    learn: Annotated[int, typer.Option(min=1, help="Number of examples of one visit.")] = 1000,
    test: Annotated[
        int, typer.Option(min=1, help="Number of fresh examples to test each concept on.")
    ] = 500,
    target: options.Target = None,
    budget: options.Budget = 100,
    gamma: options.Gamma = None,
    names: options.Models = None,
    seed: options.Seed = 42,
    json_file: options.JsonFile = None,
    plot_file: options.PlotFile = None,
) -> None:
    """Let every algorithm live through concepts that come and go, and tell what it forgets.

    The table has the error over the whole life, the accuracy on all concepts at the end, backward
    and forward transfer, forgetting, and the mean number of examples to recover from a drift.

    """
    output.check_folders(json_file, plot_file)
    plots = output.import_plots(plot_file) if plot_file else None
    world = _world(concepts, target, seed)
    kernel = models.rbf(world[0].gamma if gamma is None else gamma)
    rows = [sources.rows(source.examples, concepts, test + visits * learn) for source in world]
    lives, scale = {}, any(source.scale for source in world)
    chosen = models.algorithms(names)
    with output.progress(len(chosen)) as advance:
        for name, algorithm in chosen.items():
            model = models.build(algorithm, kernel, budget, seed, scale)
            try:
                lives[name] = evaluate.lifelong(
                    model, rows, visits * list(range(len(rows))), learn, test
                )
            except ValueError as error:
                raise typer.BadParameter(f"{concepts}: {error}") from None
            advance(name)
    title = f"{concepts}: {len(rows)} concepts, {visits} visits of {learn:,} examples, budget {budget}, {kernel}"
    output.print_table(title, HEADINGS, [[name, *_cells(life)] for name, life in lives.items()])
    if json_file:
        content = {name: life.to_dict() for name, life in lives.items()}
        output.write_json(json_file, {"title": title, "models": content})
    if plots:
        plots.plot_lives(lives, title, plot_file)


def _world(names: str, target: str | None, seed: int) -> list[sources.Source]:
    if names == "turns":
        angles = [i * math.pi / 4 for i in range(4)]
        streams = [synth.RotatingGaussians(speed=0, start=a, seed=seed) for a in angles]
        return [sources.Source(stream, 1.0, scale=False) for stream in streams]
    if names == "boards":
        offsets = [0.0, 0.5, 1.0]
        boards = [
            synth.ShiftingCheckerboard(squares=2, shift=0, start=o, seed=seed) for o in offsets
        ]
        return [sources.Source(board, 5.0, scale=False) for board in boards]
    return [sources.source(name, target, seed) for name in names.split(",")]


def _cells(life: evaluate.Life) -> list[str]:
    return [
        f"{100 * life.error:.1f}",
        f"{100 * life.average_accuracy:.1f}",
        f"{life.backward_transfer:+.3f}",
        f"{life.forward_transfer:+.3f}",
        f"{life.forgetting:+.3f}",
        f"{life.mean_recovery_time:,.0f}",
        f"{life.memory_bytes:,}",
    ]
