"""Interrupts at each moment at which Python hears a signal, one after the other."""

from __future__ import annotations

import dis
import functools
import gc
import itertools
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any


class InterruptError(Exception):
    """What the handler of the signal raises."""


def hears(frame: FrameType, place: int) -> bool:
    """Return whether the instruction at a place hears signals, as a call and a jump back do."""
    name = dis.opname[frame.f_code.co_code[place]]
    return name.startswith("CALL") or "JUMP_BACKWARD" in name


def is_interrupted(act: Callable[[], Any], moment: int) -> bool:
    """Call a function, interrupt it at the moment with a number, and return whether it has lasted so long."""
    n = itertools.count()
    places: dict[FrameType, int] = {}

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        frame.f_trace_opcodes = True
        if event == "opcode":
            before, places[frame] = places.get(frame), frame.f_lasti
            # The beginning of a function hears signals, too.
            if (before is None or hears(frame, before)) and next(n) == moment:
                raise InterruptError
        return trace

    tracing = sys.gettrace()
    gc.disable()  # Python ignores what is raised in its callbacks.
    sys.settrace(trace)
    try:
        act()
    except InterruptError:
        return True
    finally:
        sys.settrace(tracing)
        gc.enable()
    return False


def interrupted(make: Callable[[], Any], act: Callable[[Any], Any]) -> Iterator[Any]:
    """Yield what a function makes, each time interrupted at a later moment of what is done with it."""
    for moment in itertools.count():
        made = make()
        if not is_interrupted(functools.partial(act, made), moment):
            assert moment > 0
            return
        yield made
