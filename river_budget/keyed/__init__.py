"""One bounded model for each key: agents, devices, users."""

from __future__ import annotations

from .learner import Event, HotStates, KeyedLearner, KeyedModel, Prediction, run_local

__all__ = ["Event", "HotStates", "KeyedLearner", "KeyedModel", "Prediction", "run_local"]
