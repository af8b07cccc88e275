"""Draws the pictures of the concepts, the recipes and the algorithms: `python -m docs.draw`.

They have no background and grey texts, so that they suit a light page and a dark one.

"""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import river_budget as rb
from river_budget import plots, synth
from river_budget.theory import certify

HERE = Path(__file__).parent

GREY = "0.5"
RED, BLUE, GREEN = "#d1495b", "#3d7ea6", "#4c9f70"
STYLE = {
    "axes.edgecolor": GREY,
    "axes.facecolor": "none",
    "axes.labelcolor": GREY,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.facecolor": "none",
    "legend.frameon": False,
    "legend.labelcolor": GREY,
    "svg.hashsalt": "docs",
    "text.color": GREY,
    "xtick.color": GREY,
    "ytick.color": GREY,
}
KERNEL = rb.RBF(gamma=1.0)
BUDGET = 100


def budget(axes: Axes) -> None:
    """Draw the support vectors of a perceptron without and with a budget."""
    models = {
        "KernelPerceptron": (rb.KernelPerceptron(KERNEL), RED),
        f"Forgetron(budget={BUDGET})": (rb.Forgetron(KERNEL, BUDGET), BLUE),
    }
    for name, (model, color) in models.items():
        sizes = []
        for x, y in synth.TwoGaussians(2000, seed=42):
            model.learn_one(x, y)
            sizes.append(model.n_support)
        axes.plot(sizes, color=color, label=name)
    axes.set(xlabel="examples", ylabel="support vectors")
    axes.legend()


def margin(axes: Axes) -> None:
    """Draw the hinge loss of a margin, and what each range of margins is called."""
    margins = np.linspace(-1.5, 2, 200)
    axes.plot(margins, np.maximum(0, 1 - margins), color=BLUE)
    for left, right, color, name in [
        (-1.5, 0, RED, "mistake"), (0, 1, "#e0a030", "margin error"), (1, 2, GREEN, "right")
    ]:  # fmt: skip
        axes.axvspan(left, right, color=color, alpha=0.15, linewidth=0)
        axes.text((left + right) / 2, 2.6, name, ha="center")
    axes.set(xlabel="margin y f(x)", ylabel="hinge loss", xlim=(-1.5, 2), ylim=(0, 2.8))


def support_set(axes: Axes) -> None:
    """Draw the support vectors of a model, as large as their coefficients, and its boundary."""
    model = rb.ProjectronPlusPlus(KERNEL, budget=20)
    for x, y in synth.TwoGaussians(2000, seed=42):
        model.learn_one(x, y)
    grid = np.linspace(-4, 4, 80)
    values = [[model.decision_function_one({0: a, 1: b}) for a in grid] for b in grid]
    axes.contourf(grid, grid, values, levels=[-99, 0, 99], colors=[BLUE, RED], alpha=0.15)
    axes.contour(grid, grid, values, levels=[0], colors=[GREY])
    points = np.array([[x.get(0, 0.0), x.get(1, 0.0)] for x in model.support_vectors])
    colors = np.where(model.coefficients > 0, RED, BLUE)
    sizes = np.abs(model.coefficients) / np.abs(model.coefficients).max()
    axes.scatter(*points.T, c=colors, s=200 * sizes)
    axes.set(xlim=(-4, 4), ylim=(-4, 4), xticks=[], yticks=[], aspect="equal")


def mistake_bound(axes: Axes) -> None:
    """Draw the mistakes of a Forgetron and the bound on them."""
    stream = synth.RotatingGaussians(500, speed=0, flip=0.02, seed=1)
    certificate = certify(rb.Forgetron(KERNEL, 1000), stream)
    axes.plot(certificate.examples, certificate.bounds, "--", color=RED, label="bound")
    axes.plot(certificate.examples, certificate.mistakes, color=BLUE, label="mistakes")
    axes.set(xlabel="examples", ylim=(0, None))
    axes.legend()


def recipe(name: str) -> dict[str, Any]:
    """Return the names that the code of a recipe defines."""
    names: dict[str, Any] = {}
    for example in doctest.DocTestParser().get_examples((HERE / "recipes" / name).read_text()):
        exec(example.source, names)
    return names


