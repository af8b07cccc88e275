"""Probabilities, alerts, and the summary."""

from __future__ import annotations

import json
import math
import random
import re

import numpy as np
import pytest
from commands import CLUSTERS, CSV, answers_of
from sklearn.metrics import roc_auc_score

pytest.importorskip("typer")

import river_budget as rb
from river_budget import checkpoint
from river_budget.cli.alerts import Alerts, Costs

FORGETRON = ["--target", "y", "--model", "forgetron", "--budget", "20"]


def payments(n, seed=1):
    """Return lines of csv of which one in ten is a fraud."""
    rng, lines = random.Random(seed), []
    for _ in range(n):
        is_fraud = rng.random() < 0.1
        lines.append(f"{rng.gauss(2 * is_fraud, 1):.3f},{'fraud' if is_fraud else 'ok'}\n")
    return lines


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "payments.csv"
    path.write_text("amount,y\n" + "".join(payments(400)))
    return path


@pytest.mark.parametrize("options", [[], ["--calibrated"]])
def test_probabilities_are_those_of_the_model(run, data, options):
    code, out, _ = run("learn", data, *FORGETRON, "--proba", *options)
    model = rb.Forgetron(budget=20)
    model = rb.Calibrated(model) if options else model
    assert code == 0
    for line, answer in zip(data.read_text().splitlines()[1:], answers_of(out), strict=True):
        amount, y = line.split(",")
        x = {"amount": float(amount)}
        assert answer["probabilities"] == model.predict_proba_one(x)
        assert answer["prediction"] == model.predict_one(x)
        model.learn_one(x, y)
    assert answer["margin"] is not None


def test_labels_that_are_no_texts_are_keys(run, stdin):
    stdin('{"a":1,"y":true}\n{"a":2,"y":false}\n{"a":2}\n')
    _, out, _ = run("learn", *FORGETRON, "--proba")
    assert answers_of(out)[-1]["probabilities"].keys() == {"true", "false"}


def test_an_alert_is_a_probability_above_a_threshold(run, data):
    alert = ["--alert", "fraud", "--above", "0.2"]
    code, out, err = run("learn", data, *FORGETRON, "--calibrated", "--proba", *alert)
    answers = answers_of(out)
    assert code == 0
    assert {answer["alert"] for answer in answers} == {True, False}
    for answer in answers:
        assert answer["alert"] is (answer["probabilities"].get("fraud", 0.0) > 0.2)
    _, only, only_err = run(
        "learn", data, *FORGETRON, "--calibrated", "--proba", *alert, "--only-alerts"
    )
    assert answers_of(only) == [answer for answer in answers if answer["alert"]]
    n = len(answers_of(only))
    for text in (err, only_err):
        assert f"river-budget: {n} alerts for fraud, above 0.2: ROC AUC 0." in text


def test_bad_lines_are_answered_among_alerts(run, stdin):
    stdin("a,y\n" + "1,0\n2,1\n" * 9 + "red,1\n")
    options = ["--alert", "1", "--only-alerts", "--on-error", "skip"]
    code, out, _ = run("learn", *FORGETRON, *options)
    answers = answers_of(out)
    assert (code, answers[-1]["line"]) == (0, 20)
    assert all(answer["alert"] for answer in answers[:-1])


@pytest.mark.parametrize(
    ("text", "label"),
    [("true", "true"), ("true", "True"), ("1", "1"), ('"1"', "1"), ("1.5", "1.5")],
)
def test_the_label_is_written_as_in_the_file_or_as_in_python(run, stdin, text, label):
    stdin(f'{{"a":1,"y":{text}}}\n{{"a":9,"y":"other"}}\n' * 20)
    _, out, _ = run("learn", *FORGETRON, "--alert", label)
    assert [answer["alert"] for answer in answers_of(out)][-2:] == [True, False]


def test_the_summary_has_the_figures_of_each_label(run, data):
    _, out, err = run("learn", data, *FORGETRON)
    pairs = [(answer["label"], answer["prediction"]) for answer in answers_of(out)]
    n_fraud = sum(label == "fraud" for label, _ in pairs)
    assert f"river-budget: always saying ok has the accuracy {1 - n_fraud / 400:.4f}\n" in err
    rows = {line.split()[0]: line.split()[1:] for line in err.splitlines()[-2:]}
    for label in ("fraud", "ok"):
        n = sum(y == label for y, _ in pairs)
        n_predicted = sum(p == label for _, p in pairs)
        n_right = pairs.count((label, label))
        precision, recall = n_right / n_predicted, n_right / n
        f1 = 2 * precision * recall / (precision + recall)
        assert rows[label] == [f"{n}", *(f"{figure:.4f}" for figure in (precision, recall, f1))]


