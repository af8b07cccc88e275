"""How often a model was right: on all examples, and on those of each label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from river_budget._features import shortened
from river_budget.evaluate.comparison import text_table

# So many labels are counted, and so many are shown. An input that is only predicted may have any number.
N_LABELS, N_SHOWN = 1000, 20


class Tally:
    """Counts of examples; those of each label are its examples, its predictions, and the right ones.

    Parameters
    ----------
    record
        The `record` of an earlier run, or an empty one.
    """

    def __init__(self, record: Mapping[str, Any]) -> None:
        self.n_seen = record.get("n_seen", 0)
        self.n_labelled = record.get("n_labelled", 0)  # With a known label.
        self.n_right = record.get("n_right", 0)  # With a right prediction.
        self.labels: dict[Any, list[int]] = record.get("labels", {})

    @property
    def record(self) -> dict[str, Any]:
        """The counts, for a later run."""
        return {
            "n_seen": self.n_seen, "n_labelled": self.n_labelled, "n_right": self.n_right,
            "labels": self.labels,
        }  # fmt: skip

    @property
    def accuracy(self) -> float | None:
        """Share of right predictions among those whose label is known; None before the first."""
        return self.n_right / self.n_labelled if self.n_labelled else None

    def accuracy_with(self, prediction: Any, label: Any) -> float | None:
        """Return what the accuracy is once an example is added."""
        if label is None:
            return self.accuracy
        return (self.n_right + (prediction == label)) / (self.n_labelled + 1)

    def add(self, prediction: Any, label: Any) -> None:
        """Add an example; its label is None if it is not known."""
        self.n_seen += 1
        if label is None:
            return
        self.n_labelled += 1
        self.n_right += prediction == label
        own, predicted = self._counts_of(label), self._counts_of(prediction)
        own[0] += 1
        own[2] += prediction == label
        predicted[1] += 1

    def _counts_of(self, label: Any) -> list[int]:
        """Return the counts of a label; new ones that nobody reads for None, and if there are too many."""
        new = [0, 0, 0]
        if label is None or (label not in self.labels and len(self.labels) == N_LABELS):
            return new
        return self.labels.setdefault(label, new)

    def summary(self) -> list[str]:
        """Return texts: the accuracy of always saying one label, and the figures of each label."""
        if not self.labels:
            return []
        labels = sorted(self.labels.items(), key=lambda item: -item[1][0])
        most_frequent, (n_examples, *_) = labels[0]
        share = n_examples / sum(n for n, _, _ in self.labels.values())
        lines = [["label", "examples", "precision", "recall", "F1"]]
        for label, (n, n_predicted, n_right) in labels[:N_SHOWN]:
            precision, recall = n_right / max(n_predicted, 1), n_right / max(n, 1)
            figures = precision, recall, 2 * n_right / (n + n_predicted)
            lines.append([named(label), f"{n:,}", *(f"{figure:.4f}" for figure in figures)])
        n_more = len(labels) - N_SHOWN
        more = f"\n... and {n_more:,} labels with fewer examples" if n_more > 0 else ""
        return [
            f"always saying {named(most_frequent)} has the accuracy {share:.4f}",
            f"figures of each label\n{text_table(lines)}{more}",
        ]


def named(label: Any) -> str:
    """Return a label as a short text."""
    return shortened(str(label))[:30]
