from __future__ import annotations

import math

import pytest

from river_budget import bounds


def test_the_norm_that_a_forgetron_competes_with():
    assert bounds.forgetron_norm(1000) == pytest.approx(math.sqrt(1001 / math.log(1001)) / 4)
    with pytest.raises(ValueError, match="budget"):
        bounds.forgetron_norm(0)