def alerts(axes: Axes) -> None:
    """Draw what alerts above each threshold cost."""
    names = recipe("alerts.md")
    thresholds = np.geomspace(0.004, 0.6, 40)
    models = {
        "Calibrated(Tighter)": (rb.Calibrated(rb.TighterPerceptron(budget=100)), BLUE),
        "Calibrated(Mnemotron)": (rb.Calibrated(rb.Mnemotron(budget=100)), GREEN),
        "Mnemotron": (rb.Mnemotron(budget=100), RED),
    }
    for name, (model, color) in models.items():
        pairs = names["forecasts"](model)
        costs = [names["cost"](pairs, threshold) for threshold in thresholds]
        axes.semilogx(thresholds, costs, color=color, label=name)
    axes.axvline(names["ALERT"] / names["MISS"], color=GREY, linestyle=":")
    axes.set(xlabel="alert above this probability", ylabel="cost", ylim=(0, None))
    axes.legend()


def router(axes: Axes) -> None:
    """Draw the doubt about known and unknown questions, and the threshold that is learned."""
    log = list(enumerate(recipe("router.md")["log"]))[::5]
    for is_known, color, name in [(True, BLUE, "known intent"), (False, RED, "none of these")]:
        points = [(t, doubt) for t, (doubt, _, y, _) in log if (y is not None) is is_known]
        axes.plot(*zip(*points, strict=True), ".", color=color, markersize=3, label=name)
    axes.plot(
        *zip(*[(t, threshold) for t, (_, threshold, *_) in log], strict=True),
        color=GREY,
        label="threshold",
    )
    axes.set(xlabel="questions", ylabel="doubt", ylim=(0, 1))
    axes.figure.legend(loc="outside upper center", ncols=3, columnspacing=1, markerscale=4)


def alarms(axes: Axes) -> None:
    """Draw the error rates of a model that does not follow drift, with and without an alarm."""
    names = recipe("alarms.md")
    labels = {"tightest": "Tightest", "retrained": "Tightest, retrained", "mnemotron": "Mnemotron"}
    for (key, label), color in zip(labels.items(), (RED, BLUE, GREEN), strict=True):
        rates = np.convolve(names[key], np.full(100, 0.01), "valid")
        axes.plot(np.arange(100, 4001)[::10], rates[::10], color=color, label=label)
    axes.set(xlabel="examples", ylabel="errors in the last 100", ylim=(0, 1))
    axes.legend()


def sets(axes: Axes) -> None:
    """Draw coverage and size of the sets of a recipe, whose topics move half-way through."""
    names = recipe("sets.md")
    plots.draw_prediction_sets(axes, names["labels"], names["sets"], coverage=0.95)
    plots.mark_drifts(axes, [names["N"] // 2 - names["DELAY"] - 1])


def why(axes: Axes) -> None:
    """Draw why a false alarm about a payment was given."""
    plots.draw_explanation(axes, recipe("why.md")["false_alarm"])


def relevances(axes: Axes) -> None:
    """Draw the relevances of six features, two of which tell the label, and after a switch two others."""
    rng, model = np.random.default_rng(0), rb.Mnemotron(budget=100)
    rounds, history = [], []
    for t, row in enumerate(rng.normal(size=(20_000, 6)).tolist()):
        a, b = row[:2] if t < 10_000 else row[2:4]
        model.learn_one({f"x{j + 1}": value for j, value in enumerate(row)}, a * b > 0)
        if t % 256 == 255:
            rounds.append(t + 1)
            history.append(model.relevances_)
    plots.draw_relevances(axes, rounds, history)
    plots.mark_drifts(axes, [10_000])


def regions(axes: Axes) -> None:
    """Draw what a model with regions says of a checkerboard of 6 x 6 cells, and its regions."""
    rng, model = np.random.default_rng(0), rb.Mnemotron(budget=100, regions=32)
    for u, v in rng.uniform(0, 6, size=(20_000, 2)).tolist():
        model.learn_one({"u": u, "v": v}, (int(u) + int(v)) % 2 == 0)
    plots.draw_regions(axes, model, ("u", "v"), (0, 6))


DRAWN = {
    "algorithms": (relevances, regions),
    "concepts": (budget, margin, support_set, mistake_bound),
    "recipes": (alerts, why, router, sets, alarms),
}


def main() -> None:
    pictures = [(folder, draw) for folder, functions in DRAWN.items() for draw in functions]
    with matplotlib.rc_context(STYLE):
        for folder, draw in pictures:
            path = HERE / folder / f"{draw.__name__}.svg"
            figure = Figure(figsize=(4.5, 3), layout="constrained")
            draw(figure.subplots())
            figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
