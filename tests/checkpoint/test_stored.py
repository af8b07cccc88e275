"""Files that this and earlier versions have written are read."""

from __future__ import annotations

import pytest
from forging import objects, parts_of
from stored import PLACE, answers, learn

from river_budget import checkpoint
from river_budget.checkpoint import ours, registry, rivers

FILES = sorted(PLACE.glob("*/*.safetensors"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_stored_file_is_read_and_goes_on(path):
    model, extra = checkpoint.restore(path)
    expected = extra["answers"]
    found = answers(model, extra["examples"][: len(expected)])
    assert len(found) > 0
    for answer, before in zip(found, expected, strict=True):
        # Another processor, or another library, may round otherwise.
        assert answer == pytest.approx(before, rel=1e-6, abs=1e-6)
    learn(model, extra["examples"])
    again = checkpoint.loads(checkpoint.dumps(model))
    assert answers(again, extra["examples"]) == answers(model, extra["examples"])


def test_there_is_a_stored_file_for_each_class_and_version_of_its_state():
    """`python tests/stored.py` writes those of this version."""
    contents = [parts_of(path.read_bytes())[0] for path in FILES]
    stored = {(node["class"], node["schema"]) for content in contents for node in objects(content)}
    kinds = [*ours.CLASSES, *rivers.OURS, *rivers.RIVERS]
    entries = [registry._by_class[kind] for kind in kinds]
    assert {(entry.name, entry.version) for entry in entries} - stored == set()
