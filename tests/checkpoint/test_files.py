"""Checkpoints on disk: failing writes, several writers, permissions and temporary files."""

from __future__ import annotations

import builtins
import itertools
import multiprocessing
import os
import shutil
import stat
import subprocess
import sys
import threading

import pytest

import river_budget as rb
from river_budget import checkpoint, synth
from river_budget.checkpoint import disk

ROWS = list(synth.NoisyCheckerboard(160, seed=3))
KEPT = 4
CALLS = [
    (builtins, "open"),
    (os, "open"),
    (os, "replace"),
    (os, "fsync"),
    (shutil, "copyfile"),
]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def places(path, keep=KEPT):
    return [path, *(path.with_name(f"{path.name}.{age}") for age in range(1, keep))]


def contents(path):
    """Return the bytes of all files beside a path, by name."""
    return {file.name: file.read_bytes() for file in path.parent.iterdir()}


def saved_examples(path, keep=KEPT):
    return [checkpoint.restore(place)[1]["example"] for place in places(path, keep)]


def checkpointer(path, keep=KEPT, budget=5):
    return checkpoint.Checkpointer(rb.Forgetron(budget=budget), path, every=1, keep=keep)


@pytest.fixture
def failing(monkeypatch):
    """Return a function that lets the n-th call of any of `CALLS` fail, and says if it did."""
    calls = {"left": None}

    def failing_once(original):
        def call(*arguments, **options):
            if calls["left"] is not None:
                calls["left"] -= 1
                if calls["left"] == 0:
                    raise OSError("the disk is full")
            return original(*arguments, **options)

        return call

    for module, name in CALLS:
        monkeypatch.setattr(module, name, failing_once(getattr(module, name)))
    return lambda n: calls.update(left=n)


@pytest.mark.parametrize("keep", [1, 2, KEPT])
@pytest.mark.parametrize("n_saved", [0, 1, 2, KEPT, KEPT + 2])
def test_a_failed_save_leaves_everything_as_it_was(path, keep, n_saved, failing):
    writer = checkpointer(path, keep)
    for example in range(n_saved):
        writer.save({"example": example})
    before = contents(path)
    for n in range(1, 100):
        failing(n)
        try:
            writer.save({"example": n_saved})
        except OSError:
            if contents(path) != before:
                break  # Only the names could not be forced to the disk.
        else:
            break
    assert 3 < n < 99
    assert checkpoint.restore(path)[1] == {"example": n_saved}
    assert len(contents(path)) == min(n_saved + 1, keep)


@pytest.mark.parametrize("keep", [1, 2])
def test_a_file_is_on_the_disk_before_its_name_and_its_name_before_the_end(path, monkeypatch, keep):
    """`os.fsync` forces each file to the disk before the first one is moved, and the directory last."""
    calls = []

    def note(name, call, place_of):
        def noted(*arguments):
            calls.append((name, place_of(arguments[0])))
            return call(*arguments)

        monkeypatch.setattr(os, name, noted)

    writer = checkpointer(path, keep)
    writer.save()
    note("fsync", os.fsync, lambda handle: os.fstat(handle).st_ino)
    note("replace", os.replace, lambda place: os.stat(place).st_ino)
    writer.save()
    names = [name for name, _ in calls]
    forced = [file for name, file in calls if name == "fsync"]
    files = [place.stat().st_ino for place in places(path, keep)]
    assert names == ["fsync"] * keep + ["replace"] * keep + ["fsync"]
    assert sorted(forced[:-1]) == sorted(files)
    assert forced[-1] == path.parent.stat().st_ino


def test_an_interrupt_at_any_moment_leaves_a_complete_file(path, monkeypatch):
    def interrupt(frame, event, argument):
        nonlocal n_left
        frame.f_trace_opcodes = frame.f_code is disk.write.__code__
        n_left -= event == "opcode"
        if n_left < 0:
            raise KeyboardInterrupt
        return interrupt if frame.f_trace_opcodes else None

    monkeypatch.setattr(os, "fsync", lambda handle: None)  # takes most of the time
    before = sys.gettrace()
    for n in itertools.count(step=3):
        disk.write(path, b"old", keep=2)
        n_left = n
        sys.settrace(interrupt)
        try:
            disk.write(path, b"new", keep=2)
            return
        except KeyboardInterrupt:
            assert path.read_bytes() in (b"old", b"new")
        finally:
            sys.settrace(before)


@pytest.mark.parametrize("exists", [True, False])
def test_a_symbolic_link_is_written_through(tmp_path, exists):
    (tmp_path / "data").mkdir()
    target, link = tmp_path / "data" / "target", tmp_path / "link"
    if exists:
        target.write_bytes(b"")
    between = tmp_path / "between"
    between.symlink_to(os.path.join("data", "target"))
    link.symlink_to(between)
    checkpoint.save(rb.Forgetron(), link, {"example": 0})
    writer = checkpointer(link, keep=3)
    for example in range(1, 4):
        writer.save({"example": example})
    assert link.is_symlink()
    assert between.is_symlink()
    assert checkpoint.restore(link)[1] == {"example": 3}
    assert saved_examples(target, keep=3) == [3, 2, 1]
    assert {file.name for file in tmp_path.iterdir()} == {"data", "link", "between"}
    assert len(os.listdir(target.parent)) == 3


def test_failing_writes_lose_no_older_copy(path, monkeypatch):
    writer = checkpointer(path)
    for example in range(KEPT):
        writer.save({"example": example})

    def fail(handle):
        raise OSError("no space")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fail)
        for _ in range(KEPT):
            with pytest.raises(OSError, match="no space"):
                writer.save({"example": 99})
    assert saved_examples(path) == [3, 2, 1, 0]
    writer.save({"example": 4})
    assert saved_examples(path) == [4, 3, 2, 1]


