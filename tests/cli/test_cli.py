from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest
from commands import CLUSTERS, CSV, answers_of, started

pytest.importorskip("typer")

import river_budget as rb
from river_budget.catalog import ALGORITHMS


def test_the_table_has_every_algorithm(run):
    code, out, err = run("compare", "--limit", "100", "--budget", "20")
    title, heading, baseline, *lines = out.splitlines()[: 3 + len(ALGORITHMS)]
    assert (code, err) == (0, "")
    assert title == "gaussians: 100 examples, budget 20, gamma 1.0 (learned by Mnemotron)"
    assert baseline.startswith("most frequent label ")
    assert heading.split() == ["model", "mistakes", "%", "support", "bytes", "µs/example"]
    assert {line.split()[0] for line in lines} == set(ALGORITHMS)
    mistakes = [float(line.split()[1]) for line in lines]
    assert mistakes == sorted(mistakes)
    verdict = out.splitlines()[3 + len(ALGORITHMS)]
    assert verdict.startswith(f"{lines[0].split()[0]} has the fewest mistakes")


def test_several_orders_show_deviations(run):
    _, out, _ = run("compare", "--limit", "200", "--permutations", "2", "--models", "stoptron")
    assert [line.count("±") for line in out.splitlines()[2:4]] == [4, 4]


@pytest.mark.parametrize(
    ("stream", "width"),
    [
        ("bananas", "widths are learned"),
        ("phishing", "widths are learned"),
        ("checkerboard", "gamma 60.0"),
    ],
)
def test_streams_by_name(run, stream, width):
    code, out, _ = run("compare", stream, "--limit", "100", "--models", "stoptron")
    assert code == 0
    assert out.splitlines()[0] == f"{stream}: 100 examples, budget 100, {width}"


def test_a_csv_file(run, tmp_path):
    path = tmp_path / "some.csv"
    path.write_text(CSV)
    code, out, _ = run("compare", path, "--target", "y", "--gamma", "0.5")
    assert code == 0
    assert "60 examples, budget 100, gamma 0.5" in out


def test_a_libsvm_file(run, tmp_path):
    path = tmp_path / "some.libsvm"
    path.write_text("".join(f"{(-1) ** t:+d} {t % 5 + 1}:1 9:0.5\n" for t in range(60)))
    code, out, _ = run("compare", path, "--models", "Stoptron,kernel-perceptron")
    assert code == 0
    assert {line.split()[0] for line in out.splitlines()[3:5]} == {"Stoptron", "KernelPerceptron"}


@pytest.mark.parametrize(
    ("text", "name"),
    [("projectron++", "ProjectronPlusPlus"), ("Tightest Perceptron", "TightestPerceptron")],
)
def test_algorithms_have_short_names(run, text, name):
    _, out, _ = run("compare", "--limit", "50", "--models", text)
    assert out.splitlines()[3].split()[0] == name


