from __future__ import annotations

import math

import pytest
from commands import CLUSTERS, answers_of, learned
from river import preprocessing

pytest.importorskip("typer")

import river_budget as rb
from river_budget import checkpoint

OPTIONS = ["--target", "y", "--model", "forgetron", "--budget", "10"]


@pytest.fixture
def saved(run, tmp_path):
    return learned(run, tmp_path, *OPTIONS)


def test_a_model_is_asked_and_not_taught(run, stdin, saved):
    before = saved.read_bytes()
    model = checkpoint.load(saved)
    rows = [{"u": t % 5, "v": t % 4} for t in range(10)]
    stdin("u,v\n" + "".join(f"{x['u']},{x['v']}\n" for x in rows))
    code, out, err = run("predict", "--checkpoint", saved)
    answers = answers_of(out)
    assert code == 0
    assert [answer["prediction"] for answer in answers] == [model.predict_one(x) for x in rows]
    assert {answer["label"] for answer in answers} == {None}
    assert saved.read_bytes() == before
    assert "10 lines" in err


def test_the_same_line_is_predicted_the_same_again(run, stdin, saved):
    stdin("u,v,y\n" + 5 * "1,2,yes\n" + 5 * "1,2,no\n" + "1,2,maybe\n")
    code, out, err = run("predict", "--checkpoint", saved, "--target", "y")
    answers = answers_of(out)
    assert code == 0
    assert len({answer["margin"] for answer in answers}) == 1
    right = [answer["prediction"] == answer["label"] for answer in answers]
    assert answers[-1]["accuracy"] == sum(right) / 11
    assert "accuracy" in err


def test_the_columns_are_those_that_were_learned(run, tmp_path):
    rows = [f"{t % 7},{t % 3},2026-11-23,{'yes' if t % 2 else 'no'}\n" for t in range(60)]
    data, path = tmp_path / "dated.csv", tmp_path / "model"
    data.write_text("u,v,day,y\n" + "".join(rows))
    kept = [*OPTIONS, "--checkpoint", path]
    assert run("learn", data, *kept, "--ignore", "day")[0] == 0
    assert set(checkpoint.load(path).support_vectors[0]) == {"u", "v"}
    code, out, err = run("predict", "--checkpoint", path, data)
    assert (code, len(answers_of(out))) == (0, 60)
    assert [answer["label"] for answer in answers_of(out)] == 30 * ["no", "yes"]
    assert run("learn", data, *kept)[0] == 0
    code, _, err = run("predict", "--checkpoint", path, data, "--ignore", "u")
    assert (code, "'2026-11-23' in column 'day' is a date" in err) == (2, True)


def test_what_was_ignored_may_be_absent_later(run, tmp_path):
    rows = [f"{t % 7},{t % 3},{'yes' if t % 2 else 'no'}\n" for t in range(60)]
    data, later, path = tmp_path / "with.csv", tmp_path / "without.csv", tmp_path / "model"
    data.write_text("id,u,v,y\n" + "".join(f"{t}-a,{row}" for t, row in enumerate(rows)))
    later.write_text("u,v,y\n" + "".join(rows))
    kept = [*OPTIONS, "--checkpoint", path]
    assert run("learn", data, *kept, "--ignore", "id")[0] == 0
    predictions = [
        answers_of(run("predict", "--checkpoint", path, each)[1]) for each in (data, later)
    ]
    assert len(predictions[0]) == 60
    assert predictions[0] == predictions[1]
    for each in (later, data):
        assert run("learn", each, *kept)[0] == 0
    assert set(checkpoint.load(path).support_vectors[0]) == {"u", "v"}


def test_a_model_of_many_labels_predicts(run, tmp_path):
    data, path = tmp_path / "clusters.csv", tmp_path / "model"
    data.write_text(CLUSTERS)
    assert run("learn", data, *OPTIONS, "--checkpoint", path)[0] == 0
    model = checkpoint.load(path)
    code, out, _ = run("predict", "--checkpoint", path, data, "--target", "y")
    assert code == 0
    for line, answer in zip(CLUSTERS.splitlines()[1:], answers_of(out), strict=True):
        u, v, _ = line.split(",")
        x = {"u": float(u), "v": float(v)}
        chances = sorted(model.predict_proba_one(x).values())
        assert answer["prediction"] == model.predict_one(x)
        # The probabilities are the softmax of half the scores.
        assert answer["margin"] == pytest.approx(math.log(chances[-1] / chances[-2]))


