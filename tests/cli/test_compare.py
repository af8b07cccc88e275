"""What `compare` sorts by, and what it says of models that are no better than one label."""

from __future__ import annotations

import random
import re

import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score

pytest.importorskip("typer")

import river_budget as rb

MODELS = ["--models", "forgetron,stoptron", "--budget", "20"]


def rows_of(n, share, seed=1):
    rng, rows = random.Random(seed), []
    for _ in range(n):
        is_rare = rng.random() < share
        rows.append((rng.gauss(3 * is_rare, 1), "rare" if is_rare else "ok"))
    return rows


@pytest.fixture
def file_of(tmp_path):
    def write(rows):
        path = tmp_path / "rows.csv"
        path.write_text("a,y\n" + "".join(f"{a!r},{y}\n" for a, y in rows))
        return [path, "--target", "y"]

    return write


def predictions(rows):
    model, seen = rb.Forgetron(budget=20), []
    for a, y in rows:
        seen.append((y, model.predict_one({"a": a})))
        model.learn_one({"a": a}, y)
    return zip(*seen[1:], strict=True)  # The first answer is none.


def scores(out):
    """Return the last column of the table by the name of the row."""
    rows = [re.split(r"  +", line) for line in out.splitlines() if line.count("  ") > 3]
    return {row[0]: row[-1] for row in rows}


def test_a_rare_label_is_judged_by_balanced_accuracy(run, file_of):
    rows = rows_of(300, 0.05)
    code, out, _ = run("compare", *file_of(rows), *MODELS)
    table = scores(out)
    assert (code, table["model"]) == (0, "balanced accuracy")
    assert table["most frequent label"] == "0.5000"
    expected = balanced_accuracy_score(*predictions(rows))
    assert float(table["Forgetron"]) == pytest.approx(expected, abs=1e-4)
    assert "has the best balanced accuracy." in out


def test_labels_that_are_not_rare_are_judged_by_mistakes(run, file_of):
    code, out, _ = run("compare", *file_of(rows_of(200, 0.4)), *MODELS)
    assert (code, "balanced" in out, "has the fewest mistakes." in out) == (0, False, True)


def test_the_rare_label_is_the_one_of_f1(run, file_of):
    rows = rows_of(300, 0.05)
    _, out, _ = run("compare", *file_of(rows), *MODELS, "--metric", "f1")
    table = scores(out)
    expected = f1_score(*predictions(rows), pos_label="rare")
    assert table["model"] == "F1 of rare"
    assert float(table["Forgetron"]) == pytest.approx(expected, abs=1e-4)
    assert table["most frequent label"] == "0.0000"


@pytest.mark.parametrize(
    ("metric", "name", "bigger_is_better"),
    [
        ("auc", "ROC AUC of rare", True),
        ("logloss", "log loss", False),
        ("balanced", "balanced accuracy", True),
    ],
)
def test_the_best_comes_first(run, file_of, metric, name, bigger_is_better):
    options = ["--models", "mnemotron,forgetron,stoptron,tightest", "--metric", metric]
    _, out, _ = run("compare", *file_of(rows_of(300, 0.2)), *options)
    heading, baseline, *models = scores(out).items()
    assert (heading, baseline[0]) == (("model", name), "most frequent label")
    values = [float(value) for _, value in models]
    assert values == sorted(values, reverse=bigger_is_better)
    assert f"{models[0][0]} has the best {name}.\n" in out


def test_many_labels_have_a_mean_f1_and_no_area(run, file_of):
    rows = [(t % 3, "abc"[t % 3]) for t in range(60)]
    _, out, _ = run("compare", *file_of(rows), *MODELS, "--metric", "f1")
    assert scores(out)["model"] == "mean F1 of labels"
    code, out, err = run("compare", *file_of(rows), *MODELS, "--metric", "auc")
    assert (code, out) == (2, "")
    assert "--metric auc needs two labels, this stream has 3: take balanced, f1 or logloss" in err


def test_models_that_are_no_better_than_one_label_are_explained(run):
    options = ["compare", "--models", "fixedbudget,forgetron", "--limit", "8000"]
    *_, verdict, poor, why = run(*options)[1].splitlines()
    assert verdict == "Forgetron has the fewest mistakes."
    assert poor == "No better than the most frequent label: FixedBudgetPerceptron."
    assert why == "Such a model may have kept mislabelled examples, as FixedBudgetPerceptron does."
    *_, cure = run(*options, "--gamma", "1")[1].splitlines()
    assert cure == "Or the width does not suit the data: leave out --gamma."


def test_widths_that_are_learned_are_not_given(run):
    _, out, _ = run("compare", "--models", "mnemotron", "--limit", "50")
    assert out.splitlines()[0] == "gaussians: 50 examples, budget 100, widths are learned"
    _, out, _ = run("compare", "--models", "mnemotron,stoptron", "--limit", "50")
    assert out.splitlines()[0].endswith(", gamma 1.0 (learned by Mnemotron)")
