"""Mnemotron beside what a River user would pick instead: accuracy, time and memory.

    python -m benchmarks.mnemotron [--own] [STREAM ...]

Progressive validation of the first 20,000 examples in their order, behind a StandardScaler (Adult9 and
SpamAssassin without one), every feature present in every dict, defaults everywhere. `--own` leaves
River's models out and runs the package's on budgets of 20, 50, 100 and 500. Streams that are not part
of River are read from the folder that RIVER_BUDGET_DATA names, and left out where it lacks them.

"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from river import datasets, evaluate, forest, linear_model, metrics, neighbors, preprocessing, tree
from river.datasets import synth

import river_budget as rb
from benchmarks.streams import load

N = 20_000


def from_arrays(X: np.ndarray, y: np.ndarray) -> list:
    names = [f"f{j}" for j in range(X.shape[1])]
    lines = zip(X[:N].astype(float).tolist(), y[:N].tolist(), strict=True)
    return [(dict(zip(names, x, strict=True)), bool(label)) for x, label in lines]


def stream(name: str) -> list:
    """Return the examples of a stream, labels as booleans."""
    if name == "Bananas":
        return list(datasets.Bananas())
    if name == "Phishing":
        return list(datasets.Phishing())
    if name == "RandomRBFDrift":
        drifting = synth.RandomRBFDrift(
            seed_model=42, seed_sample=42, n_classes=2, n_features=10, n_centroids=50,
            change_speed=0.001, n_drift_centroids=50,
        )  # fmt: skip
        return [(x, y == 1) for x, y in drifting.take(N)]
    file = {"Elec2": "elec2", "Adult9": "adult_a9a", "Pendigits": "pendigits",
            "Covertype": "covtype", "SpamAssassin": "spam_assassin"}[name]  # fmt: skip
    data = load(file)
    if name == "Elec2":
        return from_arrays(data["X"][:, -6:], data["y"] > 0)
    if name == "Pendigits":
        return from_arrays(data["X_train"], np.isin(data["y_train"], [3, 6, 8, 9, 0]))
    if name == "Adult9":
        return from_arrays(data["X_train"], data["y_train"] > 0)
    return from_arrays(data["X"], data["y"] > 0)


GOALS = {
    "Bananas": 89.3, "Phishing": 91.2, "Elec2": 93.8, "Adult9": 84.0, "Pendigits": 99.0,
    "Covertype": 92.3, "SpamAssassin": 97.2, "RandomRBFDrift": 90.1,
}  # fmt: skip
UNSCALED = {"Adult9", "SpamAssassin"}


def knn(window: int) -> neighbors.KNNClassifier:
    return neighbors.KNNClassifier(engine=neighbors.LazySearch(window_size=window))


def rivers() -> dict:
    return {
        "ARFClassifier(10)": forest.ARFClassifier(n_models=10, seed=1),
        "KNNClassifier(100)": knn(100),
        "KNNClassifier(1000)": knn(1000),
        "HoeffdingAdaptiveTree": tree.HoeffdingAdaptiveTreeClassifier(seed=1),
        "LogisticRegression": linear_model.LogisticRegression(),
    }


def ours(budget: int) -> dict:
    return {
        "Mnemotron": rb.Mnemotron(budget),
        "TightestPerceptron": rb.TightestPerceptron(budget=budget),
        "TighterPerceptron": rb.TighterPerceptron(budget=budget, validation=budget, seed=1),
        "ProjectronPlusPlus": rb.ProjectronPlusPlus(budget=budget),
        "Projectron": rb.Projectron(budget=budget),
        "Forgetron": rb.Forgetron(budget=budget),
        "RandomizedBudget": rb.RandomizedBudgetPerceptron(budget=budget, seed=1),
        "RemoveOldest": rb.RemoveOldestPerceptron(budget=budget),
        "FixedBudget": rb.FixedBudgetPerceptron(budget=budget),
        "SimplifiedForgetron": rb.SimplifiedForgetron(budget=budget),
        "ModifiedRandomizedBudget": rb.ModifiedRandomizedBudgetPerceptron(budget=budget, seed=1),
        "Stoptron": rb.Stoptron(budget=budget),
    }


def run(name: str, model, examples: list) -> tuple[float, float, int]:
    """Return accuracy in percent, microseconds an example, and bytes at the end."""
    whole = model if name in UNSCALED else preprocessing.StandardScaler() | model
    start = time.perf_counter()
    accuracy = evaluate.progressive_val_score(examples, whole, metrics.Accuracy()).get()
    microseconds = 1e6 * (time.perf_counter() - start) / len(examples)
    memory = getattr(model, "memory_bytes", None) or model._raw_memory_usage
    return 100 * accuracy, microseconds, memory


def report(name: str, own: bool) -> str:
    try:
        examples = stream(name)
    except FileNotFoundError as error:
        return f"\n{name}: left out, {error.filename} is absent"
    lines = [f"\n{name}, {len(examples):,} examples; Mnemotron's goal: {GOALS[name]} %"]
    for budget in [20, 50, 100, 500] if own else [100]:
        models = ours(budget)
        for model in models.values():
            run(name, model.clone(), examples[:50])
        for label, model in (models if own else {**models, **rivers()}).items():
            accuracy, microseconds, memory = run(name, model, examples)
            label = f"{label} B={budget}" if label in models else label
            lines.append(f"{label:<32}{accuracy:7.2f} %{microseconds:10.1f} µs{memory:12,} bytes")
    return "\n".join(lines)


def main() -> None:
    own = "--own" in sys.argv
    names = [name for name in sys.argv[1:] if name != "--own"] or list(GOALS)
    with ProcessPoolExecutor() as pool:
        for text in pool.map(report, names, [own] * len(names)):
            print(text, flush=True)


if __name__ == "__main__":
    main()
