"""Mnemotron compared with the package's perceptrons and with River's models: accuracy, time, memory.

    python -m benchmarks.mnemotron [--own] [STREAM ...]

Progressive validation of the first 20,000 examples in order, after a StandardScaler (none on Adult9 and
SpamAssassin), with every feature present in every dict and default parameters. `--own` leaves out
River's models and runs the package's on budgets of 20, 50, 100 and 500. Streams that are not part of
River are read from the directory given by RIVER_BUDGET_DATA and left out if they are absent.

"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor

from river import preprocessing

from benchmarks.models import ours, rivers, run
from benchmarks.streams import named
from river_budget.datasets import DatasetError

GOALS = {
    "Bananas": 89.3, "Phishing": 91.2, "Elec2": 93.8, "Adult9": 84.0, "Pendigits": 99.0,
    "Covertype": 92.3, "SpamAssassin": 97.2, "RandomRBFDrift": 90.1,
}  # fmt: skip
UNSCALED = {"Adult9", "SpamAssassin"}


def scaled(name: str, model):
    return model if name in UNSCALED else preprocessing.StandardScaler() | model


def report(name: str, own: bool) -> str:
    try:
        examples = named(name)
    except DatasetError as error:
        return f"\n{name}: left out, {error}"
    lines = [f"\n{name}, {len(examples):,} examples; Mnemotron's goal: {GOALS[name]} %"]
    for budget in [20, 50, 100, 500] if own else [100]:
        models = ours(budget)
        for model in models.values():
            run(scaled(name, model.clone()), examples[:50])
        for label, model in (models if own else {**models, **rivers()}).items():
            accuracy, microseconds, memory = run(scaled(name, model), examples)
            label = f"{label} B={budget}" if label in models else label
            lines.append(f"{label:<42}{accuracy:7.2f} %{microseconds:10.1f} µs{memory:12,} bytes")
    return "\n".join(lines)


def main() -> None:
    own = "--own" in sys.argv
    names = [name for name in sys.argv[1:] if name != "--own"] or list(GOALS)
    with ProcessPoolExecutor() as pool:
        for text in pool.map(report, names, [own] * len(names)):
            print(text, flush=True)


if __name__ == "__main__":
    main()
