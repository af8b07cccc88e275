from __future__ import annotations

import itertools
import json
import signal
import time

import pytest
from commands import CLUSTERS, CSV, answers_of, started

pytest.importorskip("typer")

import river_budget as rb
from river_budget import checkpoint
from river_budget.cli import runs
from river_budget.cli.app import CommandError

pytestmark = pytest.mark.slow

LINES = CSV.splitlines(keepends=True)
OPTIONS = ["--target", "y", "--model", "tightest", "--budget", "10"]


def test_a_run_goes_on_where_its_checkpoint_stood(run, tmp_path):
    data, saved = tmp_path / "some.csv", tmp_path / "model"
    data.write_text(CSV)
    _, expected, _ = run("learn", data, *OPTIONS)
    data.write_text("".join(LINES[:36]))
    resumable = ["learn", data, *OPTIONS, "--checkpoint", saved]
    code, first, _ = run(*resumable)
    assert (code, len(first.splitlines())) == (0, 35)
    data.write_text(CSV)
    code, rest, err = run(*resumable)
    assert code == 0
    assert "the checkpoint has seen 36 lines of this input: going on at line 37" in err
    assert first + rest == expected
    code, nothing, err = run(*resumable)
    assert (code, nothing) == (0, "")
    assert "going on at line 62" in err


@pytest.mark.parametrize("n_lines", [2, 11, 12, 13, 45, 46, 80])
@pytest.mark.parametrize("model", ["tightest", "projectron++"])
def test_a_run_of_many_labels_goes_on_exactly(run, tmp_path, model, n_lines):
    """The third label comes at line 12, and the fifth at line 46."""
    lines, data, saved = CLUSTERS.splitlines(keepends=True), tmp_path / "a.csv", tmp_path / "model"
    options = ["--target", "y", "--model", model, "--budget", "10"]
    data.write_text(CLUSTERS)
    _, expected, _ = run("learn", data, *options)
    data.write_text("".join(lines[:n_lines]))
    resumable = ["learn", data, *options, "--checkpoint", saved]
    _, first, _ = run(*resumable)
    data.write_text(CLUSTERS)
    _, rest, err = run(*resumable)
    assert f"going on at line {n_lines + 1}" in err
    assert (len(first.splitlines()), first + rest) == (n_lines - 1, expected)


def test_a_crash_is_made_good_from_the_last_checkpoint(run, tmp_path):
    data, saved = tmp_path / "some.csv", tmp_path / "model"
    data.write_text(CSV)
    _, expected, _ = run("learn", data, *OPTIONS)
    arguments = ["learn", "--every", 10, *OPTIONS, "--checkpoint", saved]
    with started(*arguments) as process:
        process.stdin.write("".join(LINES[:26]))
        process.stdin.flush()
        for _ in range(25):
            process.stdout.readline()
        process.kill()
    with started(*arguments) as process:
        out, err = process.communicate(CSV)
    assert "going on at line 22" in err
    assert out.splitlines() == expected.splitlines()[20:]


def test_a_checkpoint_goes_on_with_the_input_of_another_day(run, tmp_path):
    monday, tuesday, saved = tmp_path / "monday.csv", tmp_path / "tuesday.csv", tmp_path / "model"
    monday.write_text("".join(LINES[:31]))
    tuesday.write_text("".join(LINES[:1] + LINES[31:]))
    both = tmp_path / "both.csv"
    both.write_text(CSV)
    _, expected, _ = run("learn", both, *OPTIONS)
    _, first, _ = run("learn", monday, *OPTIONS, "--checkpoint", saved)
    code, second, err = run("learn", tuesday, *OPTIONS, "--checkpoint", saved)
    assert code == 0
    assert first + second == expected
    assert "the checkpoint has seen other input than this: learning from line 1" in err
    _, nothing, err = run("learn", tuesday, *OPTIONS, "--checkpoint", saved)
    assert nothing == ""
    assert "going on at line 32" in err


def test_a_file_of_one_name_with_other_lines_is_learned(run, tmp_path):
    data, saved = tmp_path / "some.csv", tmp_path / "model"
    data.write_text(CSV)
    run("learn", data, *OPTIONS, "--checkpoint", saved)
    data.write_text(CSV.replace("3,0,yes\n", "3,1,yes\n", 1))
    _, out, err = run("learn", data, *OPTIONS, "--checkpoint", saved)
    assert [answer["example"] for answer in answers_of(out)] == list(range(61, 121))
    assert "learning from line 1" in err
    data.write_text("".join(LINES[:10]))
    _, out, err = run("learn", data, *OPTIONS, "--checkpoint", saved)
    assert len(answers_of(out)) == 9
    assert "learning from line 1" in err


def test_standard_input_loses_no_line_to_the_comparison(run, stdin, tmp_path):
    saved = tmp_path / "model"
    arguments = ["learn", *OPTIONS, "--checkpoint", saved]
    stdin("".join(LINES[:36]))
    _, first, _ = run(*arguments)
    stdin(CSV)
    _, rest, err = run(*arguments)
    assert [a["example"] for a in answers_of(first + rest)] == list(range(1, 61))
    assert "going on at line 37" in err
    stdin("".join([*LINES[:50], "7,7,no\n", *LINES[50:]]))
    _, other, err = run(*arguments)
    assert [a["example"] for a in answers_of(other)] == list(range(61, 122))
    assert "learning from line 1" in err


