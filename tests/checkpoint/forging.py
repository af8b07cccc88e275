"""Checkpoints with a correct digest and a changed content, as an attacker would write them."""

from __future__ import annotations

import json

from river_budget import checkpoint
from river_budget.checkpoint import format as file_format

# An object of a small class, as a checkpoint has it.
UNIT_NORM = {
    "class": "river_budget.UnitNorm", "schema": 1,
    "parameters": {}, "state": {"names": {"tuple": []}},
}  # fmt: skip


def forged(content, tensors):
    """Return a checkpoint with a correct version and digest, as another process would write it."""
    return forged_text(json.dumps({"version": file_format.VERSION, **content}), tensors)


def forged_text(text, tensors):
    """Return a checkpoint whose content is a text, with a correct digest."""
    data = file_format.pack_text(text, tensors)
    file_format._own.clear()
    return data


def parts_of(data):
    """Return the content and the tensors of a checkpoint."""
    content, tensors, _ = file_format.unpack(data)
    return content, tensors


def parts(model):
    return parts_of(checkpoint.dumps(model))


def paths(node, prefix=()):
    """Yield the place of each node of a JSON document."""
    yield prefix
    children = (
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    )
    for key, child in children:
        yield from paths(child, (*prefix, key))


def objects(node):
    """Yield all objects of a JSON document."""
    if isinstance(node, dict) and "class" in node:
        yield node
    for child in (
        node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    ):
        yield from objects(child)


def change(node, path, value):
    """Set the node at a place of a JSON document."""
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
