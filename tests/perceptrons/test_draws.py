"""Random draws that come again if their round is taken back."""

from __future__ import annotations

import random
import types

import pytest

from river_budget.perceptrons import _draws

KINDS = {
    "random": lambda rng, n: rng.random(),
    "randrange": lambda rng, n: rng.randrange(n),
    "both": lambda rng, n: rng.random() if n % 2 else rng.randrange(n),
}


@pytest.mark.parametrize("draw", KINDS.values(), ids=KINDS)
def test_draws_of_rounds_that_are_taken_back_come_again(draw, monkeypatch):
    # Copies of the generator are made, too.
    monkeypatch.setattr(_draws, "MOST_WORDS", 20)
    f = types.SimpleNamespace(n_rounds=0)
    rng, expected = _draws.Draws(f, 1), random.Random(1)
    for t in range(1, 200):
        for _ in range(t % 4):
            f.n_rounds = t
            draw(rng, 7 + t)
            f.n_rounds = t - 1
            rng.take_back()
            rng.take_back()
        f.n_rounds = t
        if t % 3:
            assert draw(rng, 5 + t) == draw(expected, 5 + t)
        rng.take_back()
        assert rng._rng.getstate() == expected.getstate()