@pytest.fixture
def two_labels(run, stdin, tmp_path):
    """Return the path of a model that has learned ok at 0 and fraud at 9."""
    path = tmp_path / "model"
    stdin("a,y\n" + "0,ok\n9,fraud\n" * 20)
    run("learn", *FORGETRON, "--checkpoint", path)
    return path


def test_a_label_counts_that_was_predicted_before_it_came(run, stdin, two_labels):
    stdin("a,y\n9,ok\n9,ok\n9,ok\n9,fraud\n0,other\n")
    _, _, err = run("predict", "--checkpoint", two_labels)
    assert [line.split() for line in err.splitlines()[-3:]] == [
        ["ok", "3", "0.0000", "0.0000", "0.0000"],
        ["fraud", "1", "0.2500", "1.0000", "0.4000"],
        ["other", "1", "0.0000", "0.0000", "0.0000"],
    ]


def test_a_label_that_never_came_is_shown_if_it_was_predicted(run, stdin, two_labels):
    stdin("a,y\n9,ok\n")
    _, _, err = run("predict", "--checkpoint", two_labels)
    assert err.splitlines()[-1].split() == ["fraud", "0", "0.0000", "0.0000", "0.0000"]


def test_many_labels_are_not_all_shown(run, stdin):
    stdin("a,y\n" + "".join(f"{t},{t % 50}\n" for t in range(200)))
    _, _, err = run("learn", *FORGETRON)
    *_, last = err.splitlines()
    assert last == "  ... and 30 labels with fewer examples"


def test_a_label_in_many_languages_and_of_any_length_is_shown(run, stdin):
    stdin("a,y\n1,änd\n2," + 200 * "x" + "\n")
    _, _, err = run("learn", *FORGETRON)
    assert "\n  änd " in err
    assert max(map(len, err.splitlines())) <= 80


def test_costs_set_the_threshold_and_are_summed(run, data):
    costs = ["--cost-miss", "20", "--cost-alarm", "1"]
    options = ["--calibrated", "--proba", "--alert", "fraud", *costs]
    _, out, err = run("learn", data, *FORGETRON, *options)
    answers = answers_of(out)
    scores = [answer["probabilities"].get("fraud", 0.0) for answer in answers]
    frauds = [answer["label"] == "fraud" for answer in answers]

    def cost(threshold):
        pairs = [*zip(scores, frauds, strict=True)]
        return sum(1 if p > threshold else 20 * is_fraud for p, is_fraud in pairs)

    assert [answer["alert"] for answer in answers] == [p > 1 / 20 for p in scores]
    assert f"\n  cost {cost(1 / 20):g}: " in err
    threshold, least = re.search(r"cheapest so far: alerts above (\S+), cost (\d+)", err).groups()
    assert int(least) <= cost(1 / 20)
    assert int(least) == pytest.approx(min(map(cost, scores)), abs=3)
    assert int(least) == pytest.approx(cost(float(threshold)), abs=3)


def test_the_area_under_the_curve_is_that_of_the_probabilities():
    rng = np.random.default_rng(1)
    labels = rng.random(3000) < 0.01
    scores = 1 / (1 + np.exp(-(rng.normal(size=3000) + 2 * labels - 6)))
    scores[:3] = 0.0, 1.0, 0.5
    alerts = Alerts("True", 0.5, None, {})
    for p, label in zip(scores.tolist(), labels.tolist(), strict=True):
        alerts.add(p, label)
    assert alerts.roc_auc() == pytest.approx(roc_auc_score(labels, scores), abs=0.001)


@pytest.mark.parametrize(
    ("pairs", "least", "most", "cost"),
    [
        ([(0.1, "ok"), (0.9, "fraud")], 0.1, 0.9, 1.0),
        ([(0.1, "fraud"), (0.9, "ok")], 0.0, 0.1, 2.0),
    ],
)
def test_which_threshold_would_have_been_cheapest(pairs, least, most, cost):
    alerts = Alerts("fraud", 0.5, None, {})
    for p, label in pairs:
        alerts.add(p, label)
    text, least_cost = alerts.cheapest(Costs(miss=10.0, alarm=1.0))
    assert least < float(text.removeprefix("alerts above ")) < most
    assert least_cost == cost


