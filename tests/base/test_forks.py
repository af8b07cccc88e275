"""Forks while a model is in use: the copy of the child says so, or goes on with the call of the thread that forked."""

from __future__ import annotations

import os
import threading

import pytest

import river_budget as rb

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]

X = {"a": 1.0}
CALLS = {
    "predict": lambda model: model.predict_one(X),
    "learn": lambda model: model.learn_one(X, True),
    "learn many": lambda model: model.learn_many({"a": [1.0, 2.0]}, [True, False]),
    "score many": lambda model: model.decision_function_many({"a": [1.0, 2.0]}),
}  # fmt: skip


def learned(function):
    model = rb.Forgetron(rb.FunctionKernel(function), budget=3)
    for u in (0.0, 1.0):
        model.learn_one({"a": u}, u == 1.0)
    return model


def in_child(act):
    """Return what a function returns in a child process, or the text of what it raises."""
    source, target = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = str(act())
        except BaseException as error:
            answer = repr(error)
        os.write(target, answer.encode())
        os._exit(0)
    os.close(target)
    os.waitpid(child, 0)
    with open(source) as pipe:
        return pipe.read()


def in_thread(act):
    """Return what a function returns in a new thread, or what it raises."""
    answers = []

    def run():
        try:
            answers.append(act())
        except RuntimeError as error:
            answers.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return answers[0]


class Gate:
    """A kernel function that waits, once it is told to, until it may go on."""

    def __init__(self):
        self.is_closed, self.entered, self.opened = False, threading.Event(), threading.Event()

    def __call__(self, x, z):
        if self.is_closed:
            self.entered.set()
            self.opened.wait()
        return rb.RBF(gamma=1.0)(x, z)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_model_that_another_thread_was_using_says_so_in_the_child(call):
    gate = Gate()
    model = learned(gate)
    gate.is_closed = True
    thread = threading.Thread(target=call, args=(model,))
    thread.start()
    gate.entered.wait()
    try:
        answers = [in_child(lambda act=act, model=model: act(model)) for act in CALLS.values()]
        # A thread of the child may get the identifier of the one that was using the model.
        answers += [in_child(lambda: in_thread(lambda: model.predict_one(X)))]
    finally:
        gate.opened.set()
        thread.join()
    for answer in answers:
        assert "in use when this process was forked" in answer
    # In the parent it ends as ever, and a later fork finds it free.
    assert in_child(lambda: model.predict_one(X)) == str(model.predict_one(X))


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_call_goes_on_in_the_child_of_the_thread_that_made_it(call):
    children = []

    def forking(x, z):
        if not children and is_forking:
            children.append(os.fork())
        return rb.RBF(gamma=1.0)(x, z)

    is_forking = False
    model = learned(forking)
    is_forking = True
    try:
        call(model)
        model.learn_one({"a": -1.0}, True)
        status = int(model.n_rounds < 3)
    except BaseException:
        status = 1
    if children == [0]:
        os._exit(status)
    assert status == 0
    assert os.waitpid(children[0], 0)[1] == 0