def test_figures_and_picture_go_to_files(run, tmp_path):
    pytest.importorskip("matplotlib")
    figures, picture = tmp_path / "out.json", tmp_path / "out.png"
    models = ["--models", "stoptron,forgetron"]
    code, _, _ = run("compare", "--limit", "200", *models, "--json", figures, "--plot", picture)
    assert code == 0
    models = json.loads(figures.read_text())["models"]
    assert 0 < models["Stoptron"]["summary"]["mistakes_percent"]["mean"] < 100
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_picture_without_an_ending_is_a_png(run, tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "out"
    assert run("compare", "--limit", "50", "--models", "stoptron", "--plot", picture)[0] == 0
    assert [*tmp_path.iterdir()] == [picture]
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_without_a_command_there_is_help(run):
    code, out, err = run()
    assert (code, err) == (0, "")
    assert "Commands:" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "--budget", "0"], "budget"),
        (["compare", "--budget", "many"], "budget"),
        (["compare", "--colour"], "No such option"),
        (["compare", "--gamma", "-1"], "gamma must be a positive finite number"),
        (["compare", "--models", "oracle"], "no algorithm is called 'oracle'"),
        (["compare", "rivers"], "rivers: [Errno 2]"),
        (["compare", "absent.csv", "--target", "y"], "absent.csv: [Errno 2]"),
        (["compare", "absent.libsvm"], "absent.libsvm: [Errno 2]"),
        (["compare", "--json", "absent/out.json"], "No such file or directory: 'absent/out.json'"),
        (["compile"], "compile"),
    ],
)
def test_wrong_usage_is_one_line(run, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err


def test_a_stream_may_have_any_name(run, tmp_path):
    path = tmp_path / "lines"
    path.write_text(CSV)
    code, out, _ = run("compare", path, "--target", "y", "--models", "stoptron")
    assert (code, "60 examples" in out) == (0, True)
    code, out, err = run("compare", path)
    assert (code, out) == (2, "")
    assert err == f"river-budget: {path}: no --target names the label\n"


def test_work_that_fails_leaves_no_empty_file(run, tmp_path):
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text("{}")
    for figures in (old, new):
        assert run("compare", tmp_path / "absent", "--json", figures)[0] == 2
    assert (old.read_text(), new.exists()) == ("{}", False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("u,v\n1,2\n", "no column 'y', only u, v"),
        ("u,y\n1,a\n2,nan\n3,c\n", "line 3: no label: leave out such lines"),
        (
            "u,y\n" + "".join(f"1,{t}\n" for t in range(1200)),
            "the target has many different numbers: river_budget classifies; for a number see",
        ),
        ("u,y\n1,1\nred,1\n", "line 3: 'red' in column 'u' is not a number"),
        ("u,y\n1,1\ninf,1\n", "feature 'u' has the value inf"),
        ("u,y\n1\n", "line 2: this line has more or fewer columns"),
        ("u,y\n1,1,7\n", "line 2: this line has more or fewer columns"),
        ("u,y\n", "no examples"),
        ("", "no examples"),
        ("\x00\xff", "this is no text: expected csv, libsvm, JSON lines or parquet"),
    ],
)
def test_what_a_csv_file_may_lack(run, tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    code, out, err = run("compare", path, "--target", "y", "--models", "stoptron")
    assert (code, out) == (2, "")
    assert message in err.splitlines()[-1]


@pytest.mark.slow
def test_as_a_module_and_in_a_pipe():
    ended = subprocess.run(
        [sys.executable, "-m", "river_budget", "compare", "--limit", "20", "--models", "stoptron"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "Stoptron" in ended.stdout
    assert ended.stderr == ""


def test_learning_line_by_line(run, tmp_path):
    path = tmp_path / "some.csv"
    path.write_text(CSV)
    code, out, _ = run("learn", path, "--target", "y", "--model", "tightest", "--budget", "20")
    answers = answers_of(out)
    assert code == 0
    assert [answer["example"] for answer in answers] == list(range(1, 61))
    assert [answer["label"] for answer in answers] == ["no", "yes"] * 30
    right = [answer["prediction"] == answer["label"] for answer in answers]
    assert answers[-1]["accuracy"] == sum(right) / 60
    for answer in answers[2:]:
        assert (answer["margin"] > 0) == (answer["prediction"] == "yes")


@pytest.fixture
def clusters(tmp_path):
    path = tmp_path / "clusters.csv"
    path.write_text(CLUSTERS)
    return path


def test_algorithms_are_compared_on_many_labels(run, clusters):
    options = [clusters, "--target", "y", "--budget", "20"]
    code, out, err = run("compare", *options)
    assert code == 0
    assert err == 'river-budget: 2 numbers, 0 categories, target "y" with 5 values so far\n'
    lines = [line.split() for line in out.splitlines()[3 : 3 + len(ALGORITHMS)]]
    assert {name for name, *_ in lines} == set(ALGORITHMS)
    mistakes = {name: float(percent) for name, percent, *_ in lines}
    assert mistakes["RemoveOldestPerceptron"] < 30


@pytest.mark.parametrize(
    ("command", "stream"),
    [("compare", "bananas --limit 600"), ("lifelong", "checkerboards --learn 300")],
)
def test_labels_that_come_late(run, tmp_path, command, stream):
    """The title says so, and the figures are others."""
    titles, figures = [], []
    for delay in (0, 100):
        path = tmp_path / f"{delay}.json"
        options = ["--models", "forgetron", "--delay", delay, "--json", path]
        code, out, _ = run(command, *stream.split(), *options)
        assert code == 0
        titles.append(out.splitlines()[0])
        figures.append(json.loads(path.read_text())["models"]["Forgetron"])
    assert "late" not in titles[0]
    assert "labels late by 100" in titles[1]
    assert figures[0] != figures[1]


@pytest.mark.parametrize("command", ["compare", "certify", "lifelong"])
def test_labels_that_are_none(run, tmp_path, command):
    path = tmp_path / "bad.jsonl"
    path.write_text('{"u": 1, "y": "a"}\n{"u": 1, "y": ["b"]}\n')
    code, out, err = run(command, path, "--target", "y")
    assert (code, out) == (2, "")
    assert "line 2: the label is ['b']: expected a class" in err


@pytest.mark.parametrize("name", ["tightest", "forgetron", "projectron"])
def test_many_labels_are_learned_line_by_line(run, clusters, name):
    options = ["--target", "y", "--model", name, "--budget", "15", "--gamma", "0.5"]
    code, out, _ = run("learn", clusters, *options)
    assert code == 0
    kernel, rows = rb.RBF(gamma=0.5), [line.split(",") for line in CLUSTERS.splitlines()[1:]]
    model = {
        "tightest": rb.TightestPerceptron(kernel, budget=15),
        "forgetron": rb.Forgetron(kernel, budget=15),
        "projectron": rb.Projectron(kernel, budget=15),
    }[name]
    n_right = 0
    for t, ((u, v, y), answer) in enumerate(zip(rows, answers_of(out), strict=True)):
        x, y = {"u": float(u), "v": float(v)}, 3 if y == "3" else y
        if len(model.classes) > 2:
            second, first = sorted(model.scores_one(x).values())[-2:]
            margin = (first - second) / 2
        else:
            margin = model.decision_function_one(x)
        prediction = model.predict_one(x)
        n_right += prediction == y
        assert answer == {
            "example": t + 1, "prediction": prediction, "margin": margin, "label": y,
            "accuracy": n_right / (t + 1),
        }  # fmt: skip
        model.learn_one(x, y)
    assert n_right > 50


def test_learning_is_what_the_same_loop_does(run, tmp_path):
    path = tmp_path / "some.csv"
    path.write_text(CSV)
    _, out, _ = run("learn", path, "--target", "y", "--model", "forgetron", "--gamma", "0.5")
    model = rb.Forgetron(rb.RBF(gamma=0.5))
    predictions = []
    for t in range(60):
        x, y = {"u": t % 7, "v": t % 3}, "yes" if t % 2 else "no"
        predictions.append(model.predict_one(x))
        model.learn_one(x, y)
    assert [answer["prediction"] for answer in answers_of(out)] == predictions


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("a,b,y\n1,2,0\n3,1,1\n2,2,\n", ["--target", "y"]),
        ('{"a":1,"b":2,"y":0}\n{"y":1,"a":3,"b":1}\n{"a":2,"b":2}\n', ["--target", "y"]),
        ('{"a":1,"b":2,"y":0}\n{"y":1,"a":3,"b":1}\n{"a":2,"b":2,"y":null}', ["--target", "y"]),
        ("0 a:1 b:2\n1 a:3 b:1\n", []),
    ],
)
def test_formats_are_told_apart(run, stdin, text, options):
    stdin(text)
    code, out, _ = run("learn", *options)
    assert code == 0
    assert [answer["label"] for answer in answers_of(out)][:2] == [0, 1]
    assert answers_of(out)[2:] == [] or answers_of(out)[2]["label"] is None


def test_a_line_without_a_label_is_not_learned(run, stdin):
    def last_margin(text):
        stdin(text)
        return answers_of(run("learn", "--target", "y")[1])[-1]["margin"]

    labelled = "a,y\n1,0\n3,1\n"
    assert last_margin(labelled + "2,\n9,\n1,1\n") == last_margin(labelled + "1,1\n")


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a,y\n1,0\nred,1\n", ["--target", "y"], "line 3: 'red' in column 'a'"),
        ("a,y\n1,0\n1,1\ninf,1\n", ["--target", "y"], "line 4: feature 'a' has the value inf"),
        ("0 a:1\n1 a:x\n", [], "line 2: not 'label name:value name:value ...'"),
        ('{"a":1}\n{"a"', ["--target", "y"], "line 2: not JSON"),
        ('{"a":1}\n[1]\n', ["--target", "y"], "line 2: not a JSON object"),
        ('{"a":[1,"b"]}\n', ["--target", "y"], "line 1: feature 'a' has the value [1, 'b']"),
        ('{"a":1' + 400 * "0" + "}", ["--target", "y"], "feature 'a' has the value 1000"),
        ('{"a":1}\n' + 100_000 * "[", ["--target", "y"], "line 2: not JSON"),
        ('{"a":1}\n', [], "no --target names the label"),
        ("", ["--model", "forgetron,projectron"], "no algorithm is called"),
        ("", ["absent.csv", "--target", "y"], "absent.csv"),
    ],
)
def test_what_cannot_be_learned_from(run, stdin, text, options, message):
    stdin(text)
    code, _, err = run("learn", *options)
    assert code == 2
    assert message in err.splitlines()[-1]


