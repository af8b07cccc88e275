"""Classes of users in checkpoints, and states of other versions."""

from __future__ import annotations

import copy
import signal

import pytest
from algorithms import ALGORITHMS
from forging import forged, objects, parts
from pipelines import PIPELINES
from river import base

import river_budget as rb
from river_budget import checkpoint, keyed, synth
from river_budget.base import BudgetPerceptron, Count, Number
from river_budget.checkpoint import CheckpointError, registry
from river_budget.keyed import Event

ROWS = list(synth.NoisyCheckerboard(90, seed=3))
NAME = f"{__name__}.Replacing"


class Replacing(BudgetPerceptron):
    """Replaces the oldest support vector, and counts that."""

    n_replaced = Count()
    largest_margin = Number(least=0.0)

    decay: float = 1.0

    def _update(self, f, y):
        self.largest_margin = max(self.largest_margin, -y.margin)
        if f.n < self.budget:
            f.add(y)
            return
        f.shrink(self.decay)
        f.replace(f.oldest, y)
        self.n_replaced += 1


class Seen(base.Transformer):
    """Passes over names that it has not seen before; a class of River's kind."""

    def __init__(self, prefix=""):
        self.prefix = prefix
        self.names = set()

    def learn_one(self, x):
        self.names |= x.keys()

    def transform_one(self, x):
        return {f"{self.prefix}{name}": x[name] for name in self.names & x.keys()}


@pytest.fixture(autouse=True)
def _registry(monkeypatch):
    """Leave the registry as it was."""
    registry.entry_of(rb.Reject(rb.Forgetron()))
    for table in ("_by_name", "_by_class"):
        monkeypatch.setattr(registry, table, dict(getattr(registry, table)))


def trained(model=None, rows=ROWS[:60]):
    model = Replacing(budget=5, decay=0.9) if model is None else model
    for x, y in rows:
        model.learn_one(x, y)
    return model


def go_on_alike(model, other):
    for x, y in ROWS[60:]:
        assert model.predict_proba_one(x) == other.predict_proba_one(x)
        model.learn_one(x, y)
        other.learn_one(x, y)


def test_a_registered_class_goes_on_bit_for_bit():
    assert checkpoint.register(Replacing) is Replacing
    model = trained()
    loaded = checkpoint.loads(checkpoint.dumps(model))
    assert type(loaded) is Replacing
    assert (loaded.decay, loaded.n_replaced) == (0.9, model.n_replaced)
    assert model.n_replaced > 0
    go_on_alike(model, loaded)
    assert checkpoint.dumps(model) == checkpoint.dumps(loaded)


def test_a_registered_class_is_saved_by_a_checkpointer_and_has_a_model_per_key(tmp_path):
    checkpoint.register(Replacing)
    model = Replacing(budget=5)
    checkpointer = checkpoint.Checkpointer(model, tmp_path / "model", every=30)
    learner, state = keyed.KeyedLearner(lambda: Replacing(budget=5)), None
    for t, (x, y) in enumerate(ROWS[:60]):
        model.learn_one(x, y)
        checkpointer.step()
        state, _ = learner.step(state, Event("ann", t, x, y))
    go_on_alike(checkpoint.load(tmp_path / "model"), learner.deserialize(state).model)


def test_a_registered_transformer_keeps_its_attributes():
    checkpoint.register(Seen)
    model = trained(Seen(prefix="a") | rb.Forgetron(budget=5))
    loaded = checkpoint.loads(checkpoint.dumps(model))
    assert loaded["Seen"].names == model["Seen"].names == set(ROWS[0][0])
    go_on_alike(model, loaded)


def test_an_error_says_in_one_sentence_how_to_register_a_class():
    with pytest.raises(CheckpointError) as caught:
        checkpoint.dumps(trained())
    assert str(caught.value) == (
        "the model cannot be stored: Replacing cannot be stored, as it is no plain value, unless its "
        "class is registered by checkpoint.register(Replacing)"
    )


def test_a_subclass_of_a_registered_class_has_to_be_registered_itself():
    class Other(rb.Forgetron):
        pass

    with pytest.raises(CheckpointError, match=r"checkpoint.register\(Other\)"):
        checkpoint.dumps(Other())


def test_the_file_of_a_class_that_is_not_registered_says_so():
    checkpoint.register(Replacing)
    data = checkpoint.dumps(trained())
    registry._by_name.pop(NAME)
    with pytest.raises(
        CheckpointError, match=f"{NAME!r} is not known: import the module that regist"
    ):
        checkpoint.loads(data)


def test_names_in_files_are_those_of_modules_and_classes():
    checkpoint.register(Replacing)
    assert parts(Replacing())[0]["model"]["class"] == NAME
    checkpoint.register(Replacing, name="tests.Replacing")
    assert parts(Replacing())[0]["model"]["class"] == "tests.Replacing"


@pytest.mark.parametrize(
    "make", [*ALGORITHMS.values(), *PIPELINES.values()], ids=[*ALGORITHMS, *PIPELINES]
)
def test_names_of_all_other_classes_are_public(make):
    model = make(None) if make in ALGORITHMS.values() else make()
    content, _ = parts(model)
    for node in objects(content):
        package, _, name = node["class"].rpartition(".")
        assert getattr(__import__(package, fromlist=[name]), name, None) or package == "river.optim"
        assert node["schema"] == 1


