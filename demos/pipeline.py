"""Seven classes, a scaler, and a kernel width that River's model selection finds.

python demos/pipeline.py [PICTURE]

"""

from __future__ import annotations

import sys
from pathlib import Path

from matplotlib.figure import Figure
from river import datasets, evaluate, metrics, model_selection, multiclass, preprocessing, utils

import river_budget as rb

GAMMAS = [0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0]


def models_of_all_widths() -> list:
    """Return a scaled one-against-the-rest classifier for each gamma."""
    perceptrons = utils.expand_param_grid(
        rb.TightestPerceptron(budget=50), {"kernel": [(rb.RBF, {"gamma": GAMMAS})]}
    )
    return [
        preprocessing.StandardScaler() | multiclass.OneVsRestClassifier(perceptron)
        for perceptron in perceptrons
    ]


def main() -> None:
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "pipeline.png")
    stream = datasets.ImageSegments()

    # Half of the models are given up again and again, until the stream or the models are used up.
    selection = model_selection.SuccessiveHalvingClassifier(
        models_of_all_widths(), metrics.Accuracy(), budget=2000
    )
    score = evaluate.progressive_val_score(stream, selection, metrics.Accuracy())
    chosen = selection.best_model["OneVsRestClassifier"].classifier.kernel
    print(f"while it searches: {score}")
    print(f"it settles on {chosen}")

    print("each width by itself:")
    accuracies = []
    for gamma, model in zip(GAMMAS, models_of_all_widths(), strict=True):
        score = evaluate.progressive_val_score(stream, model, metrics.Accuracy())
        accuracies.append(100 * score.get())
        print(f"  gamma {gamma:<6}{score}")

    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.subplots()
    axes.semilogx(GAMMAS, accuracies, "o-")
    axes.axvline(chosen.gamma, color="black", linestyle="--", label="chosen while learning")
    axes.set(xlabel="gamma", ylabel="accuracy (%)", title="image segments, budget 50 a class")
    axes.legend()
    figure.savefig(path, dpi=80)
    print(f"saved {path}")


if __name__ == "__main__":
    main()
