from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytest.importorskip("typer")

import river_budget as rb
from river_budget import cli
from river_budget.base import KernelClassifier

CSV = "u,v,y\n" + "".join(f"{t % 7},{t % 3},{'yes' if t % 2 else 'no'}\n" for t in range(60))


@pytest.fixture
def run(capsys, monkeypatch):
    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["river-budget", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        captured = capsys.readouterr()
        return ended.value.code or 0, captured.out, captured.err

    return call


def test_the_table_has_every_algorithm(run):
    code, out, err = run("compare", "--limit", "300", "--budget", "20")
    title, heading, *lines = out.splitlines()
    assert (code, err) == (0, "")
    assert title == "gaussians: 300 examples, budget 20, RBF(gamma=1.0)"
    assert heading.split() == ["algorithm", "mistakes", "%", "support", "bytes", "µs/example"]
    algorithms = {
        name
        for name in rb.__all__
        if isinstance(getattr(rb, name), type) and issubclass(getattr(rb, name), KernelClassifier)
    }
    assert {line.split()[0] for line in lines} == algorithms


def test_several_orders_show_deviations(run):
    _, out, _ = run("compare", "--limit", "200", "--permutations", "2", "--models", "stoptron")
    assert out.splitlines()[-1].count("±") == 4


@pytest.mark.parametrize(
    ("stream", "kernel"),
    [
        ("bananas", "RBF(gamma=None)"),
        ("phishing", "RBF(gamma=None)"),
        ("checkerboard", "RBF(gamma=5.0)"),
    ],
)
def test_streams_by_name(run, stream, kernel):
    code, out, _ = run("compare", "--stream", stream, "--limit", "100", "--models", "stoptron")
    assert code == 0
    assert out.splitlines()[0] == f"{stream}: 100 examples, budget 100, {kernel}"


def test_a_csv_file(run, tmp_path):
    path = tmp_path / "some.csv"
    path.write_text(CSV)
    code, out, _ = run("compare", "--stream", path, "--target", "y", "--gamma", "0.5")
    assert code == 0
    assert "60 examples, budget 100, RBF(gamma=0.5)" in out


def test_a_libsvm_file(run, tmp_path):
    path = tmp_path / "some.libsvm"
    path.write_text("".join(f"{(-1) ** t:+d} {t % 5 + 1}:1 9:0.5\n" for t in range(60)))
    code, out, _ = run("compare", "--stream", path, "--models", "Stoptron,kernel-perceptron")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[2:]] == ["Stoptron", "KernelPerceptron"]


def test_figures_and_picture_go_to_files(run, tmp_path):
    pytest.importorskip("matplotlib")
    figures, picture = tmp_path / "out.json", tmp_path / "out.png"
    code, _, _ = run("compare", "--limit", "200", "--json", figures, "--plot", picture)
    assert code == 0
    models = json.loads(figures.read_text())["models"]
    assert 0 < models["Stoptron"]["summary"]["mistakes_percent"]["mean"] < 100
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "--budget", "0"], "budget"),
        (["compare", "--budget", "many"], "budget"),
        (["compare", "--colour"], "No such option"),
        (["compare", "--gamma", "-1"], "gamma must be a positive finite number"),
        (["compare", "--models", "oracle"], "no algorithm is called 'oracle'"),
        (["compare", "--stream", "rivers"], "no stream is called 'rivers'"),
        (["compare", "--stream", "absent.csv", "--target", "y"], "absent.csv cannot be read"),
        (["compare", "--stream", "absent.libsvm"], "absent.libsvm cannot be read"),
        (["compare", "--stream", "absent.csv"], "needs --target"),
        (["compare", "--json", "absent/out.json"], "the folder of absent/out.json does not exist"),
        (["compile"], "compile"),
    ],
)
def test_wrong_usage_is_one_line(run, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("u,v\n1,2\n", "no column 'y'; it has u, v"),
        ("u,y\n1,a\n2,b\n3,c\n", "3 classes (a, b, c ...)"),
        ("u,y\nred,1\n", "line 2 has 'red' in column 'u', which is not a number"),
        ("u,y\n1,1\n,1\n", "line 3 has '' in column 'u'"),
        ("u,y\nnan,1\n", "feature 'u' has the value nan"),
        ("u,y\n1\n", "no column 'y'"),
        ("u,y\n", "no examples"),
        ("", "no examples"),
        ("\x00\xff", "no examples"),
    ],
)
def test_what_a_csv_file_may_lack(run, tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    code, out, err = run("compare", "--stream", path, "--target", "y")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err


def test_a_file_that_is_not_text(run, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_bytes(b"u,y\n\xff\xfe,1\n")
    code, _, err = run("compare", "--stream", path, "--target", "y")
    assert code == 2
    assert "cannot be read" in err


def test_as_a_module_and_in_a_pipe():
    ended = subprocess.run(
        [sys.executable, "-m", "river_budget", "compare", "--limit", "100"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "KernelPerceptron" in ended.stdout
    assert ended.stderr == ""