def test_a_copy_that_breaks_off_leaves_everything_as_it_was(path, monkeypatch):
    def break_off(source, target, **options):
        target.write_bytes(source.read_bytes()[:100])
        raise OSError("no space")

    writer = checkpointer(path)
    for example in range(2):
        writer.save({"example": example})
    before = contents(path)
    monkeypatch.setattr(shutil, "copy2", break_off)
    with pytest.raises(OSError, match="no space"):
        writer.save({"example": 2})
    assert contents(path) == before


def test_a_missing_copy_is_filled_before_an_older_one_goes(path):
    writer = checkpointer(path)
    for example in range(KEPT):
        writer.save({"example": example})
    places(path)[1].unlink()
    writer.save({"example": 4})
    assert saved_examples(path) == [4, 3, 1, 0]


def write_many(path, name, n):
    writer = checkpointer(path, keep=3, budget=5)
    for example in range(n):
        writer.save({"writer": name, "example": example})


@pytest.mark.slow
def test_writers_of_one_file_do_not_disturb_each_other(path):
    n_writers, n = 2, 15
    context = multiprocessing.get_context("spawn")
    writers = [
        context.Process(target=write_many, args=(path, name, n)) for name in range(n_writers)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * n_writers
    found = [checkpoint.restore(place)[1] for place in places(path, 3)]
    assert found[0]["example"] == n - 1
    assert len({tuple(extra.values()) for extra in found}) == 3
    assert len(os.listdir(path.parent)) == 3


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_the_mode_is_the_one_that_the_umask_says(path, mask, mode):
    before = os.umask(mask)
    try:
        for _ in range(3):
            checkpointer(path, keep=2).save()
        checkpoint.save(rb.Forgetron(), path.with_name("other"))
    finally:
        os.umask(before)
    modes = {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    assert modes == {mode}


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
def test_a_file_keeps_the_mode_that_it_was_given(path, mode):
    checkpoint.save(rb.Forgetron(), path)
    path.chmod(mode)
    checkpoint.save(rb.Forgetron(), path)
    checkpointer(path, keep=2).save()
    assert {stat.S_IMODE(place.stat().st_mode) for place in places(path, keep=2)} == {mode}


WRITER = """
import os, sys, time
import river_budget as rb
from river_budget import checkpoint
fsync = os.fsync
def wait(handle):
    print("writing", flush=True)
    time.sleep(600)
os.fsync = wait
checkpoint.save(rb.Forgetron(), sys.argv[1])
"""


@pytest.fixture
def writer_in_mid_write(path):
    """Yield a process that has written a temporary file, and waits before it moves it."""
    command = [sys.executable, "-c", WRITER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout.readline() == "writing\n"
        yield writer
        writer.kill()


def test_writers_take_turns_and_remove_what_killed_ones_left(path, writer_in_mid_write):
    (left,) = os.listdir(path.parent)
    waiting = threading.Thread(target=checkpoint.save, args=(rb.Forgetron(), path))
    waiting.start()
    waiting.join(0.1)
    assert waiting.is_alive()
    assert os.listdir(path.parent) == [left]
    writer_in_mid_write.kill()
    waiting.join()
    assert os.listdir(path.parent) == [path.name]


FORK = """
import os, signal, sys
import river_budget as rb
from river_budget import checkpoint
fsync, children = os.fsync, []
def fork(handle):
    children.append(os.fork())
    if children[-1] == 0:
        signal.alarm(60) or signal.pause()
    os.fsync = fsync
    fsync(handle)
os.fsync = fork
for _ in range(2):
    checkpoint.save(rb.Forgetron(), sys.argv[1])
os.kill(children[0], signal.SIGKILL)
"""


def test_a_process_that_is_forked_in_mid_write_keeps_no_lock(path):
    subprocess.run([sys.executable, "-c", FORK, str(path)], check=True, timeout=60)


def test_temporary_files_of_killed_writers_are_removed(path):
    for end in ("tmp", "old"):
        path.with_name(f".{path.name}.checkpoint.{end}").write_bytes(b"half a mod")
    checkpoint.save(rb.Forgetron(), path.with_name("other"))
    assert len(os.listdir(path.parent)) == 3, "they belong to another checkpoint"
    for keep in (1, 3):
        checkpointer(path, keep).save()
    assert set(os.listdir(path.parent)) == {"other", path.name, f"{path.name}.1"}


def test_a_temporary_file_is_no_way_to_write_elsewhere(path):
    elsewhere = path.with_name("elsewhere")
    elsewhere.write_text("mine")
    path.with_name(f".{path.name}.checkpoint.tmp").symlink_to(elsewhere)
    checkpoint.save(rb.Forgetron(), path)
    assert elsewhere.read_text() == "mine"


def test_files_of_others_stay(path):
    others = [f".{path.name}", f".{path.name}.swp", f".{path.name}.tmp", "x.tmp"]
    for name in others:
        path.with_name(name).write_text("mine")
    checkpoint.save(rb.Forgetron(), path)
    assert set(os.listdir(path.parent)) == {path.name, *others}


@pytest.mark.slow
def test_more_names_than_the_format_takes_are_refused_clearly(path):
    model = rb.Forgetron(budget=5)
    model.learn_one({"n" * 100_000_000: 1.0}, True)
    with pytest.raises(checkpoint.CheckpointError, match="header too large"):
        checkpoint.save(model, path)
    assert os.listdir(path.parent) == []