def test_nothing_to_learn_from(run, stdin):
    stdin("")
    code, out, err = run("learn", "--target", "y")
    assert (code, out) == (0, "")
    assert err.startswith("river-budget: 0 lines, no label, ")
    assert err.endswith(" bytes\n")  # and no time of a line


LEARN = ["learn", "--target", "y", "--quiet"]
LEAST = ["compare", "--limit", "20", "--models", "stoptron"]


@pytest.mark.slow
def test_each_answer_comes_at_once():
    with started(*LEARN) as process:
        for label in [True, False]:
            process.stdin.write(json.dumps({"a": 1, "y": label}) + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["label"] is label
        process.stdin.close()
        assert process.wait() == 0
        assert process.stderr.read() == ""


@pytest.mark.parametrize("arguments", [LEARN, LEAST, ["--version"], ["--help"]])
def test_no_command_writes_to_no_standard_output(run, monkeypatch, arguments):
    monkeypatch.setattr(sys, "stdout", None)
    assert run(*arguments) == (2, "", "river-budget: standard output is closed\n")


@pytest.mark.slow
def test_standard_output_that_is_closed():
    command = [sys.executable, "-m", "river_budget", *LEARN]
    ended = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", *command], input="a,y\n1,2\n", capture_output=True, text=True
    )
    assert ended.returncode == 2
    assert ended.stderr == "river-budget: standard output is closed\n"


