"""One bounded model or policy for each key: agents, devices, users.

`run_local` needs no stream engine. An engine that keeps bytes for each key calls
`KeyedLearner.step`, or keeps models live with `ModelCache`; the results are the same.
`river_budget.keyed.quix` runs on Quix Streams; it needs quixstreams, and is imported by itself.
"""

from __future__ import annotations

from river_budget.keyed.cache import ModelCache, run_local
from river_budget.keyed.learner import Event, KeyedLearner, KeyedModel, Prediction

__all__ = ["Event", "KeyedLearner", "KeyedModel", "ModelCache", "Prediction", "run_local"]
