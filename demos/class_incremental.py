"""Classes that arrive
===================

Which models keep the classes that they have learned, while new ones arrive?

Ten classes arrive in five tasks, two at a time, and all of them come back once. Each class is four
clusters in the plane, scattered among those of the others.

``python demos/class_incremental.py [PICTURE]``

"""

from __future__ import annotations

import sys
from pathlib import Path

from matplotlib.figure import Figure
from river import multiclass, naive_bayes, neighbors

import river_budget as rb
from river_budget import evaluate, plots, synth

KERNEL = rb.RBF(gamma=0.5)
BUDGETS = [100, 200]
STREAM = synth.ClassIncremental(clusters_per_class=4, separation=3.0, seed=42)

PERCEPTRONS = {
    "Remove oldest": lambda budget: rb.RemoveOldestPerceptron(KERNEL, budget),
    "Forgetron": lambda budget: rb.Forgetron(KERNEL, budget),
    "Projectron++": lambda budget: rb.ProjectronPlusPlus(KERNEL, budget=budget),
    "Tightest": lambda budget: rb.TightestPerceptron(KERNEL, budget),
}
SHARED = {
    f"{name} {budget}": make(budget) for budget in BUDGETS for name, make in PERCEPTRONS.items()
}
OTHERS = {
    "One-vs-rest, 10 x 20": multiclass.OneVsRestClassifier(rb.RemoveOldestPerceptron(KERNEL, 20)),
    "KNN 200": neighbors.KNNClassifier(engine=neighbors.LazySearch(window_size=200)),
    "GaussianNB": naive_bayes.GaussianNB(),
}


def trained(model):
    """Return a copy of a model that has learned each task once."""
    learner = model.clone()
    for x, y in STREAM.take(len(STREAM.tasks) * STREAM.samples_per_task):
        learner.learn_one(x, y)
    return learner


def main() -> None:
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "class_incremental.png")
    tasks = STREAM.tasks
    sequence = 2 * list(range(len(tasks)))
    runs = {
        name: evaluate.lifelong(model, tasks, sequence, n_test=200)
        for name, model in (SHARED | OTHERS).items()
    }

    print(f"{'accuracy (%)':<22}{'all tasks once':>15}{'twice':>7}{'forgetting':>12}", end="")
    print(f"{'µs/example':>12}")
    for name, run in runs.items():
        once, twice = (100 * run.accuracy_seen[i] for i in (len(tasks) - 1, -1))
        print(f"{name:<22}{once:>15.1f}{twice:>7.1f}", end="")
        print(f"{100 * run.class_forgetting_avg:>12.1f}{run.microseconds_per_example:>12.1f}")

    figure = Figure(figsize=(12, 8), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=[4, 3])
    left, right = above.subplots(1, 2, width_ratios=[3, 2])
    plots.draw_accuracy_seen(left, runs)
    left.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small")
    plots.draw_class_forgetting(right, runs)
    below.suptitle(f"after all tasks once, budget {BUDGETS[-1]}")
    for axes, name in zip(below.subplots(1, len(PERCEPTRONS)), PERCEPTRONS, strict=True):
        model = trained(PERCEPTRONS[name](BUDGETS[-1]))
        plots.draw_decision_regions(axes, model, (0, 1), (-16.0, 16.0), n_points=120)
        axes.set_title(name, fontsize="small")
    figure.savefig(path, dpi=80)
    print(f"saved {path}")


if __name__ == "__main__":
    main()
