"""What `benchmarks.peers` gives to other programs, and reads from their output."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import river_budget as rb
from benchmarks.peers import budgetedsvm, kol, peers, shared

KOL_OUTPUT = """\
--------------------------------------------------
Algorithm:  kernel_forgetron
0\t10000\t
#Training Instances:20000
Learn acuracy: 77.245781%
#SV:500
Learning time: 1.250000 s
"""

TRAINED = "Training completed in 0.060 seconds.\n\nNumber of budget maintenance steps: 1696\n"
TESTED = "*** Testing completed in 0.007 seconds\n*** Testing error rate: 12.60 percent\n"
MODEL = "ALGORITHM: 4\nNUMBER_OF_WEIGHTS: 100\nBIAS_TERM: 0.000000\n"

EXAMPLES = shared.Examples(np.array([[0.5, 0.0, -2.25], [0.0, 1.0, 0.0]]), np.array([True, False]))
STREAM = shared.Stream(EXAMPLES, EXAMPLES, gamma=0.5)

needs_shell = pytest.mark.skipif(os.name != "posix", reason="needs a shell")


def program(path: Path, *lines: str) -> None:
    """Write an executable that appends its arguments to the file `arguments` beside it."""
    path.write_text("\n".join(["#!/bin/sh", f'echo "$@" >> {path.parent}/arguments', *lines]))
    path.chmod(0o755)


def learned_perceptron() -> rb.KernelPerceptron:
    model = rb.KernelPerceptron(rb.RBF(gamma=0.5))
    for x, y in shared.dicts(EXAMPLES):
        model.learn_one(x, y)
    return model


def test_examples_are_written_without_zeros_and_numbered_from_one(tmp_path):
    shared.write(EXAMPLES, tmp_path / "learn")
    assert (tmp_path / "learn").read_text() == "+1 1:0.5 3:-2.25\n-1 2:1.0\n"


def test_dicts_and_blocks_hold_the_same_examples():
    (x, y), _ = shared.dicts(EXAMPLES)
    frame, labels = shared.blocks(EXAMPLES)[0]
    assert x == {"f0": 0.5, "f2": -2.25}
    assert y is True
    assert frame.iloc[0].to_dict() == {"f0": 0.5, "f1": 0.0, "f2": -2.25}
    assert labels.tolist() == [True, False]


def test_time_mistakes_and_support_vectors_of_kol():
    assert kol.parse(KOL_OUTPUT) == (1.25, 22.754, 500)
    fast = KOL_OUTPUT.replace("1.250000", "1.5e-05")
    assert kol.parse(fast).seconds == 1.5e-05


@pytest.mark.parametrize("name", ["Learn acuracy", "#SV", "Learning time"])
def test_an_output_without_a_figure_is_refused(name):
    with pytest.raises(ValueError, match=r"in the output of KOL: .*Algorithm"):
        kol.parse(KOL_OUTPUT.replace(name, "?"))


@pytest.mark.parametrize("peer", [kol, budgetedsvm])
def test_both_sides_have_the_same_budget(peer):
    for title, case in peer.cases("Bananas").items():
        model = case.ours(rb.RBF(gamma=0.5))
        assert f"B={getattr(model, 'budget', None)}" in title or title == "Perceptron"
        assert ("-B 100" in " ".join(case.theirs)) == ("B=100" in title)


def test_our_errors_beside_kol_are_the_mistakes_while_learning():
    assert kol.errors(learned_perceptron(), STREAM) == 100


def test_our_errors_beside_budgetedsvm_are_those_on_the_test_part():
    model = learned_perceptron()
    swapped = shared.Examples(EXAMPLES.X, ~EXAMPLES.y)
    assert budgetedsvm.errors(model, STREAM) == 0
    assert budgetedsvm.errors(model, STREAM._replace(test=swapped)) == 100


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="needs Linux")
def test_the_time_of_kol_is_not_longer_than_it_was_on_the_processor(monkeypatch, tmp_path):
    monkeypatch.setenv(kol.VARIABLE, str(tmp_path))
    slow = KOL_OUTPUT.replace("1.250000", "1000.0")
    program(tmp_path / "KOL", f"echo '{slow}'")
    learned = kol.learned(kol.cases("2-D")["BOGD, B=500"], STREAM, tmp_path)
    assert 0 < learned.seconds < 1000
    assert learned.n_support == 500
    assert (tmp_path / "arguments").read_text().split() == [
        "-i", str(tmp_path / "learn"), "-opt", "kernel-bogd", "-gamma", "0.5",
        "-eta", "0.25", "-lambda", "0.0001", "-B", "500",
    ]  # fmt: skip


@needs_shell
def test_budgetedsvm_is_given_twice_the_width_and_lambda_of_ours(monkeypatch, tmp_path):
    monkeypatch.setenv(budgetedsvm.VARIABLE, str(tmp_path))
    program(
        tmp_path / "budgetedsvm-train", f"echo '{TRAINED}'", f"echo '{MODEL}' > {tmp_path}/model"
    )
    program(tmp_path / "budgetedsvm-predict", f"echo '{TESTED}'")
    case = budgetedsvm.cases("Bananas")["BSGD, merging, B=100"]
    assert budgetedsvm.learned(case, STREAM, tmp_path) == (0.06, 12.6, 100)
    training, _ = (tmp_path / "arguments").read_text().splitlines()
    assert "-g 1.0 " in training
    assert "-m 1 -L 0.001 -B 100 " in training
    assert case.ours(rb.RBF(gamma=0.5)).regularization == 0.0005


def test_a_library_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setenv(kol.VARIABLE, "somewhere")
    monkeypatch.delenv(budgetedsvm.VARIABLE, raising=False)
    assert peers.missing() == "RIVER_BUDGET_BUDGETEDSVM not set"
    monkeypatch.setenv(budgetedsvm.VARIABLE, "somewhere")
    assert peers.missing() == ""