@pytest.mark.slow
def test_standard_input_that_is_closed():
    command = [sys.executable, "-m", "river_budget", *LEARN]
    ended = subprocess.run(["sh", "-c", '"$@" <&-', "sh", *command], capture_output=True, text=True)
    assert ended.returncode == 2
    assert ended.stderr == "river-budget: standard input is closed\n"


@pytest.mark.slow
def test_standard_error_that_is_closed():
    command = [sys.executable, "-m", "river_budget", "learn", "--target", "y"]
    ended = subprocess.run(
        ["sh", "-c", '"$@" 2>&-', "sh", *command],
        input="a,y\n1,2\n",
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0
    assert [answer["label"] for answer in answers_of(ended.stdout)] == [2]


BUFFERED = {**os.environ, "PYTHONUNBUFFERED": ""}

needs_a_full_device = pytest.mark.skipif(
    not os.path.exists("/dev/full"), reason="there is no full device"
)


@pytest.mark.slow
@needs_a_full_device
@pytest.mark.parametrize("arguments", [LEAST, [*LEARN, "{data}"], ["--version"]])
def test_a_full_disk(tmp_path, arguments):
    data = tmp_path / "some.csv"
    data.write_text(CSV)
    arguments = [argument.format(data=data) for argument in arguments]
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "river_budget", *arguments],
            stdout=full, stderr=subprocess.PIPE, text=True, env=BUFFERED,
        )  # fmt: skip
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    assert ended.stderr.endswith("[Errno 28] No space left on device\n")


@pytest.mark.slow
@needs_a_full_device
def test_a_table_is_printed_although_its_figures_cannot_be_written():
    ended = subprocess.run(
        [sys.executable, "-m", "river_budget", *LEAST, "--json", "/dev/full"],
        capture_output=True, text=True, env=BUFFERED,
    )  # fmt: skip
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    assert "Stoptron" in ended.stdout


@pytest.mark.parametrize("budget", ["99999999999999", "100000000"])
@pytest.mark.parametrize("command", [["learn", "--target", "y"], ["compare"], ["keyed"]])
def test_a_budget_that_no_memory_holds(run, stdin, command, budget):
    stdin("key,a,y\n1,1,0\n")
    code, out, err = run(*command, "--budget", budget)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "budget" in err


@pytest.mark.slow
def test_a_reader_that_goes_away():
    with started(*LEARN) as process:
        process.stdin.write('{"a": 1, "y": true}\n')
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        process.stdin.write('{"a": 1, "y": true}\n')
        process.stdin.close()
        assert process.wait() == 1
        assert process.stderr.read() == ""


