from collections.abc import Iterator
from typing import Any, Self

class Ticket:
    n_rounds: int
    nbytes: int
    def __new__(cls) -> Self: ...
    def __iter__(self) -> Iterator[Any]: ...

def restored_ticket(numbers: Any, rows: Any) -> Ticket:
    """Return a ticket, given what an old one consists of. Raises ValueError if that contradicts itself."""
