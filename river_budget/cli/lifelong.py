from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import islice
from typing import Annotated

import typer

from river_budget import evaluate
from river_budget.cli import files, named, options, output
from river_budget.cli.app import app

# The columns of the table: a figure of a run, its factor and its format.
COLUMNS = {
    "error %": ("prequential_error", 100, ".1f"),
    "final acc. %": ("accuracy_final", 100, ".1f"),
    "seen acc. %": ("accuracy_seen_avg", 100, ".1f"),
    "backward": ("backward_transfer", 1, "+.3f"),
    "forward": ("forward_transfer", 1, "+.3f"),
    "forgetting": ("forgetting", 1, "+.3f"),
    "recovery": ("mean_recovery_time", 1, ",.0f"),
    "bytes": ("memory_bytes", 1, ","),
}


@app.command()
def lifelong(
    task_names: Annotated[
        str,
        typer.Argument(
            metavar="TASKS",
            help="'rotating-gaussians' (two Gaussians at four angles), 'checkerboards' (2 x 2 "
            "squares at three offsets), 'class-incremental' (ten classes, two of which each task "
            f"brings), or streams separated by commas: {options.STREAMS}.",
        ),
    ] = "rotating-gaussians",
    cycles: Annotated[
        int, typer.Option(min=1, help="How many times the model goes through all tasks.")
    ] = 2,
    learn: Annotated[
        int, typer.Option(min=1, help="Number of new examples each time a task is learned.")
    ] = 1000,
    test: Annotated[int, typer.Option(min=1, help="Number of test examples for each task.")] = 500,
    target: options.Target = None,
    features: options.Features = None,
    ignored: options.Ignored = None,
    delimiter: options.Delimiter = None,
    budget: options.Budget = 100,
    gamma: options.Gamma = None,
    names: options.Models = None,
    seed: options.Seed = 42,
    json_file: options.JsonFile = None,
    plot_file: options.PlotFile = None,
) -> None:
    """Print what algorithms learn and forget over several tasks.

    The table shows the prequential error, the final accuracy over all tasks, the mean accuracy over
    the tasks learned so far, backward and forward transfer, forgetting, the mean number of examples to
    recover from a drift, and the model size. If tasks bring new labels, two more tables show the
    accuracy over the tasks learned so far after each step, and the forgetting of each class.
    """
    columns = files.Columns(target, features, ignored, delimiter)
    tasks = _tasks(task_names, columns, seed, test + cycles * learn)
    kernel = named.rbf(tasks[0].gamma if gamma is None else gamma)
    rows = [task.rows for task in tasks]
    sequence = cycles * list(range(len(rows)))
    runs = {}
    chosen = named.algorithms(names)
    with output.progress(len(chosen)) as advance:
        for name, algorithm in chosen.items():
            model = algorithm.build(kernel, budget, seed)
            with files.blaming(task_names):
                runs[name] = evaluate.lifelong(model, rows, sequence, learn, test)
            advance(f"{name} done")
    title = (
        f"{task_names}: {len(rows)} tasks, {cycles} x {learn:,} examples each, "
        f"budget {budget}, {named.described(kernel)}"
    )
    output.print_table(title, list(COLUMNS), [[name, *_cells(run)] for name, run in runs.items()])
    brings_new_classes = next(iter(runs.values())).brings_new_classes
    if brings_new_classes:
        _print_classes(runs)
    figures = {name: run.to_dict() for name, run in runs.items()}
    plot = "plot_class_incremental_runs" if brings_new_classes else "plot_continual_runs"
    output.report(json_file, plot_file, title, figures, plot, runs)


def _tasks(names: str, columns: files.Columns, seed: int, limit: int) -> list[named.Stream]:
    from river_budget import synth  # slow to import

    tasks: Iterable[Iterable[named.Example]]
    if names == "rotating-gaussians":
        angles, gamma = [i * math.pi / 4 for i in range(4)], 1.0
        tasks = [synth.RotatingGaussians(speed=0, start=a, seed=seed) for a in angles]
    elif names == "checkerboards":
        offsets, gamma = [0.0, 0.5, 1.0], 5.0
        tasks = [
            synth.ShiftingCheckerboard(squares=2, shift=0, start=o, seed=seed) for o in offsets
        ]
    elif names == "class-incremental":
        tasks, gamma = synth.ClassIncremental(seed=seed).tasks, 0.5
    else:
        return [named.stream(name, columns, seed, limit) for name in names.split(",")]
    return [named.Stream(list(islice(task, limit)), gamma) for task in tasks]


def _print_classes(runs: dict[str, evaluate.ContinualRun]) -> None:
    run = next(iter(runs.values()))
    output.print_table(
        "accuracy (%) over the tasks learned so far, after each step",
        [f"task {j}" for j in run.task_sequence],
        [[name, *_percents(run.accuracy_seen)] for name, run in runs.items()],
    )
    output.print_table(
        "forgetting (%) of each class",
        [str(label) for label in run.classes],
        [[name, *_percents(run.class_forgetting)] for name, run in runs.items()],
    )


def _percents(shares: Iterable[float]) -> list[str]:
    return ["-" if share != share else f"{100 * share:.1f}" for share in shares]


def _cells(run: evaluate.ContinualRun) -> list[str]:
    figures = run.figures
    return [f"{factor * figures[name]:{spec}}" for name, factor, spec in COLUMNS.values()]
