"""The features behind an alert."""

from __future__ import annotations

import random

import pytest
from commands import answers_of

pytest.importorskip("typer")

import river_budget as rb
from river_budget import checkpoint


def payments(n, seed=1):
    """Return features and labels of payments, one in ten of which is a fraud, by its amount."""
    rng, rows = random.Random(seed), []
    for _ in range(n):
        is_fraud = rng.random() < 0.1
        x = {"amount": round(rng.gauss(4 * is_fraud, 1), 3)}
        x |= {name: round(rng.gauss(0, 1), 3) for name in ("b", "c", "d")}
        rows.append((x, "fraud" if is_fraud else "ok"))
    return rows


@pytest.fixture
def model():
    model = rb.Calibrated(rb.Forgetron(budget=20))
    for x, y in payments(400):
        model.learn_one(x, y)
    return model


@pytest.fixture
def predict(run, model, tmp_path):
    path, data = tmp_path / "model", tmp_path / "payments.csv"
    checkpoint.save(model, path)
    lines = [",".join(map(str, x.values())) for x, _ in payments(60, seed=2)]
    data.write_text("\n".join(["amount,b,c,d", *lines]) + "\n")

    def call(*options):
        code, out, err = run("predict", data, "--model-file", path, *options)
        assert code == 0, err
        return answers_of(out)

    return call


def effects(explanation):
    return [feature._asdict() for feature in explanation.features[:3]]


def test_each_alert_has_the_three_strongest_features(model, predict):
    answers = predict("--why", "--alert", "fraud", "--above", "0.3")
    assert 0 < sum(answer["alert"] for answer in answers) < len(answers)
    for (x, _), answer in zip(payments(60, seed=2), answers, strict=True):
        assert ("why" in answer) == answer["alert"]
        if answer["alert"]:
            assert answer["why"] == effects(rb.explain(model, x, "fraud"))
    assert all(answer["why"][0]["name"] == "amount" for answer in answers if answer["alert"])


def test_without_alerts_each_answer_is_about_its_prediction(model, predict):
    answers = predict("--why")
    for (x, _), answer in zip(payments(60, seed=2), answers, strict=True):
        explanation = rb.explain(model, x)
        assert answer["prediction"] == explanation.label
        assert answer["why"] == effects(explanation)


def test_answers_have_no_reasons_unless_they_are_asked_for(predict):
    assert not any("why" in answer for answer in predict("--alert", "fraud"))
