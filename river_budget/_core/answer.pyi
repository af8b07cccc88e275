from typing import Any, NamedTuple

from river_budget._core.tickets import Ticket
from river_budget.kernels import Features

class Asked(NamedTuple):
    gaps: dict[Any, float] | None
    ticket: Ticket | None

class Waiting(NamedTuple):
    x: Features
    label: Any
    asked: Any
    @property
    def nbytes(self) -> int: ...

class Answer:
    x: Features
    label: Any
    probabilities: dict[Any, float]
    gaps: dict[Any, float] | None
    @property
    def asked(self) -> Asked: ...
    @property
    def n_rounds(self) -> int: ...
    @property
    def scores(self) -> dict[Any, float]: ...
    @property
    def margin(self) -> float: ...
    @property
    def novelty(self) -> float: ...
    def __init__(self, model: Any, x: Features, label: Any) -> None:
        """Note the label that a classifier without scores predicts for x."""

def asked_of(gaps: Any, ticket: Any) -> Asked:
    """Return what is needed of the time of an answer, as it was stored. Raises ValueError if it is wrong."""

def waiting_of(x: Any, label: Any, asked: Any) -> Waiting:
    """Return what is kept of an example, as it was stored. Raises ValueError if it is wrong."""

def check_answer(answer: Answer, model: Any) -> None:
    """Raise ValueError unless a model may learn an answer."""

def close_answer(answer: Answer) -> None:
    """Note that an answer was learned."""

def is_plain(x: Any) -> bool:
    """Return whether all names of features are texts, and all values numbers, texts or None."""

def kept(x: Any) -> Features:
    """Return a copy of features that later changes of them do not reach."""
