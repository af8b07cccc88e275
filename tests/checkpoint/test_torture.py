"""A short run of `benchmarks.torture`, which goes on for longer."""

from __future__ import annotations

import pytest

from benchmarks.torture import EVERY, torture


@pytest.mark.slow
def test_a_learner_that_is_killed_goes_on_from_a_whole_checkpoint():
    report = torture(n_kills=2, n_rounds=3000, seed=2)
    assert report.losses == 0
    assert report.kills == 2
    assert report.runs >= 1
    assert report.loaded > 0
    assert report.replayed <= EVERY * report.kills