@pytest.mark.slow
def test_an_interrupt():
    with started(*LEARN) as process:
        process.stdin.write('{"a": 1, "y": true}\n')
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert process.stderr.read().strip() == ""


# Ctrl-C comes while the modules of the command line are imported.
EARLY = """
import sys
from river_budget.__main__ import main

class Interrupted:
    def find_spec(self, name, *_):
        if name == "typer":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupted())
main()
"""


@pytest.mark.slow
def test_an_early_interrupt():
    with started(code=EARLY) as process:
        assert process.wait() == 130
        assert process.stderr.read() == ""


@pytest.mark.slow
def test_continual_runs_of_several_algorithms(run, tmp_path):
    pytest.importorskip("matplotlib")
    figures, picture = tmp_path / "out.json", tmp_path / "out.png"
    code, out, _ = run(
        "lifelong", "--learn", "50", "--test", "20", "--models", "stoptron,forgetron",
        "--json", figures, "--plot", picture,
    )  # fmt: skip
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[2:]] == ["Stoptron", "Forgetron"]
    models = json.loads(figures.read_text())["models"]
    assert models["Forgetron"]["task_sequence"] == [0, 1, 2, 3, 0, 1, 2, 3]
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_tasks_from_files(run, tmp_path):
    for name in ["monday.csv", "tuesday.csv"]:
        (tmp_path / name).write_text(CSV)
    options = ["--target", "y", "--models", "stoptron", "--cycles", "1", "--test", "10"]
    files = f"{tmp_path}/monday.csv,{tmp_path}/tuesday.csv"
    code, out, _ = run("lifelong", files, "--learn", "50", *options)
    assert code == 0
    assert "2 tasks, 1 x 50 examples each" in out
    code, _, err = run("lifelong", files, "--learn", "51", *options)
    assert code == 2
    assert "task 0 is too short: 1 more examples are needed" in err


def test_checkerboards_as_tasks(run):
    options = ["--learn", "20", "--models", "stoptron"]
    code, out, _ = run("lifelong", "checkerboards", *options)
    assert code == 0
    assert out.startswith("checkerboards: 3 tasks")


def test_tasks_that_bring_new_labels(run, tmp_path):
    pytest.importorskip("matplotlib")
    figures, picture = tmp_path / "out.json", tmp_path / "out.png"
    code, out, _ = run(
        "lifelong", "class-incremental", "--cycles", "1", "--learn", "40", "--test", "20",
        "--models", "stoptron,forgetron", "--json", figures, "--plot", picture,
    )  # fmt: skip
    assert code == 0
    title, *lines = out.splitlines()
    assert title.startswith("class-incremental: 5 tasks, 1 x 40 examples each")
    model = json.loads(figures.read_text())["models"]["Forgetron"]
    assert model["classes"] == list(range(10))
    assert model["class_forgetting"][8:] == [None, None]
    names = ["Stoptron", "Forgetron"]
    assert [line.split()[0] for line in lines if line] == ["model", *names, "forgetting", *names]
    assert lines[-1].split()[-3:-1] == [f"{100 * model['class_forgetting'][7]:.1f}", "nan"]
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_mistakes_beside_their_bounds(run, tmp_path):
    pytest.importorskip("matplotlib")
    figures, picture = tmp_path / "out.json", tmp_path / "out.png"
    code, out, _ = run(
        "certify", "--limit", "40", "--budget", "600", "--json", figures, "--plot", picture
    )
    assert code == 0
    title, *lines = out.splitlines()
    assert title == "gaussians: 40 examples, budget 600, gamma 1.0"
    models = json.loads(figures.read_text())["models"]
    assert models.keys() == {line for line in lines if not line.startswith(" ")}
    for model in models.values():
        assert model["mistakes"][-1] <= model["bounds"][-1]
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_certificates_of_many_labels(run, clusters, tmp_path):
    figures = tmp_path / "out.json"
    code, out, _ = run("certify", clusters, "--target", "y", "--budget", "600", "--json", figures)
    assert code == 0
    assert out.startswith(f"{clusters}: 100 examples, budget 600")
    models = json.loads(figures.read_text())["models"]
    assert len(models) == 9
    for model in models.values():
        assert 0 < model["mistakes"][-1] <= model["bounds"][-1]