def test_a_class_cannot_take_the_name_of_another_one():
    with pytest.raises(ValueError, match=r"'river_budget.Forgetron' is that of another class"):
        checkpoint.register(Replacing, name="river_budget.Forgetron")
    assert type(checkpoint.loads(checkpoint.dumps(rb.Forgetron()))) is rb.Forgetron


def test_a_class_that_is_defined_again_takes_the_place_of_the_former_one():
    checkpoint.register(Replacing)
    data = checkpoint.dumps(trained())
    again = type("Replacing", (Replacing,), {"__module__": __name__})
    again.__qualname__ = "Replacing"
    checkpoint.register(again)
    assert type(checkpoint.loads(data)) is again


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"cls": Replacing()}, "cls must be a class, got Replacing"),
        ({"cls": int}, "objects of int have no attributes"),
        ({"version": 0}, "version must be a whole number of at least 1"),
        ({"name": ""}, "name must be a text"),
        ({"name": 5}, "name must be a text"),
        ({"version": 2}, "a function for each version from 1 to 1, got"),
        ({"version": 3, "migrations": {1: dict}}, "a function for each version from 1 to 2"),
        ({"migrations": {1: dict}}, "a function for each version from 1 to 0"),
        ({"version": 2, "migrations": {1: "dict"}}, "a function for each version"),
    ],
    ids=str,
)
def test_what_cannot_be_registered(given, message):
    with pytest.raises(ValueError, match=message):
        checkpoint.register(**{"cls": Replacing, **given})


def first_version(content):
    """Return the content of a file whose class had no margin, and another name for the number."""
    older = copy.deepcopy(content)
    state = older["model"]["state"]
    state["replaced"] = state.pop("n_replaced")
    del state["largest_margin"]
    older["model"]["schema"] = 1
    return older


def renamed(state):
    return {**state, "n_replaced": state.pop("replaced")}


def with_margin(state):
    return {**state, "largest_margin": 2.5}


def test_a_state_of_an_older_version_is_migrated_step_by_step():
    checkpoint.register(Replacing, version=3, migrations={1: renamed, 2: with_margin})
    model = trained()
    content, tensors = parts(model)
    assert content["model"]["schema"] == 3
    loaded = checkpoint.loads(forged(first_version(content), tensors))
    assert (loaded.n_replaced, loaded.largest_margin) == (model.n_replaced, 2.5)
    go_on_alike(model, loaded)


def test_parts_of_a_model_are_migrated_by_themselves():
    checkpoint.register(Replacing)
    content, tensors = parts(rb.Calibrated(trained()))
    checkpoint.register(Replacing, version=2, migrations={1: with_margin})
    loaded = checkpoint.loads(forged(content, tensors))
    assert loaded.model.largest_margin == 2.5


def test_a_state_of_a_newer_version_is_refused_by_name():
    content, tensors = parts(rb.Forgetron())
    content["model"]["schema"] = 2
    message = (
        r"river_budget.Forgetron was written by a newer version of its program, with version 2"
    )
    with pytest.raises(CheckpointError, match=message):
        checkpoint.loads(forged(content, tensors))


@pytest.mark.parametrize("version", [0, -1, None, "1", 1.0, True, [1]], ids=repr)
def test_what_is_no_version_is_refused(version):
    content, tensors = parts(rb.Forgetron())
    content["model"]["schema"] = version
    with pytest.raises(CheckpointError, match="is no version of the state of river_budget"):
        checkpoint.loads(forged(content, tensors))


def test_a_migration_that_fails_is_an_error_of_the_checkpoint():
    checkpoint.register(Replacing)
    data = checkpoint.dumps(trained())
    checkpoint.register(Replacing, version=2, migrations={1: renamed})
    with pytest.raises(CheckpointError, match="replaced"):
        checkpoint.loads(data)


class TimeIsUpError(Exception):
    """What the handler of a signal raises."""


def load_while(raise_):
    """Load a checkpoint, and call a function meanwhile."""
    checkpoint.register(Replacing)
    data = checkpoint.dumps(trained())
    checkpoint.register(Replacing, version=2, migrations={1: lambda state: raise_() or state})
    return checkpoint.loads(data)


def test_the_exception_of_a_signal_passes_unchanged():
    def handle(number, frame):
        raise TimeIsUpError

    before = signal.signal(signal.SIGUSR1, handle)
    try:
        with pytest.raises(TimeIsUpError):
            load_while(lambda: signal.raise_signal(signal.SIGUSR1))
    finally:
        signal.signal(signal.SIGUSR1, before)


@pytest.mark.parametrize(
    "kind", [MemoryError, KeyboardInterrupt, TimeoutError, TimeIsUpError, SystemExit]
)
def test_exceptions_that_tell_nothing_about_a_file_pass_unchanged(kind):
    error = kind("not a matter of the file")

    def fail():
        raise error

    with pytest.raises(kind) as caught:
        load_while(fail)
    assert caught.value is error
