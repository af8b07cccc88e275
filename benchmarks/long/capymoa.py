"""The learners of CapyMOA, which is MOA behind Python, on the streams of `long` and of `short`, in whose tables they are.

They get categories as nominal attributes. Their times are without Java's compiler and garbage collector, which have
threads of their own, and their memory is the size of what Java writes to a file.

"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import shutil
from itertools import product
from typing import Any

import numpy as np

from benchmarks import short, suite
from benchmarks.cells import Cell, Section
from benchmarks.long.measure import Entrant, figures
from benchmarks.long.models import SEED, Maker
from benchmarks.long.streams import SIZES, STREAMS, Stream

# Products of so many densities are zero, so the naive Bayes in MOA's leaves has no answer to most examples.
LEFT_OUT = "MNIST, shuffled"


class Classifier:
    """A learner of CapyMOA by the name of its class, which is asked as River's are. The first one starts Java.

    MOA asks for features, categories and labels in advance.

    """

    def __init__(self, name: str, stream: Stream, parameters: dict[str, int]):
        self.labels, self.names = stream.labels, list(next(stream.read())[0])
        values = {str(name): range(size) for name, size in stream.categories.items()}
        self.schema = importlib.import_module("capymoa.stream").Schema.from_custom(
            features=[*map(str, self.names), "label"],
            target="label",
            categories={
                name: [str(value) for value in every]
                for name, every in {"label": stream.labels, **values}.items()
            },
        )
        self.make_instance = importlib.import_module("capymoa.core").Instance.from_array
        classifiers = importlib.import_module("capymoa.classifier")
        self.learner = getattr(classifiers, name)(self.schema, **parameters)

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


def written_bytes(model: Classifier) -> int | None:
    """Return the size of a learner as Java writes it to a file, None if it cannot be written."""
    java = importlib.import_module("jpype").java.io
    written = java.ByteArrayOutputStream()
    try:
        java.ObjectOutputStream(written).writeObject(model.learner.moa_learner)
    except java.NotSerializableException:
        return None
    return int(written.size())


def learner(name: str, **parameters: int) -> Maker:
    """Return what makes a learner of this class for a stream."""

    def make(stream: Stream) -> Entrant:
        model = Classifier(name, stream, {"random_seed": SEED, **parameters})
        return Entrant(model, model.instance, written_bytes)

    return make


LEARNERS = {
    "CapyMOA HAT": learner("HoeffdingAdaptiveTree"),
    "CapyMOA ARF(10)": learner("AdaptiveRandomForestClassifier", ensemble_size=10),
    "CapyMOA ARF(100)": learner("AdaptiveRandomForestClassifier", ensemble_size=100),
    "CapyMOA SRP(10)": learner("StreamingRandomPatches", ensemble_size=10),
}


def measured(stream: str, model: str, n: int) -> dict[str, Any]:
    return figures(LEARNERS[model], STREAMS[stream](n))


def cells(is_quick: bool) -> list[Cell]:
    sizes = {"RandomTree": 200} if is_quick else SIZES
    return [
        Cell(stream, model, measured, (stream, model, sizes[stream]))
        for stream, model in product(sizes, LEARNERS)
        if stream != LEFT_OUT
    ]


def missing() -> str:
    is_there = importlib.util.find_spec("capymoa") and shutil.which("java")
    return "" if is_there else "the extra `long` and Java are needed"


@functools.lru_cache(maxsize=2)
def short_stream(name: str, n: int) -> Stream:
    """Return the first examples of a short stream, whose features are all taken as numbers."""
    examples = suite.STREAMS[name](n)
    labels = sorted({y for _, y in examples}, key=str)
    return Stream(lambda: iter(examples), tuple(labels))


def measured_on_short(stream: str, model: str, n: int) -> dict[str, Any]:
    return figures(LEARNERS[model], short_stream(stream, n))


def short_cells(is_quick: bool) -> list[Cell]:
    streams, n = (["Bananas"], 200) if is_quick else (list(suite.STREAMS), short.N_EXAMPLES)
    return [
        Cell(stream, model, measured_on_short, (stream, model, n))
        for stream, model in product(streams, LEARNERS)
    ]


SECTION = Section("capymoa", cells, {}, minutes=30, missing=missing)
SHORT_SECTION = Section("capymoa_short", short_cells, {}, minutes=10, missing=missing)
