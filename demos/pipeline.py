"""A pipeline and the choice of gamma
==================================

A multi-class pipeline with a scaler, whose kernel width River's model selection chooses.

``python demos/pipeline.py [PICTURE]``

"""

from __future__ import annotations

import sys
from pathlib import Path

from matplotlib.figure import Figure
from river import datasets, evaluate, metrics, model_selection, multiclass, preprocessing, utils

import river_budget as rb

GAMMAS = [0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0]


def candidates() -> list:
    """Return a scaled one-vs-rest classifier for each gamma."""
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

    # Successive halving drops the worse half of the candidates again and again.
    selection = model_selection.SuccessiveHalvingClassifier(
        candidates(), metrics.Accuracy(), budget=2000
    )
    score = evaluate.progressive_val_score(stream, selection, metrics.Accuracy())
    chosen = selection.best_model["OneVsRestClassifier"].classifier.kernel
    print(f"successive halving: {score}")
    print(f"  selected {chosen}")

    print("each gamma alone:")
    accuracies = []
    for gamma, model in zip(GAMMAS, candidates(), strict=True):
        score = evaluate.progressive_val_score(stream, model, metrics.Accuracy())
        accuracies.append(100 * score.get())
        print(f"  gamma {gamma:<6}{score}")

    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.subplots()
    axes.semilogx(GAMMAS, accuracies, "o-")
    axes.axvline(chosen.gamma, color="black", linestyle="--", label="selected")
    axes.set(xlabel="gamma", ylabel="accuracy (%)", title="ImageSegments, budget 50 per class")
    axes.legend()
    figure.savefig(path, dpi=80)
    print(f"saved {path}")


if __name__ == "__main__":
    main()
