"""The benchmark of questions for labels."""

from __future__ import annotations

from river import datasets

from benchmarks import queries


def examples(n):
    return list(datasets.Bananas().take(n))


def test_only_the_rounds_that_were_drawn_are_asked_for():
    asking = queries.Asking([0, 3])
    asked = [asking.predict_one({"a": 1.0})[1] for _ in range(5)]
    assert asked == [True, False, False, True, False]


def test_the_first_labels_are_learned_and_do_not_count():
    asking = queries.Asking([])
    found = queries.run(asking, examples(queries.FIRST + 20))
    assert found.n_labels == 0
    assert asking.n == 19
    assert asking.predict_one(examples(1)[0][0])[0] is not None


def test_the_search_comes_near_to_the_number_of_labels():
    found = queries.nearest_run(examples(200), n_labels=40, seed=1)
    assert abs(found.n_labels - 40) <= 4
