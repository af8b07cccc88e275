"""The workers of demos/agents_on_quix.py, for benchmarks on the broker that RIVER_BUDGET_KAFKA names."""

import os
import sys
from pathlib import Path

DEMOS = str(Path(__file__).parents[1] / "demos")
sys.path.append(DEMOS)
# The process that workers are forked from looks for modules there.
os.environ["PYTHONPATH"] = os.pathsep.join(
    [DEMOS, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
)

import agents_on_quix as agents  # noqa: E402

__all__ = ["agents"]
