"""The bytes of a checkpoint: a safetensors file with one JSON text, arrays, and a digest of both.

They may be compressed, which the first bytes tell, so a reader needs no option.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple

from numpy.typing import NDArray
from safetensors.numpy import load as read_tensors
from safetensors.numpy import save as write_tensors

from river_budget._state import require

Tensors = dict[str, NDArray[Any]]

# The version of the file format. The states of classes have versions of their own.
VERSION = 2

# The name of the only entry in the metadata of a file: the digest (SHA-256) and the JSON text. Were there two
# entries, safetensors would write them in any order, and equal models would not become equal bytes.
FORMAT = "river_budget checkpoint"

# What compressed bytes begin with, before the size of the others in eight bytes. A safetensors file begins
# with the length of its header, which is less than 100 MB, so its eighth byte is 0.
COMPRESSED = b"rb-zlib\n"

# By so much a file may grow when it is read. Otherwise a small one could make a large model.
MOST_GROWTH = 100

# The digests of the states that this process has written last, at most one for each value of two bytes.
_own: dict[bytes, bytes] = {}


class Content(NamedTuple):
    """What a checkpoint holds.

    Attributes
    ----------
    parts, tensors
        The parts as JSON, by name, and the arrays that they refer to by name.
    is_own
        Whether this process has written it, so that it need not be checked like a file from elsewhere.
    """

    parts: dict[str, Any]
    tensors: Tensors
    is_own: bool


def pack(parts: Mapping[str, Any], tensors: Tensors, compress: bool = False) -> bytes:
    """Return parts as JSON, and arrays, as the bytes of a checkpoint. Raises SafetensorError."""
    text = json.dumps({"version": VERSION, **parts})
    return pack_text(text, tensors, compress)


def pack_text(text: str, tensors: Tensors, compress: bool = False) -> bytes:
    """Return a text and arrays as the bytes of a checkpoint. Raises SafetensorError."""
    digest = digest_of(text, tensors)
    data = write_tensors(tensors, {FORMAT: f"{digest.hex()} {text}"})
    _own[digest[:2]] = digest
    if not compress:
        return data
    packed = COMPRESSED + len(data).to_bytes(8, "little") + zlib.compress(data, 1)
    return packed if len(data) <= MOST_GROWTH * len(packed) else data


def unpack(data: bytes) -> Content:
    """Return what a checkpoint holds. Raises various errors if it is damaged or was forged."""
    data = _uncompressed(data)
    tensors, metadata = read_tensors(data), _metadata(data)
    require(FORMAT in metadata, "another program wrote it")
    stated, _, text = metadata[FORMAT].partition(" ")
    parts = json.loads(text)
    _check_version(parts["version"])
    digest = digest_of(text, tensors)
    require(stated == digest.hex(), "it has changed since it was written")
    return Content(parts, tensors, _own.get(digest[:2]) == digest)


def digest_of(text: str, tensors: Tensors) -> bytes:
    """Return a digest of everything in a checkpoint."""
    digest = hashlib.sha256(text.encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype.str} {tensor.shape}".encode())
        digest.update(tensor.tobytes())
    return digest.digest()


def _metadata(data: bytes) -> Mapping[str, str]:
    """Return the metadata of a safetensors file, texts by name."""
    size = int.from_bytes(data[:8], "little")
    metadata: Mapping[str, str] = json.loads(data[8 : 8 + size]).get("__metadata__", {})
    return metadata


def _uncompressed(data: bytes) -> bytes:
    """Return the bytes of a safetensors file, given as they are or compressed. Raises ValueError."""
    if not data.startswith(COMPRESSED):
        return data
    start = len(COMPRESSED) + 8
    size = int.from_bytes(data[len(COMPRESSED) : start], "little")
    require(size <= MOST_GROWTH * len(data), "its size is wrong")
    stream = zlib.decompressobj()
    try:
        # One byte more than there may be shows that there are more.
        found = stream.decompress(data[start:], size + 1)
    except zlib.error:
        raise ValueError("it is damaged") from None
    require(len(found) == size and stream.eof and not stream.unused_data, "it is damaged")
    return found


def _check_version(found: Any) -> None:
    """Raise ValueError unless this version can read a file of the given format."""
    is_newer = type(found) is int and found > VERSION
    writer = "was written by a newer version of river_budget, with" if is_newer else "has"
    is_known = type(found) is int and found == VERSION
    require(is_known, f"it {writer} the format {found!r:.20}, and only {VERSION} can be read")
