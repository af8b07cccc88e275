"""Each check finds the fault of a small faulty class, and passes a right one."""

from __future__ import annotations

import functools
import math
import pickle
import random
import warnings

import numpy as np
import pytest

import river_budget as rb
from river_budget import checkpoint, testing
from river_budget._state import Dict
from river_budget.base import Array, BudgetPerceptron, Count


class Replacing(BudgetPerceptron):
    """A right one: it replaces the oldest vector."""

    def _update(self, f, y):
        if f.n < self.budget:
            f.add(y)
        else:
            f.replace(f.oldest, y)


class DrawsFromAll(Replacing):
    def _update(self, f, y):
        if f.n < self.budget:
            f.add(y)
        else:
            f.replace(int(random.random() * f.n), y)


class IsSureOfAll(Replacing):
    def predict_proba_one(self, x, **kwargs):
        return dict.fromkeys(self.classes, 1.0)


class TakesTwoLabels(Replacing):
    sums = Array(2, start=(2,))

    def _update(self, f, y):
        self.sums = self.sums + np.eye(2)[y.label]
        super()._update(f, y)


class CountsWhatIsRefused(Replacing):
    n_seen = Count()

    def learn_one(self, x, y, w=1.0):
        self.n_seen += 1
        super().learn_one(x, y, w)


class CountsWithoutWeight(Replacing):
    n_seen = Count()

    def learn_one(self, x, y, w=1.0):
        super().learn_one(x, y, w)
        self.n_seen += 1


class OnlyAdds(BudgetPerceptron):
    def _update(self, f, y):
        f.add(y)


class RemembersAll(Replacing):
    seen = Dict()

    def _update(self, f, y):
        self.seen = {**self.seen, f.n_rounds: y.margin}
        super()._update(f, y)


class LosesAnAttribute(Replacing):
    n_replaced = 0

    def _update(self, f, y):
        super()._update(f, y)
        self.n_replaced += 1


class LosesWhatItReads(Replacing):
    _n_updates = 0

    def _update(self, f, y):
        self._n_updates += 1
        if f.n < self.budget:
            f.add(y)
        else:
            f.replace(self._n_updates % f.n, y)


class CopiesToItself(Replacing):
    def __copy__(self):
        return self


class LearnsMoreFromOne(Replacing):
    def learn_one(self, x, y, w=1.0):
        super().learn_one(x, y, 2.0 * w)


class DoublesScores(Replacing):
    def scores_one(self, x):
        return {label: 2.0 * score for label, score in super().scores_one(x).items()}


class KeepsTheLastExample(Replacing):
    _last = None

    def predict_one(self, x):
        self._last = x
        return super().predict_one(x)

    def learn_one(self, x, y, w=1.0):
        super().learn_one(x, y, w if x is self._last else 0.5 * w)


class ReadsTheFirstFeature(Replacing):
    def learn_one(self, x, y, w=1.0):
        super().learn_one(x, y, w if next(iter(x), "u") == "u" else 0.5 * w)


class ChangesAnArrayInPlace(Replacing):
    counts = Array(2, start=(2,))

    def _update(self, f, y):
        self.counts[0] += 1.0
        super()._update(f, y)


FAULTS = {
    DrawsFromAll: (testing.check_repeatability, "draw with the seed of the model"),
    IsSureOfAll: (testing.check_predictions, "probabilities sum to 1"),
    TakesTwoLabels: (testing.check_labels, r"A call that is valid raised IndexError\(.*your class"),
    CountsWhatIsRefused: (testing.check_refusals, "changes nothing.*`n_seen`.*leave the checks"),
    CountsWithoutWeight: (testing.check_weights, "a weight of 0 changes nothing.*`n_seen`"),
    OnlyAdds: (testing.check_budget, "but the budget of 10 is full: replace or remove a vector"),
    RemembersAll: (testing.check_memory, "memory does not grow.*keep nothing"),
    LosesAnAttribute: (testing.check_saving, "`n_replaced`.*declare each attribute that it learns"),
    LosesWhatItReads: (testing.check_saving, "declare each attribute that it learns"),
    CopiesToItself: (testing.check_copies, "After a copy by copy.copy has learned, the model differs"),
    LearnsMoreFromOne: (testing.check_blocks, "exactly the model that `learn_one` makes"),
    DoublesScores: (testing.check_answers, "The scores of an answer should be .*, as the model says"),
    KeepsTheLastExample: (testing.check_disturbances, "keep nothing in a prediction"),
    ReadsTheFirstFeature: (testing.check_order_of_features, "read features by their names"),
    ChangesAnArrayInPlace: (testing.check_interrupts, "`counts`.*replace declared arrays"),
}  # fmt: skip

for own in (Replacing, *FAULTS):
    checkpoint.register(own)


