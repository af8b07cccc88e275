"""The bytes of checkpoints: compressed ones, and those that this process has written."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import river_budget as rb
from river_budget import checkpoint, mnemotron, synth
from river_budget.checkpoint import CheckpointError
from river_budget.checkpoint import format as file_format

ROWS = list(synth.NoisyCheckerboard(60, seed=3))


def trained(model):
    for x, y in ROWS:
        model.learn_one(x, y)
    return model


MODEL = trained(rb.Forgetron(rb.RBF(gamma=1.0), budget=10))
PLAIN = checkpoint.dumps(MODEL, {"n": 60})
COMPRESSED = checkpoint.dumps(MODEL, {"n": 60}, compress=True)


def test_a_reader_need_not_know_that_a_file_is_compressed(tmp_path):
    checkpoint.save(MODEL, tmp_path / "model", {"n": 60}, compress=True)
    assert (tmp_path / "model").read_bytes() == COMPRESSED
    loaded, extra = checkpoint.restore(tmp_path / "model")
    assert extra == {"n": 60}
    assert checkpoint.dumps(loaded, extra) == PLAIN
    assert len(COMPRESSED) < 0.6 * len(PLAIN)


@given(st.integers(0, 8 * len(COMPRESSED) - 1))
def test_no_flipped_bit_of_a_compressed_file_changes_the_model(bit):
    changed = bytearray(COMPRESSED)
    changed[bit // 8] ^= 1 << bit % 8
    try:
        found = checkpoint.loads(bytes(changed))
    except CheckpointError:
        return
    # The bits that fill up the last byte of the compressed data mean nothing.
    assert checkpoint.dumps(found, {"n": 60}) == PLAIN


@given(st.integers(0, len(COMPRESSED) - 1), st.binary(max_size=20))
def test_no_torn_compressed_file_goes_unnoticed(length, rest):
    if COMPRESSED[:length] + rest != COMPRESSED:
        with pytest.raises(CheckpointError):
            checkpoint.loads(COMPRESSED[:length] + rest)


def compressed(data, size):
    return file_format.COMPRESSED + size.to_bytes(8, "little") + zlib.compress(data)


def test_a_small_file_does_not_become_a_large_one():
    zeros = bytes(10**8)
    with pytest.raises(CheckpointError, match="its size is wrong"):
        checkpoint.loads(compressed(zeros, 10**8))
    # It claims to be small, and is read no further than that.
    with pytest.raises(CheckpointError, match="it is damaged"):
        checkpoint.loads(compressed(zeros, 1000))


def test_what_shrinks_too_much_is_not_compressed():
    tensors = {"zeros": np.zeros(10**6)}
    data = file_format.pack({"model": None}, tensors, compress=True)
    assert data == file_format.pack({"model": None}, tensors)
    assert file_format.unpack(data).tensors["zeros"].shape == (10**6,)


@pytest.mark.parametrize(
    ("array", "kind"),
    [
        ([], "int8"), ([0, 127], "int8"), ([-128], "int8"), ([128], "int16"), ([-(2**15)], "int16"),
        ([2**15], "int32"), ([2**31], "int64"), ([-(2**63), 2**63 - 1], "int64"),
    ],
)  # fmt: skip
def test_integers_are_stored_in_the_smallest_type(array, kind):
    given = np.array(array, np.int64)
    data = checkpoint.dumps(rb.Forgetron(), {"a": given})
    stored = [t for t in file_format.unpack(data).tensors.values() if t.shape == given.shape]
    assert kind in {str(t.dtype) for t in stored}
    found = checkpoint.restores(data)[1]["a"]
    assert found.dtype == np.int64
    assert found.tolist() == array


@pytest.fixture
def checks(monkeypatch):
    """The number of times that inverses of a restored Mnemotron were compared with kernel values."""
    calls = []
    check = mnemotron.Mnemotron._check_inverses

    def counting(model):
        calls.append(model)
        check(model)

    monkeypatch.setattr(mnemotron.Mnemotron, "_check_inverses", counting)
    return calls


def test_what_this_process_has_written_is_not_checked_again(checks):
    data = checkpoint.dumps(trained(rb.Mnemotron(budget=5)))
    checkpoint.loads(data)
    assert not checks
    file_format._own.clear()  # as in another process
    checkpoint.loads(data)
    assert len(checks) == 1
    assert checkpoint.dumps(checkpoint.loads(data)) == data


def test_a_forgery_cannot_say_that_this_process_has_written_it(checks):
    content = file_format.unpack(checkpoint.dumps(trained(rb.Mnemotron(budget=5))))
    parts = {name: content.parts[name] for name in ("model", "extra")}
    inverses = parts["model"]["state"]["hypothesis"]["state"]["posteriors"]["state"]["inverses"]
    name = inverses["state"]["blocks"]["tensor"]
    own = dict(file_format._own)
    forged = file_format.pack(parts, {**content.tensors, name: 1.1 * content.tensors[name]})
    file_format._own.clear()
    file_format._own.update(own)  # The forgery was packed by another process.
    with pytest.raises(CheckpointError, match="an inverse is not that of the kernel values"):
        checkpoint.loads(forged)
    assert checks