def test_a_file_without_the_target_is_only_predicted(run, tmp_path, saved):
    data = tmp_path / "new.csv"
    data.write_text("u,v\n1,2\n3,1\n1,2\n")
    code, out, err = run("learn", data, *OPTIONS, "--checkpoint", saved)
    answers = answers_of(out)
    assert code == 0
    assert [answer["example"] for answer in answers] == [61, 62, 63]
    assert answers[0]["margin"] == answers[2]["margin"]
    assert "no column 'y', only u, v: no line has a label" in err
    assert checkpoint.load(saved).n_rounds == 60


def test_bad_lines_are_skipped_if_asked(run, stdin, saved):
    text = "u,v\n1,2\nred,2\n1,1\n"
    stdin(text)
    code, out, err = run("predict", "--checkpoint", saved)
    assert (code, len(answers_of(out))) == (2, 1)
    assert "line 3: 'red'" in err
    stdin(text)
    code, out, err = run("predict", "--checkpoint", saved, "--on-error", "skip")
    assert (code, len(answers_of(out))) == (0, 3)
    assert "1 skipped" in err


@pytest.mark.parametrize(
    "make",
    [rb.Calibrated, rb.Reject, lambda model: preprocessing.StandardScaler() | rb.Reject(model)],
    ids=["calibrated", "reject", "pipeline"],
)
def test_wrapped_classifiers_predict(run, stdin, tmp_path, make):
    path, model = tmp_path / "model", make(rb.Projectron())
    for t in range(20):
        model.learn_one({"a": t % 4}, "ab"[t % 2])
    checkpoint.save(model, path)
    stdin("a\n0\n3\n70\n")
    code, out, _ = run("predict", "--checkpoint", path)
    assert code == 0
    expected = [model.predict_one({"a": value}) for value in (0, 3, 70)]
    assert [answer["prediction"] for answer in answers_of(out)] == expected


def test_a_label_that_json_lacks_is_a_text_or_an_error(run, stdin, tmp_path):
    path = tmp_path / "model"
    for label, code in [(frozenset({1}), 0), (math.inf, 2)]:
        model = rb.Forgetron()
        model.learn_one({"a": 1.0}, label)
        checkpoint.save(model, path)
        stdin("a\n1\n")
        found, out, err = run("predict", "--checkpoint", path)
        assert found == code
        assert [a["prediction"] for a in answers_of(out)] == ["frozenset({1})"][code // 2 :]
        assert ("line 2: Out of range float values are not JSON" in err) == (code == 2)


def test_libsvm_is_predicted(run, stdin, tmp_path):
    saved = tmp_path / "model"
    model = rb.Stoptron(rb.RBF(gamma=1.0))
    model.learn_one({"a": 1.0}, 0)
    model.learn_one({"a": 3.0}, 1)
    checkpoint.save(model, saved)
    stdin("0 a:1\n1 a:3\n")
    code, out, _ = run("predict", "--checkpoint", saved)
    assert code == 0
    assert [answer["accuracy"] for answer in answers_of(out)] == [1.0, 1.0]


def test_what_is_no_model_to_predict_with(run, tmp_path):
    path = tmp_path / "none"
    code, _, err = run("predict", "--checkpoint", path)
    assert (code, err.count("\n")) == (2, 1)
    assert str(path) in err
    path.write_text("nothing")
    code, _, err = run("predict", "--checkpoint", path)
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith(f"river-budget: {path}: this is no valid checkpoint")
    assert run("predict")[0] == 2


def test_a_new_model_needs_the_target_in_the_header(run, tmp_path):
    data, path = tmp_path / "new.csv", tmp_path / "model"
    data.write_text("u,v,label\n1,2,a\n")
    code, out, err = run("learn", data, "--target", "lable", "--checkpoint", path)
    assert (code, out) == (2, "")
    assert "no column 'lable', only u, v, label" in err
    assert not path.exists()


@pytest.mark.parametrize("arguments", [["learn", "--target", "y"], ["keyed"]])
def test_a_width_is_refused_where_it_is_learned(run, stdin, arguments):
    stdin("key,seq,u,y\na,0,1,2\n")
    code, out, err = run(*arguments, "--gamma", "1")
    assert (code, out) == (2, "")
    assert "Mnemotron learns its widths: leave out --gamma" in err