def test_no_alert_pays_where_nothing_is_missed():
    alerts = Alerts("fraud", 0.5, None, {})
    alerts.add(0.9, "ok")
    assert alerts.cheapest(Costs(miss=10.0, alarm=1.0)) == ("no alert at all", 0.0)


@pytest.mark.slow
def test_a_run_that_goes_on_has_the_summary_of_a_whole_one(run, tmp_path, data):
    lines, part = data.read_text().splitlines(keepends=True), tmp_path / "part.csv"
    options = [*FORGETRON, "--alert", "fraud", "--cost-miss", "9", "--cost-alarm", "1"]
    _, _, err = run("learn", data, *options)
    expected = err.partition("always")[2]
    saved = [*options, "--checkpoint", tmp_path / "model"]
    part.write_text("".join(lines[:201]))
    run("learn", part, *saved)
    part.write_text("".join(lines))
    _, _, err = run("learn", part, *saved)
    assert err.partition("always")[2] == expected
    _, _, err = run("learn", part, *saved[:-6], *saved[-2:], "--alert", "ok")
    assert "0 alerts for ok, above 0.5; no line had the label ok\n" in err


def test_predictions_have_alerts_too(run, stdin, tmp_path, data):
    saved = tmp_path / "model"
    run("learn", data, *FORGETRON, "--calibrated", "--checkpoint", saved)
    stdin("amount\n-3\n3\n")
    options = ["--checkpoint", saved, "--alert", "fraud", "--above", "0.3", "--proba"]
    code, out, err = run("predict", *options)
    assert code == 0
    assert [answer["alert"] for answer in answers_of(out)] == [False, True]
    chances = checkpoint.load(saved).predict_proba_one({"amount": 3})
    assert answers_of(out)[1]["probabilities"] == chances
    assert err.endswith("river-budget: 1 alert for fraud, above 0.3\n")


def test_more_labels_than_a_model_can_have_are_predicted(run, stdin, tmp_path):
    saved = tmp_path / "model"
    stdin(CSV)
    run("learn", *FORGETRON, "--checkpoint", saved)
    stdin("u,v,y\n" + "".join(f"1,2,{t}\n" for t in range(1500)))
    code, _, err = run("predict", "--checkpoint", saved)
    assert (code, err.splitlines()[-1]) == (0, "  ... and 980 labels with fewer examples")


def test_a_calibrated_model_goes_on(run, tmp_path, data):
    saved = ["--checkpoint", tmp_path / "model"]
    assert run("learn", data, *FORGETRON, "--calibrated", *saved)[0] == 0
    assert isinstance(checkpoint.load(saved[1]), rb.Calibrated)
    code, _, err = run("learn", data, *FORGETRON, *saved)
    assert (code, "holds another model than the options ask for" in err) == (2, True)
    assert run("learn", data, *FORGETRON, "--calibrated", *saved)[0] == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--only-alerts"], "give --alert LABEL, too"),
        (["--above", "0.1"], "give --alert LABEL, too"),
        (["--cost-miss", "5", "--cost-alarm", "1"], "give --alert LABEL, too"),
        (["--alert", "yes", "--cost-miss", "5"], "give both --cost-miss and --cost-alarm"),
        (["--alert", "yes", "--cost-miss", "1", "--cost-alarm", "5"], "no alert pays"),
        (["--alert", "yes", "--above", "2"], "--above"),
        (["--alert", "yes", "--above", "often"], "--above"),
    ],
)
def test_options_that_say_too_little(run, stdin, options, message):
    stdin(CSV)
    code, out, err = run("learn", *FORGETRON, *options)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_an_alert_that_no_label_can_give(run, stdin, tmp_path):
    saved = tmp_path / "model"
    stdin(CSV)
    run("learn", *FORGETRON, "--checkpoint", saved)
    stdin(CSV)
    code, out, err = run("predict", "--checkpoint", saved, "--alert", "yess")
    assert (code, out) == (2, "")
    assert err == "river-budget: the model knows no label yess: there are no, yes\n"
    stdin(CSV)
    _, _, err = run("learn", *FORGETRON, "--alert", "yess")
    assert "0 alerts for yess, above 0.5; no line had the label yess, only no, yes\n" in err


def test_json_of_every_answer_is_valid(run, stdin):
    stdin(CLUSTERS)
    _, out, _ = run("learn", *FORGETRON, "--proba", "--alert", "spam")
    for line in out.splitlines():
        chances = json.loads(line)["probabilities"].values()
        assert math.fsum(chances) == pytest.approx(1.0 if chances else 0.0)
