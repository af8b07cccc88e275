"""What `benchmarks.peer` reads from the output of the library that it compares with."""

from __future__ import annotations

from pathlib import Path

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
    assert list(peer.lines(stream)) == ["+1 1:0.5 3:-2.25\n", "-1 2:1.0\n"]


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


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="needs Linux")
def test_the_time_of_the_peer_is_not_longer_than_it_was_on_the_processor(tmp_path):
    binary = tmp_path / "KOL"
    slow = OUTPUT.replace("1.250000", "1000.0")
    binary.write_text(f"#!/bin/sh\necho \"$@\" > {tmp_path}/arguments\necho '{slow}'\n")
    binary.chmod(0o755)
    case = peer.Case("forgetron", 500)
    learned = peer.learned_by_peer(binary, tmp_path / "examples", case, gamma=0.5)
    assert 0 < learned.seconds < 1000
    assert learned.n_support == 500
    arguments = (tmp_path / "arguments").read_text().split()
    assert arguments[2:] == ["-opt", "kernel-forgetron", "-gamma", "0.5", "-B", "500"]
