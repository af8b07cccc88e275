"""Runs that learn, and can go on from a checkpoint."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from river_budget import checkpoint
from river_budget.cli import files, resume
from river_budget.cli.app import CommandError
from river_budget.cli.options import OnError
from river_budget.cli.runs import Predicting

__all__ = ["Learning", "Saved", "restored"]


class Saved(NamedTuple):
    """A model, and what its run has kept beside it: None for a model that is new."""

    model: Any
    extra: dict[str, Any] | None


def restored(path: Path | None, new: Any) -> Saved:
    """Return what a checkpoint holds, or a new model if there is none."""
    if path is None or not path.exists():
        return Saved(new, None)
    try:
        saved = Saved(*checkpoint.restore(path))
    except (checkpoint.CheckpointError, OSError) as error:
        raise CommandError(str(error)) from None
    if repr(saved.model) != repr(new):
        raise CommandError(f"{path} holds another model than the options ask for")
    return saved


class Learning(Predicting):
    """Predicts each row, and then learns it if it has a label.

    Parameters
    ----------
    model
        The model.
    form
        The format of the rows.
    on_error
        Whether a bad row stops the run, or is skipped.
    lines
        The lines that the rows are read from.

    """

    def __init__(
        self, model: Any, form: files.Format, on_error: OnError, lines: resume.Lines
    ) -> None:
        super().__init__(model, form, on_error)
        self._lines = lines
        self._checkpointer: checkpoint.Checkpointer | None = None
        self._is_whole = True

    def save_to(self, path: Path, every: int) -> None:
        """Save checkpoints from now on: every so many rows, and when the run ends."""
        self._checkpointer = checkpoint.Checkpointer(self._model, path, every)

    def go_on(self, extra: dict[str, Any], rows: Iterator[files.Row], n_rows: int) -> None:
        """Continue the counts of a checkpoint, and pass over the rows that it has seen."""
        self.n_seen = extra.get("n_seen", 0)
        self.n_labelled = extra.get("n_labelled", 0)
        self.n_right = extra.get("n_right", 0)
        for _ in itertools.islice(rows, n_rows):
            self._lines.done()

    def meet(self, x: dict[Any, Any], y: Any) -> None:
        # In `learn_one` a pipeline's scaler learns before the classifier sees the label.
        self._classifier.check_label(y)
        self._is_whole = False
        self._model.learn_one(x, y)
        self._is_whole = True

    def settle(self) -> None:
        self._lines.done()
        if self._checkpointer is not None:
            self._saved(self._checkpointer.step)

    def close(self) -> None:
        if self._checkpointer is not None and self._is_whole:
            self._saved(self._checkpointer.save)

    def _saved(self, save: Callable[[dict[str, Any]], None]) -> None:
        try:
            save(self._extra())
        except (checkpoint.CheckpointError, OSError) as error:
            raise CommandError(f"no checkpoint can be saved: {error}") from None

    def _extra(self) -> dict[str, Any]:
        return {
            "n_seen": self.n_seen, "n_labelled": self.n_labelled, "n_right": self.n_right,
            "place": self._lines.place,
        }  # fmt: skip
