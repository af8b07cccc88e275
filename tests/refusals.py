"""What models refuse."""

from __future__ import annotations

import pickle

import pytest


def refuses(message, call, *args, **kwargs):
    """Assert that a call raises, and leaves the model as it was whose method it is.

    A failure shows the arguments.

    """
    model = getattr(call, "__self__", None)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=message):
        call(*args, **kwargs)
    assert pickle.dumps(model) == before
