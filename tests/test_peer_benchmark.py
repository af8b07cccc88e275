"""What `benchmarks.peer` reads from the output of the library that it compares with."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import peer

OUTPUT = """\
--------------------------------------------------
Algorithm:  kernel_forgetron
0\t10000\t
#Training Instances:20000
Learn acuracy: 77.245781%
#SV:500
Learning time: 1.250000 s
"""


def test_time_mistakes_and_support_vectors_of_an_output():
    learned = peer.parse(OUTPUT)
    assert learned.seconds == 1.25
    assert learned.mistakes == pytest.approx(22.754219)
    assert learned.n_support == 500


@pytest.mark.parametrize("name", ["Learn acuracy", "#SV", "Learning time"])
def test_an_output_without_a_figure_is_refused(name):
    with pytest.raises(ValueError, match=r"in the output of KOL: .*Algorithm"):
        peer.parse(OUTPUT.replace(name, "?"))


def test_examples_are_written_without_zeros_and_numbered_from_one():
    X, y = np.array([[0.5, 0.0, -2.25], [0.0, 1.0, 0.0]]), np.array([True, False])
    stream = peer.Stream(X, y, gamma=1.0, budgets=[1], goals=peer.Goals(1.0, 1.0))
    assert list(peer.rows(stream)) == ["+1 1:0.5 3:-2.25\n", "-1 2:1.0\n"]


def test_the_executable_is_found_in_its_directory(tmp_path):
    binary = tmp_path / "KOL"
    binary.touch(mode=0o755)
    assert peer.executable(tmp_path) == peer.executable(binary) == binary.resolve()


def test_a_missing_executable_is_named(tmp_path):
    with pytest.raises(SystemExit, match="KOL is no executable"):
        peer.executable(tmp_path)


def test_both_sides_of_every_case_have_the_same_budget():
    stream = peer.Stream(np.ones((1, 2)), np.array([True]), 1.0, [7], peer.Goals(1.0, 1.0))
    kernel = peer.rb.RBF(gamma=1.0)
    assert [case.algorithm for case in peer.cases(stream)] == [
        "perceptron", "rbp", "forgetron", "projectron",
    ]  # fmt: skip
    assert [peer.ours(case, kernel).budget for case in peer.cases(stream)[1:]] == [7, 7, 7]
