"""Learners of CapyMOA, which is MOA behind Python, as classifiers that are asked as River's are."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.long.streams import Stream


class UnavailableError(Exception):
    """CapyMOA or Java is not installed."""


def imported(module: str) -> Any:
    """Return a module of CapyMOA. The first import starts Java."""
    try:
        return importlib.import_module(module)
    except (ImportError, RuntimeError) as error:
        raise UnavailableError(f"CapyMOA and Java are needed ({error})") from error


class Classifier:
    """A learner of CapyMOA, which takes what `instance` makes of an example.

    Parameters
    ----------
    learner
        The name of its class.
    stream
        The stream, whose features, categories and labels MOA asks for in advance.
    parameters
        Parameters of the class that are not the defaults.

    """

    def __init__(self, learner: str, stream: Stream, parameters: Mapping[str, Any]):
        classifiers = imported("capymoa.classifier")
        self.labels = stream.labels
        self.names = list(next(stream.read())[0])
        self.schema = imported("capymoa.stream").Schema.from_custom(
            features=[*map(str, self.names), "label"],
            target="label",
            categories={
                "label": [str(label) for label in stream.labels],
                **{
                    str(name): [str(value) for value in range(size)]
                    for name, size in stream.categories.items()
                },
            },
        )
        self.make_instance = imported("capymoa.core").Instance.from_array
        self.learner = getattr(classifiers, learner)(self.schema, **parameters)

    def instance(self, x: dict) -> Any:
        """Return an example without a label, which is in Java already."""
        values = np.array([x[name] for name in self.names], dtype=float)
        instance = self.make_instance(self.schema, values)
        # It is made in Java when it is first asked for.
        _ = instance.java_instance
        return instance

    def predict_proba_one(self, instance: Any) -> dict[Any, float]:
        probabilities = self.learner.predict_proba(instance)
        if probabilities is None:
            return {}
        return dict(zip(self.labels, probabilities.tolist(), strict=True))

    def learn_one(self, instance: Any, y: Any) -> None:
        instance.java_instance.getData().setClassValue(self.labels.index(y))
        self.learner.train(instance)

    def written_bytes(self) -> int | None:
        """Return the size of the learner as Java writes it to a file, None if it cannot be written."""
        java = imported("jpype").java.io
        written = java.ByteArrayOutputStream()
        try:
            java.ObjectOutputStream(written).writeObject(self.learner.moa_learner)
        except java.NotSerializableException:
            return None
        return int(written.size())
