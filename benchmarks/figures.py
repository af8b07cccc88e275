"""The figures of the documentation: measured into one file, and written from it into the pages.

    RIVER_BUDGET_DATA=DIR python -m benchmarks.figures [PART ...]

measures the parts, all by default, and writes the tables between the marks of README.md, docs and
RESULTS.md; `write` only writes. `benchmarks/results.json` keeps the figures, and the settings once: a
part by itself joins others of the same settings; without the file, the first part begins a new one. On two quiet
cores `accuracy` takes about 8 minutes, `cost` 6, `leaderboard` 10 and `first` 2.

- `first`: seconds to build the wheel, and from the start of Python to the result of the README's first
  example (median of 5 fresh processes).
- `accuracy`: progressive validation of at most 5,000 examples of each stream of `benchmarks.suite`
  but those of MNIST and clinc150, where a forest takes hours. River's models and IE-GP are behind a
  StandardScaler, the package's see the values as they are. Two processes.
- `cost`: `benchmarks.costs` with ten features, 20 % of the labels flipped and learned widths; the best of
  three runs.
- `leaderboard`: the package's rows of `benchmarks.leaderboard`.

`benchmarks.scale` measures the figures of `docs/scale.md` into a file of its own.

"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import river
from river import preprocessing

import river_budget as rb
from benchmarks import costs, mnemotron, scale
from benchmarks.leaderboard import __main__ as leaderboard
from benchmarks.multiclass import markdown
from benchmarks.suite import BINARY, STREAMS
from river_budget.catalog import ALGORITHMS

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results.json"
PAGES = [ROOT / "README.md", ROOT / "benchmarks/RESULTS.md", *sorted(ROOT.glob("docs/**/*.md"))]

BLOCK = re.compile(r"(<!-- figures: (\w+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)
CODE = re.compile(r"^```.*?^```$|`[^`\n]+`|\$[^$]+\$", re.DOTALL | re.MULTILINE)
# A number with the unit of an accuracy, a time or a memory, and a cell of a table with nothing else.
FIGURE = re.compile(
    r"[\d.,]*\d\s?(?:%|µs|ms\b|kB|KB|MB|GB|microseconds|milliseconds|seconds|points|bytes)"
    r"|(?<=\|) *[-+]?\d[-+±/%(). ,\d]*(?=\|)"
)

N_EXAMPLES = 5_000
N_RUNS = 3
LEFT_OUT = {"MNIST, 3 or 8", "MNIST (10)", "clinc150 (150)"}
UNSCALED = {
    "Mnemotron": lambda: rb.Mnemotron(budget=100),
    "Mnemotron, B=50": lambda: rb.Mnemotron(budget=50),
    "ProjectronPlusPlus": lambda: rb.ProjectronPlusPlus(budget=100),
    "TightestPerceptron": lambda: rb.TightestPerceptron(budget=100),
    "Forgetron": lambda: rb.Forgetron(budget=100),
    "RemoveOldestPerceptron": lambda: rb.RemoveOldestPerceptron(budget=100),
    "KernelLDA": lambda: rb.KernelLDA(seed=1),
    "KernelPAClassifier": rb.KernelPAClassifier,
}
SCALED = ["IE-GP", "ARFClassifier(10)", "KNNClassifier(1000)", "LogisticRegression"]
MODELS = [*UNSCALED, *SCALED]

BUDGETS = [20, 50, 100, 500, 1000]
BY_BUDGET = [
    "RemoveOldestPerceptron", "Forgetron", "ProjectronPlusPlus", "TightestPerceptron", "Mnemotron",
    "KNNClassifier",
]  # fmt: skip
WITHOUT_BUDGET = ["KernelLDA", "IE-GP", "ARFClassifier(10)", "LogisticRegression"]

Figures = dict[str, Any]


def settings() -> dict[str, Any]:
    """Return what all figures depend on."""
    commit = ["git", "log", "-1", "--format=%h", "--", "river_budget"]
    return {
        "examples": N_EXAMPLES, "commit": subprocess.check_output(commit, cwd=ROOT, text=True).strip(),
        "processor": processor(), "cores": os.cpu_count(), "Python": platform.python_version(),
        "River": river.__version__, "NumPy": np.__version__,
    }  # fmt: skip


def processor() -> str:
    """Return the name of the processor, or what kind it is where nothing says more."""
    found = Path("/proc/cpuinfo")
    names = re.findall(r"model name\s*: (.*)", found.read_text()) if found.exists() else []
    return next(iter(names), platform.machine())


def first() -> Figures:
    """Return the time to build the wheel, the time to the first result, and that result."""
    (code, *_) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    runs = [timed([sys.executable, "-c", code]) for _ in range(5)]
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory, "source")
        timed(["git", "clone", "--quiet", str(ROOT), str(source)])
        options = ["--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", directory]
        build, _ = timed([sys.executable, "-m", "pip", "wheel", *options, str(source)])
    seconds = statistics.median(seconds for seconds, _ in runs)
    return {"build": build, "seconds": seconds, "result": runs[0][1].splitlines()[0]}


def timed(command: list[str]) -> tuple[float, str]:
    """Return the seconds that a command takes, and what it prints."""
    start = time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE)
    return time.perf_counter() - start, done.stdout


def accuracy() -> Figures:
    """Return the figures of each model on each stream."""
    names = [name for name in STREAMS if name not in LEFT_OUT]
    with ProcessPoolExecutor(2) as pool:
        return dict(zip(names, pool.map(on_stream, names), strict=True))


def on_stream(stream: str) -> dict[str, Figures]:
    """Return the figures of each model on a stream, without times."""
    examples, is_binary = STREAMS[stream](N_EXAMPLES), stream in BINARY
    found = {}
    for name in MODELS:
        if name in UNSCALED:
            model = UNSCALED[name]()
        else:
            model = preprocessing.StandardScaler() | mnemotron.MODELS[name](is_binary)
        figures = mnemotron.measure(model, examples, is_binary)._asdict()
        del figures["microseconds"], figures["bytes"]
        found[name] = {figure: round(value, 5) for figure, value in figures.items()}
    print(f"{stream}: {found['Mnemotron']['accuracy']:.2f}", file=sys.stderr, flush=True)
    return found


def cost() -> Figures:
    """Return microseconds a round, in the best of some runs, and bytes of each model, by budget."""
    cells = [(name, budget) for name in BY_BUDGET for budget in BUDGETS]
    cells += [(name, 100) for name in WITHOUT_BUDGET]
    found: Figures = {}
    # Each run goes through all models, since other work may slow a machine down for seconds.
    for i in range(N_RUNS):
        for name, budget in cells:
            measured = costs.cost(name, costs.Setting(budget=budget))
            best = found.setdefault(name, {}).setdefault(str(budget), {"microseconds": math.inf})
            best["microseconds"] = min(best["microseconds"], round(measured.microseconds, 2))
            best["bytes"] = measured.memory
            print(f"run {i + 1}, {name}, {budget}: {measured}", file=sys.stderr, flush=True)
    return found


def board() -> Figures:
    """Measure the package's rows of the leaderboard again, which has a file of its own."""
    leaderboard.main(["--again", *ALGORITHMS])
    return {}