def test_other_input_that_is_live_is_answered_at_once(run, stdin, tmp_path):
    saved = tmp_path / "model"
    stdin(CSV)
    run("learn", *OPTIONS, "--checkpoint", saved)
    with started("learn", *OPTIONS, "--checkpoint", saved) as process:
        process.stdin.write("u,v,y\n9,9,no\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["example"] == 61
        process.stdin.close()
        assert process.wait() == 0


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_last_line_that_is_completed_later_is_the_same_line(run, tmp_path, end):
    data, saved = tmp_path / "some.csv", tmp_path / "model"
    data.write_text("".join(LINES[:8]).rstrip(), newline=end)
    run("learn", data, *OPTIONS, "--checkpoint", saved)
    data.write_text(CSV, newline=end)
    assert "going on at line 9" in run("learn", data, *OPTIONS, "--checkpoint", saved)[2]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("within", ["\n", "\r\n", "\r"])
def test_a_run_goes_on_whatever_ends_lines_and_breaks_cells(run, tmp_path, end, within):
    data, saved = tmp_path / "some.csv", tmp_path / "model"
    lines = [line.replace(",", f',"a{within}b",', 1).replace("\n", end) for line in LINES]
    for n, n_examples in [(20, 19), (40, 39), (61, 60)]:
        data.write_text("".join(lines[:n]), newline="")
        assert run("learn", data, *OPTIONS, "--checkpoint", saved)[0] == 0
        assert checkpoint.load(saved).n_rounds == n_examples


def test_lines_that_were_skipped_are_passed_over_too(run, tmp_path):
    data, saved = tmp_path / "some.csv", tmp_path / "model"
    data.write_text("".join([*LINES[:5], "red,1,no\n", *LINES[5:9]]))
    arguments = ["learn", data, *OPTIONS, "--on-error", "skip", "--checkpoint", saved]
    assert len(answers_of(run(*arguments)[1])) == 9
    data.write_text("".join([*LINES[:5], "red,1,no\n", *LINES[5:]]))
    answers = answers_of(run(*arguments)[1])
    assert [answer["example"] for answer in answers] == list(range(9, 61))


def test_a_bad_line_saves_a_last_checkpoint(run, tmp_path):
    data, saved = tmp_path / "some.csv", tmp_path / "model"
    data.write_text("".join(LINES[:36]) + "red,1,yes\n")
    arguments = ["learn", data, *OPTIONS, "--checkpoint", saved]
    code, first, err = run(*arguments)
    assert (code, len(first.splitlines())) == (2, 35)
    assert "line 37: 'red' in column 'u'" in err
    data.write_text(CSV)
    _, rest, err = run(*arguments)
    assert "going on at line 37" in err
    assert [a["example"] for a in answers_of(first + rest)] == list(range(1, 61))


def test_a_refused_label_leaves_the_model_as_it_was(run, tmp_path):
    torn, whole = tmp_path / "torn.jsonl", tmp_path / "whole.jsonl"
    lines = [json.dumps({"u": t % 7, "y": t % 2}) + "\n" for t in range(20)]
    whole.write_text("".join(lines))
    torn.write_text("".join([*lines[:9], '{"u": 900, "y": [1]}\n', *lines[9:]]))
    options = [*OPTIONS, "--on-error", "skip"]
    answers = answers_of(run("learn", torn, *options)[1])
    assert "the label is [1]" in answers.pop(9)["error"]
    assert answers == answers_of(run("learn", whole, *options)[1])


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_saves_a_last_checkpoint(tmp_path, number, code):
    saved = tmp_path / "model"
    with started("learn", *OPTIONS, "--checkpoint", saved) as process:
        process.stdin.write("".join(LINES[:8]))
        process.stdin.flush()
        for _ in range(7):
            process.stdout.readline()
        process.send_signal(number)
        assert process.wait() == code
        n_rounds = checkpoint.load(saved).n_rounds
        assert f"{n_rounds} lines" in process.stderr.read()
    assert n_rounds in (6, 7)  # The signal may come before the seventh line is learned.


# Another thread takes the signal, so that the read of the main thread goes on as if it had begun just after it.
UNHEARD = """
import signal, threading, time
from river_budget.__main__ import main

def hear():
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
    time.sleep(1000)

signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
threading.Thread(target=hear, daemon=True).start()
main()
"""


def test_a_signal_just_before_a_read_is_heard(tmp_path):
    saved = tmp_path / "model"
    with started("learn", *OPTIONS, "--checkpoint", saved, code=UNHEARD) as process:
        process.stdin.write("".join(LINES[:3]))
        process.stdin.flush()
        for _ in range(2):
            process.stdout.readline()
        time.sleep(0.2)
        process.terminate()
        try:
            assert process.wait(timeout=30) == 143
        finally:
            process.kill()
    assert checkpoint.load(saved).n_rounds == 2


def test_a_signal_in_the_middle_of_a_line_leaves_whole_examples(tmp_path):
    data, saved = tmp_path / "some.csv", tmp_path / "model"
    data.write_text("u,v,y\n" + "".join(itertools.islice(itertools.cycle(LINES[1:]), 200_000)))
    with (tmp_path / "answers").open("w") as answers:
        process = started("learn", data, *OPTIONS, "--checkpoint", saved, stdout=answers)
        deadline = time.monotonic() + 100
        while not (tmp_path / "answers").stat().st_size and time.monotonic() < deadline:
            time.sleep(0.01)
        process.terminate()
        process.communicate()
    assert process.returncode == 143
    written = answers_of((tmp_path / "answers").read_text())
    model, extra = checkpoint.restore(saved)
    n_seen = extra["run"]["n_seen"]
    assert 0 < n_seen <= len(written) <= n_seen + 1
    assert model.n_rounds == n_seen


def test_a_closed_pipe_saves_a_last_checkpoint(tmp_path):
    saved = tmp_path / "model"
    with started("learn", *OPTIONS, "--checkpoint", saved) as process:
        process.stdin.write("".join(LINES[:3]))
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.readline()
        process.stdout.close()
        process.stdin.write(LINES[3])
        process.stdin.close()
        assert process.wait() == 1
        assert "Traceback" not in process.stderr.read()
    assert checkpoint.load(saved).n_rounds == 2


@pytest.mark.parametrize("every", [1, 1000])
def test_an_answer_that_does_not_get_out_is_given_again(run, tmp_path, monkeypatch, every):
    data, saved, printed = tmp_path / "some.csv", tmp_path / "model", []
    data.write_text(CSV)
    _, expected, _ = run("learn", data, *OPTIONS)

    def fails_at(n):
        def print_answer(fields):
            if len(printed) == n:
                raise CommandError("standard output: no space left")
            printed.append(fields)

        return print_answer

    resumable = ["learn", data, *OPTIONS, "--checkpoint", saved, "--every", every]
    for n in (0, 0, 7, 7, 20):
        monkeypatch.setattr(runs, "print_answer", fails_at(n))
        assert run(*resumable)[0] == 2
        assert (len(printed), checkpoint.load(saved).n_rounds) == (n, n)
    monkeypatch.setattr(runs, "print_answer", printed.append)
    assert run(*resumable)[0] == 0
    assert printed == answers_of(expected)


def test_a_model_that_something_else_saved_learns_on(run, tmp_path):
    data, saved = tmp_path / "some.libsvm", tmp_path / "model"
    model = rb.Forgetron(rb.RBF(gamma=0.5), budget=10)
    for t in range(20):
        model.learn_one({"a": t % 3}, t % 2)
    checkpoint.save(model, saved)
    data.write_text("1 a:1\n")
    options = ["--model", "forgetron", "--gamma", "0.5", "--budget", "10", "--checkpoint", saved]
    code, out, err = run("learn", data, *options)
    assert (code, len(answers_of(out))) == (0, 1)
    assert "line 1" not in err
    assert checkpoint.load(saved).n_rounds == 21


def test_checkpoints_that_cannot_be_used(run, tmp_path):
    data, saved = tmp_path / "some.csv", tmp_path / "model"
    data.write_text(CSV)
    options = ["learn", data, "--target", "y", "--every", "10", "--checkpoint"]
    assert run(*options, saved, "--model", "forgetron")[0] == 0
    code, _, err = run(*options, saved, "--model", "tightest")
    assert (code, err.count("\n")) == (2, 1)
    error = f"{saved} holds another model than the options ask for"
    assert f"{error}: give those of its first run, or another file" in err
    saved.write_bytes(saved.read_bytes()[:-1])
    code, _, err = run(*options, saved, "--model", "forgetron")
    assert (code, err.count("\n")) == (2, 1)
    assert f"river-budget: {saved}: this is no valid checkpoint" in err
    assert "No such file" in run(*options, "absent/model")[2]


@pytest.mark.parametrize(
    "forged",
    [
        {"n_right": "3"}, {"n_labelled": None}, {"n_lines": 1.5}, {"name": 3}, {"digests": "here"},
        {"target": 3}, {"ignored": "abc"}, {"has_texts": ["u"]}, {"feature_names": "u"},
        {"labels": ["yes"]}, {"alerts": 3}, "here",
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize(
    "command", [["learn", "--model", "forgetron", "--checkpoint"], ["predict", "--checkpoint"]]
)
def test_what_no_run_can_have_kept_is_an_error(run, tmp_path, command, forged):
    data, saved = tmp_path / "some.csv", tmp_path / "model"
    data.write_text(CSV)
    checkpoint.save(rb.Forgetron(), saved, {"run": forged})
    name, *options = command
    code, out, err = run(name, *options, saved, data, "--target", "y")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"{saved} keeps no record of a run beside its model" in err
