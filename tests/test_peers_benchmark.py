"""What `benchmarks.peers` gives to other programs, and reads from their output."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import river_budget as rb
from benchmarks.peers import budgetedsvm, data, dogma, kol
from benchmarks.peers.peer import Case, executable

KOL_OUTPUT = """\
--------------------------------------------------
Algorithm:  kernel_forgetron
0\t10000\t
#Training Instances:20000
Learn acuracy: 77.245781%
#SV:500
Learning time: 1.250000 s
"""

DOGMA_OUTPUT = "errors: 3\nvectors: 2\nseconds: 0.250000\n"

TRAINED = "Training completed in 0.060 seconds.\n\nNumber of budget maintenance steps: 1696\n"
TESTED = "*** Testing completed in 0.007 seconds\n*** Testing error rate: 12.60 percent\n"
MODEL = "ALGORITHM: 4\nNUMBER_OF_WEIGHTS: 100\nBIAS_TERM: 0.000000\n"

EXAMPLES = data.Examples(np.array([[0.5, 0.0, -2.25], [0.0, 1.0, 0.0]]), np.array([True, False]))
STREAM = data.Stream("Bananas", EXAMPLES, EXAMPLES, gamma=0.5)


needs_shell = pytest.mark.skipif(os.name != "posix", reason="needs a shell")


def program(path: Path, *lines: str) -> Path:
    """Write an executable that appends its arguments to the file `arguments` beside it."""
    path.write_text("\n".join(["#!/bin/sh", f'echo "$@" >> {path.parent}/arguments', *lines]))
    path.chmod(0o755)
    return path


def budgetedsvm_in(directory: Path) -> Path:
    """Write the two programs of BudgetedSVM."""
    model = directory / "model"
    program(directory / "budgetedsvm-train", f"echo '{TRAINED}'", f"echo '{MODEL}' > {model}")
    program(directory / "budgetedsvm-predict", f"echo '{TESTED}'")
    return directory


def learned_perceptron() -> rb.KernelPerceptron:
    model = rb.KernelPerceptron(rb.RBF(gamma=0.5))
    for x, y in data.dicts(EXAMPLES):
        model.learn_one(x, y)
    return model


def test_examples_are_written_without_zeros_and_numbered_from_one():
    assert list(data.libsvm(EXAMPLES)) == ["+1 1:0.5 3:-2.25\n", "-1 2:1.0\n"]


def test_dicts_and_blocks_hold_the_same_examples():
    (x, y), _ = data.dicts(EXAMPLES)
    frame, labels = data.blocks(EXAMPLES)[0]
    assert x == {"f0": 0.5, "f2": -2.25}
    assert y is True
    assert frame.iloc[0].to_dict() == {"f0": 0.5, "f1": 0.0, "f2": -2.25}
    assert labels.tolist() == [True, False]


@needs_shell
def test_an_executable_is_found_in_its_directory(tmp_path):
    binary = program(tmp_path / "KOL")
    assert executable(tmp_path, "KOL") == executable(binary, "KOL") == binary.resolve()


def test_a_missing_executable_is_named(tmp_path):
    with pytest.raises(SystemExit, match="KOL is no executable"):
        executable(tmp_path, "KOL")


@needs_shell
def test_a_directory_without_the_files_of_dogma_is_refused(tmp_path):
    with pytest.raises(SystemExit, match=r"no model_init\.m"):
        dogma.DOGMA(tmp_path, program(tmp_path / "octave-cli"))


def test_time_mistakes_and_support_vectors_of_kol():
    learned = kol.parse(KOL_OUTPUT)
    assert learned.seconds == 1.25
    assert learned.errors == pytest.approx(22.754219)
    assert learned.n_support == 500


@pytest.mark.parametrize("name", ["Learn acuracy", "#SV", "Learning time"])
def test_an_output_without_a_figure_is_refused(name):
    with pytest.raises(ValueError, match=r"in the output of KOL: .*Algorithm"):
        kol.parse(KOL_OUTPUT.replace(name, "?"))


def test_time_mistakes_and_support_vectors_of_dogma():
    assert dogma.parse(DOGMA_OUTPUT, n=12) == (0.25, 25.0, 2)


def test_a_time_with_an_exponent_is_read():
    assert dogma.parse(DOGMA_OUTPUT.replace("0.250000", "1.5e-05"), n=12).seconds == 1.5e-05


def test_time_errors_and_support_vectors_of_budgetedsvm():
    assert budgetedsvm.parse(TRAINED, TESTED, MODEL) == (0.06, 12.6, 100)


@pytest.mark.parametrize(
    "cases",
    [[Case(known, 7) for known in kol.BUDGETED], [Case(known, 7) for known in dogma.BUDGETED],
     [Case(known, 7) for known in budgetedsvm.algorithms(0.1)]],
    ids=["KOL", "DOGMA", "BudgetedSVM"],
)  # fmt: skip
def test_both_sides_have_the_same_budget_and_kernel(cases):
    models = [case.ours(gamma=0.5) for case in cases]
    assert {model.budget for model in models} == {7}
    assert {model.kernel.gamma for model in models} == {0.5}


@needs_shell
def test_our_errors_are_the_mistakes_while_learning(tmp_path):
    model = learned_perceptron()
    peer = kol.KOL(program(tmp_path / "KOL"))
    assert peer.errors(model, STREAM) == 100


@needs_shell
def test_our_errors_beside_budgetedsvm_are_those_on_the_test_part(tmp_path):
    model = learned_perceptron()
    peer = budgetedsvm.BudgetedSVM(budgetedsvm_in(tmp_path))
    swapped = data.Examples(EXAMPLES.X, ~EXAMPLES.y)
    assert peer.errors(model, STREAM) == 0
    assert peer.errors(model, STREAM._replace(test=swapped)) == 100


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="needs Linux")
def test_the_time_of_kol_is_not_longer_than_it_was_on_the_processor(tmp_path):
    slow = KOL_OUTPUT.replace("1.250000", "1000.0")
    peer = kol.KOL(program(tmp_path / "KOL", f"echo '{slow}'"))
    bogd = Case(kol.BUDGETED[-1], 500)
    learned = peer.learned(bogd, STREAM, tmp_path)
    assert 0 < learned.seconds < 1000
    assert learned.n_support == 500
    assert (tmp_path / "arguments").read_text().split() == [
        "-i", str(tmp_path / "examples"), "-opt", "kernel-bogd", "-gamma", "0.5",
        "-B", "500", "-eta", "0.25", "-lambda", "0.0001",
    ]  # fmt: skip


@needs_shell
def test_dogma_is_given_the_kernel_and_the_budget(tmp_path):
    (tmp_path / "model_init.m").touch()
    peer = dogma.DOGMA(tmp_path, program(tmp_path / "octave-cli", f"echo '{DOGMA_OUTPUT}'"))
    peer.write(STREAM, tmp_path)
    assert peer.learned(Case(dogma.BUDGETED[-1], 7), STREAM, tmp_path) == (0.25, 150.0, 2)
    script = (tmp_path / "arguments").read_text()
    assert "struct('type', 'rbf', 'gamma', 0.5)" in script
    assert "model.maxSV = 7;" in script
    assert "k_forgetron_st_train(X, Y, model)" in script


@needs_shell
def test_budgetedsvm_is_given_twice_the_width_and_lambda_of_ours(tmp_path):
    peer = budgetedsvm.BudgetedSVM(budgetedsvm_in(tmp_path))
    peer.write(STREAM, tmp_path)
    learned = peer.learned(peer.cases(STREAM)[1], STREAM, tmp_path)
    assert learned == (0.06, 12.6, 100)
    training, _ = (tmp_path / "arguments").read_text().splitlines()
    assert "-g 1.0 " in training
    assert "-B 100 " in training
    assert "-m 1 -L 0.001 " in training
    assert peer.cases(STREAM)[1].ours(gamma=0.5).regularization == 0.0005
    assert (tmp_path / "test").read_text() == "+1 1:0.5 3:-2.25\n-1 2:1.0\n"