PARTS: dict[str, Callable[[], Figures]] = {
    "first": first, "accuracy": accuracy, "cost": cost, "leaderboard": board
}  # fmt: skip


def mean(found: Figures, model: str, figure: str = "accuracy") -> float:
    return statistics.mean(row[model][figure] for row in found["accuracy"].values())


def short(value: float) -> str:
    """Return a number with a decimal if it is below 100."""
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def cost_of(found: Figures, model: str, budget: int = 100) -> dict[str, str]:
    """Return the columns of time and memory; empty ones if they grow with the stream."""
    figures = found["cost"].get(model, {}).get(str(budget))
    if figures is None:
        return {"µs": "grows", "kB": "grows"}
    return {"µs": short(figures["microseconds"]), "kB": short(figures["bytes"] / 1000)}


def first_result(found: Figures) -> str:
    figures = found["first"]
    return (
        f"It prints `{figures['result']}`, {figures['seconds']:.1f} seconds after Python was started. "
        f"Building the package took {figures['build']:.0f} seconds."
    )


# What one wants, the page of the model to take, and its names in both parts.
CHOICES = [
    ("accuracy without tuning, on streams that drift or not", "Mnemotron", "mnemotron", 100),
    ("the same with a third of the memory", "Mnemotron", "mnemotron", 50),
    ("speed, on a stream that does not drift", "TightestPerceptron", "tightest", 100),
    ("speed under drift", "ProjectronPlusPlus", "projectron_plus_plus", 100),
    ("the smallest state, drift, and a mistake bound", "Forgetron", "forgetron", 100),
    ("the least time", "RemoveOldestPerceptron", "remove_oldest", 100),
    ("classes that arrive one after the other; embeddings", "KernelLDA", "kernel_lda", 100),
]


def which(found: Figures) -> str:
    """Return the table of what to take."""
    rows = {}
    for wish, name, page, budget in CHOICES:
        is_default = budget == 100
        code = name if is_default else f"{name}(budget={budget})"
        model = name if is_default else f"{name}, B={budget}"
        rows[f"{wish}: [`{code}`](algorithms/{page}.md)"] = {
            "accuracy (%)": f"{mean(found, model):.1f}",
            **cost_of(found, name, budget),
        }
    return markdown(rows)


