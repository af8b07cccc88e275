"""SplitMix64 (Steele, Lea & Flood 2014), the random number generator of the removals."""

from __future__ import annotations

import random


class SplitMix:
    """The generator, with its state in `state`."""

    def __init__(self, state):
        self.state = state

    @classmethod
    def seeded(cls, seed):
        return cls(random.Random(seed).getrandbits(64))

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        return z ^ (z >> 31)

    def randrange(self, n):
        """Return an integer from 0 to n - 1, from the high bits of an output."""
        return self.next() * n >> 64
