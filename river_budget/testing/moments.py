"""Interrupts at each moment at which Python hears a signal, one after the other."""

from __future__ import annotations

import dis
import functools
import gc
import itertools
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any


class InterruptError(Exception):
    """What the handler of the signal raises."""


@functools.cache
def hearing_places(code: CodeType) -> frozenset[int]:
    """Return the places of the instructions that hear signals, as a call and a jump back do."""
    instructions = code.co_code
    names = {place: dis.opname[instructions[place]] for place in range(0, len(instructions), 2)}
    return frozenset(
        place for place, name in names.items() if name.startswith("CALL") or "JUMP_BACKWARD" in name
    )


def is_interrupted(act: Callable[[], Any], moment: int) -> bool:
    """Call a function, interrupt it at the moment with a number, and return whether it has lasted so long."""
    n = itertools.count()

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        frame.f_trace_opcodes = True
        places = hearing_places(frame.f_code)
        # The beginning of a function hears signals, and so does a generator that goes on.
        is_heard = True

        def trace_frame(frame: FrameType, event: str, arg: Any) -> Any:
            nonlocal is_heard
            if event == "opcode":
                if is_heard and next(n) == moment:
                    raise InterruptError
                is_heard = frame.f_lasti in places
            return trace_frame

        return trace_frame

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