@pytest.mark.parametrize("kind", FAULTS)
def test_a_check_finds_the_fault_of_a_class(kind):
    check, message = FAULTS[kind]
    with pytest.raises(AssertionError, match=f"(?s){message}"):
        check(kind())


def test_every_check_has_a_faulty_class_and_says_how_to_mend_it():
    found = {check.__name__ for check in testing.checks(Replacing())}
    assert found == {check.__name__ for check, _ in FAULTS.values()}
    assert found | {"check_classifier", "checks"} == set(testing.__all__)
    for check, _ in FAULTS.values():
        assert "To mend it" in check.__doc__


@pytest.mark.parametrize("check", testing.checks(Replacing(budget=5)))
def test_a_right_class_passes(check):
    check()


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        rb.Mnemotron(),
        rb.RandomizedBudgetPerceptron(rb.Laplacian(gamma=0.3), max_classes=2),
        rb.Forgetron(rb.Linear(), class_weight="balanced"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_models_of_the_package_pass_and_are_left_as_they_are(model):
    before = pickle.dumps(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        testing.check_classifier(model, seed=1)
    assert pickle.dumps(model) == before


@pytest.mark.slow
def test_a_class_that_is_not_registered_is_told_how():
    class Unregistered(Replacing):
        pass

    with pytest.raises(AssertionError, match=r"checkpoint\.register\(Unregistered\)") as error:
        testing.check_saving(Unregistered())
    assert error.value.__cause__ is None
    assert error.value.__context__ is None


def test_what_is_not_checked_is_said():
    class Local(Replacing):
        pass

    checkpoint.register(Local)
    with pytest.warns(UserWarning, match="pickles are not checked: .* top level of a module"):
        checks = testing.checks(Local())
    assert len(checks) == len(testing.checks(Replacing()))
    testing.check_copies(Local())
    testing.check_answers(Local())


def distance(x, z):
    return math.exp(-0.2 * math.dist([x[name] for name in "uvw"], [z[name] for name in "uvw"]))


def jaccard(x, z):
    return len(x["words"] & z["words"]) / len(x["words"] | z["words"])


def of_words(n):
    rng = random.Random(1)
    for _ in range(n):
        y = rng.choice(["news", "mail"])
        yield {"words": {*rng.choices("abcde" if y == "news" else "cdefg", k=3)}}, y


@pytest.mark.slow
def test_a_function_as_a_kernel_is_checked_without_files():
    model = rb.Forgetron(rb.FunctionKernel(jaccard), budget=5)
    with pytest.warns(
        UserWarning, match="files and pickles are not checked: the kernel is a function"
    ):
        checks = testing.checks(model, examples=of_words(100))
    assert "check_saving" not in [check.__name__ for check in checks]
    assert len(checks) == len(FAULTS) - 2
    for check in checks:
        check()


def test_a_function_gets_numbers_if_there_are_no_examples():
    model = rb.Forgetron(rb.FunctionKernel(distance), budget=5)
    for check in (testing.check_blocks, testing.check_memory, testing.check_order_of_features):
        check(model)


def test_a_function_that_takes_only_its_own_examples_says_so():
    model = rb.Forgetron(rb.FunctionKernel(jaccard))
    with pytest.raises(AssertionError, match=r"KeyError\('words'\).*examples of your own") as error:
        testing.check_budget(model)
    assert isinstance(error.value.__cause__, KeyError)


def test_rows_of_a_block_have_one_order_of_names():
    """Sums over features follow it, and Mnemotron and KernelLDA tell by a last bit."""
    testing.check_blocks(rb.Mnemotron(budget=5), seed=3)


def test_no_question_is_about_an_example_that_is_learned():
    """It would wait for its label, and a kernel that reads two names takes many examples as equal."""
    kernels = (rb.AdditiveRationalQuadratic(gamma=0.7, names=("u", "v")),)
    testing.check_disturbances(rb.Mnemotron(budget=5, kernels=kernels), seed=2)


def test_models_without_a_budget_have_no_check_of_it():
    names = [check.__name__ for check in testing.checks(rb.KernelPerceptron())]
    assert not {"check_budget", "check_memory"} & set(names)
    names = [check.__name__ for check in testing.checks(rb.KernelLDA())]
    assert "check_memory" in names
    assert "check_budget" not in names


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: testing.check_classifier(rb.Calibrated(rb.Forgetron())), "model is a Calibrated"),
        (lambda: testing.check_budget(7), "model is a int: expected .* river_budget.base"),
        (functools.partial(testing.check_classifier, rb.Forgetron(), examples=[]), "no examples"),
    ],
)
def test_what_cannot_be_checked_is_refused(act, message):
    with pytest.raises(ValueError, match=message):
        act()