def by_stream(found: Figures, streams: Iterable[str], models: dict[str, str]) -> str:
    """Return the accuracies of models, given by the names of their columns."""
    return markdown({
        stream: {title: f"{found['accuracy'][stream][name]['accuracy']:.1f}" for title, name in models.items()}
        for stream in streams
    })  # fmt: skip


SHOWN_STREAMS = [
    "Bananas", "Waveform", "SpamAssassin", "Pendigits (10)", "Hyperplane", "SEA, drift",
    "Mixed, drift", "Sine, drift", "RotatingGaussians", "RandomRBFDrift (5)",
]  # fmt: skip
SHOWN_MODELS = {
    "Mnemotron": "Mnemotron", "Projectron++": "ProjectronPlusPlus",
    "Tightest": "TightestPerceptron", "forest (10)": "ARFClassifier(10)",
    "KNN (1,000)": "KNNClassifier(1000)", "logistic": "LogisticRegression",
}  # fmt: skip


def by_budget(found: Figures) -> str:
    """Return the table of costs."""
    times, sizes = [20, 100, 500, 1000], [100, 1000]
    return markdown({
        f"`{name}`": {
            **{f"µs, B={b:,}": cost_of(found, name, b)["µs"] for b in times},
            **{f"kB, B={b:,}": cost_of(found, name, b)["kB"] for b in sizes},
        }
        for name in BY_BUDGET
    })  # fmt: skip


# The models of the comparison, and the name of each in the part of costs.
COMPARED = {
    "Mnemotron": "Mnemotron", "IE-GP": "IE-GP", "KernelPAClassifier": "KernelPAClassifier",
    "ARFClassifier(10)": "ARFClassifier(10)", "KNNClassifier(1000)": "KNNClassifier",
    "ProjectronPlusPlus": "ProjectronPlusPlus", "LogisticRegression": "LogisticRegression",
}  # fmt: skip


def against(found: Figures) -> str:
    """Return the table of the package beside others, the most accurate first."""
    return markdown({
        name: {
            "accuracy (%)": f"{mean(found, name):.1f}",
            **cost_of(found, cost_name, 1000 if cost_name == "KNNClassifier" else 100),
            "log loss": f"{mean(found, name, 'log_loss'):.3f}",
            "calibration error (%)": f"{mean(found, name, 'calibration_error'):.1f}",
        }
        for name, cost_name in sorted(COMPARED.items(), key=lambda pair: -mean(found, pair[0]))
    })  # fmt: skip


def stated(found: Figures) -> str:
    """Return the settings as a sentence."""
    values = found["settings"]
    versions = ", ".join(f"{name} {values[name]}" for name in ("Python", "River", "NumPy"))
    return (
        f"{versions}, {values['cores']} cores of {values['processor']}, commit {values['commit']}; "
        f"at most {values['examples']:,} examples of each stream."
    )


TABLES: dict[str, Callable[[Figures], str]] = {
    "first": first_result,
    "which": which,
    "accuracy": lambda found: by_stream(found, SHOWN_STREAMS, SHOWN_MODELS),
    "cost": by_budget,
    "against": against,
    "settings": stated,
    "streams": lambda found: by_stream(found, found["accuracy"], {name: name for name in MODELS}),
    **scale.TABLES,
}


def written(text: str, found: Figures) -> str:
    """Return a page with what the file says between its marks."""
    return BLOCK.sub(lambda block: f"{block[1]}\n{TABLES[block[2]](found)}\n\n{block[3]}", text)


def strays(text: str) -> list[str]:
    """Return the figures of a page that are neither between marks nor in code."""
    return [figure.strip() for figure in FIGURE.findall(CODE.sub("", BLOCK.sub("", text)))]


def write() -> None:
    """Write the pages, once all parts are measured."""
    found = json.loads(RESULTS.read_text())
    missing = PARTS.keys() - found.keys()
    if missing:
        print(f"no page is written before these are measured: {', '.join(sorted(missing))}")
        return
    for page in PAGES:
        text = page.read_text()
        if written(text, found) != text:
            page.write_text(written(text, found))


def measure(parts: list[str]) -> None:
    """Measure parts, each of which is in the file as soon as it is done."""
    now = settings()
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"settings": now}
    if found["settings"] != now:
        if set(parts) != set(PARTS):
            raise SystemExit(f"{RESULTS} is of {found['settings']}, and this is {now}: measure all")
        found = {"settings": now}
    for part in parts:
        found[part] = PARTS[part]()
        RESULTS.write_text(json.dumps(found, indent=1) + "\n")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.figures")
    parser.add_argument("parts", nargs="*", choices=[*PARTS, "write"], default=list(PARTS))
    parts = parser.parse_args(arguments).parts
    if parts != ["write"]:
        measure(parts)
    write()


if __name__ == "__main__":
    main()