def test_certificates_of_a_scaled_file(run, tmp_path):
    path = tmp_path / "some.csv"
    path.write_text(CSV)
    code, out, _ = run("certify", path, "--target", "y")
    assert code == 0
    assert "FAILS: a budget" not in out
    path.write_text("u,y\ninf,1\n")
    code, _, err = run("certify", path, "--target", "y")
    assert code == 2
    assert "inf" in err


KEYED = "who,t,u,y\nann,0,1,yes\nbob,0,2,no\nann,1,3,\nann,1,3,\n007,0,1,no\nann,1,,yes\n7,0,1,no\n"


def test_a_model_for_each_key(run, tmp_path):
    path = tmp_path / "lives.csv"
    path.write_text(KEYED)
    code, out, _ = run("keyed", path, "--key", "who", "--seq", "t")
    answers = answers_of(out)
    assert code == 0
    assert [(a["key"], a["seq"], a["n_seen"]) for a in answers] == [
        ("ann", 0, 1), ("bob", 0, 1), ("ann", 1, 2), ("ann", 1, 2), ("007", 0, 1), ("ann", 1, 2),
        ("7", 0, 1),
    ]  # fmt: skip
    assert answers[2]["prediction"] == "yes"
    assert (answers[3]["accuracy"], answers[5]["accuracy"]) == (0.0, 0.5)
    assert set(answers[0]) == {"key", "seq", "prediction", "margin", "n_seen", "accuracy"}


def test_each_key_has_labels_of_its_own(run, stdin):
    labels = {"ann": ["a", "b", "c"], "bob": [0, 1, 2, 3], "eve": [True, False]}
    lines = [
        {"key": key, "u": t % len(names), "y": names[t % len(names)]}
        for t in range(48)
        for key, names in labels.items()
    ]
    stdin("\n".join(map(json.dumps, lines)))
    code, out, err = run("keyed", "--model", "forgetron", "--gamma", "5")
    assert code == 0
    assert "144 lines" in err
    for key, names in labels.items():
        answers = [answer for answer in answers_of(out) if answer["key"] == key]
        assert [a["prediction"] for a in answers[36:]] == 12 // len(names) * names
        assert answers[-1]["margin"] > 0 or key == "eve"


def test_the_default_model_is_mnemotron(run, stdin):
    text = "key,a,y\n" + "".join(f"1,{t % 5},{t % 2}\n" for t in range(30))
    for command in (["learn", "--target", "y"], ["keyed"]):
        stdin(text)
        expected = run(*command, "--model", "mnemotron")[1]
        stdin(text)
        assert run(*command)[1] == expected


def test_keys_are_counted_where_nothing_numbers_them(run, stdin):
    lines = [{"key": key, "u": t, "y": t > 1} for t in range(3) for key in ("a", 1)]
    stdin("\n".join(map(json.dumps, lines)))
    code, out, _ = run("keyed", "--model", "forgetron", "--budget", "5", "--gamma", "1")
    answers = answers_of(out)
    assert code == 0
    assert [(a["key"], a["seq"]) for a in answers] == [
        (key, t) for t in range(3) for key in ("a", 1)
    ]
    assert [a["margin"] for a in answers[::2]] == [a["margin"] for a in answers[1::2]]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("u,y\n1,2\n", [], "no column 'key', only u, y"),
        ("key,u,y\nann,1,2\nann,red,2\n", [], "line 3: 'red' in column 'u'"),
        ("key,u,y\nann,1,2\n", ["--seq", "t"], "no column 't', only"),
        ("key,t,u,y\nann,one,1,2\n", ["--seq", "t"], "line 2: seq is 'one'"),
        ("key,t,u,y\nann,1_0,1,2\n", ["--seq", "t"], "line 2: seq is '1_0'"),
        ("key,t,u,y\nann,1.5,1,2\n", ["--seq", "t"], "line 2: seq is 1.5"),
        ("key,t,u,y\nann,1,,2\n", ["--seq", "t"], "line 2: event 1 of 'ann' is new"),
        ('{"key": "ann"\n', [], "line 1: not JSON"),
        ("key,u,y\nann,1,2\n", ["--model", "tightest,forgetron"], "no algorithm is called"),
    ],
)
def test_what_has_no_model_for_its_key(run, stdin, text, options, message):
    stdin(text)
    code, _, err = run("keyed", *options)
    assert code == 2
    assert message in err.splitlines()[-1]
