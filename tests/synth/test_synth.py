from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from river.datasets import synth as river_synth

from river_budget import synth


def arrays(stream):
    pairs = list(stream)
    return np.array([list(x.values()) for x, _ in pairs]), np.array([y for _, y in pairs])


def test_two_gaussians_have_the_published_moments():
    X, y = arrays(synth.TwoGaussians(20_000, flip=0.0, seed=1))
    for label, mean in [(True, 1.0), (False, -1.0)]:
        assert X[y == label].mean(axis=0) == pytest.approx([mean, mean], abs=0.05)
        assert X[y == label].var(axis=0) == pytest.approx([0.2, 2.0], rel=0.05)
    assert y.mean() == pytest.approx(0.5, abs=0.02)


def test_labels_are_flipped_as_often_as_asked_for():
    X, y = arrays(synth.TwoGaussians(20_000, flip=0.1, seed=1))
    assert ((X.sum(axis=1) > 0) != y).mean() > 0.1
    far = np.abs(X[:, 0]) > 1.8
    assert ((X[far, 0] > 0) != y[far]).mean() == pytest.approx(0.1, abs=0.03)


def test_the_board_without_noise():
    for x, y in synth.NoisyCheckerboard(500, squares=3, noise=0.0, seed=2):
        assert y == ((int(3 * x[0]) + int(3 * x[1])) % 2 == 1)


def test_noise_flips_labels_and_nothing_else():
    noisy, clean = (list(synth.NoisyCheckerboard(5000, noise=p, seed=2)) for p in (0.15, 0.0))
    assert [x for x, _ in noisy] == [x for x, _ in clean]
    flipped = np.mean([a != b for (_, a), (_, b) in zip(noisy, clean, strict=True)])
    assert flipped == pytest.approx(0.15, abs=0.02)


def test_gaussians_rotate():
    stream = synth.RotatingGaussians(
        speed=0.25, start=1.0, radius=2.0, deviation=0.1, flip=0, seed=1
    )
    for t, (x, y) in enumerate(stream.take(300)):
        angle = 1.0 + 0.25 * t + (0 if y else math.pi)
        assert x[0] == pytest.approx(2 * math.cos(angle), abs=0.5)
        assert x[1] == pytest.approx(2 * math.sin(angle), abs=0.5)
        assert stream.concept_at(t) == 1.0 + 0.25 * t


def test_the_path_length_is_the_sum_of_the_steps_of_the_mean():
    stream = synth.RotatingGaussians(speed=0.3, radius=2.0)
    means = [np.array(list(stream.mean_at(t).values())) for t in range(50)]
    steps = [np.linalg.norm(b - a) for a, b in itertools.pairwise(means)]
    assert stream.path_length(50) == pytest.approx(sum(steps))
    assert synth.RotatingGaussians(speed=-0.3, radius=2.0).path_length(50) == pytest.approx(
        sum(steps)
    )
    assert synth.RotatingGaussians(speed=0).path_length(50) == 0


def test_the_best_line_errs_as_often_as_labels_are_flipped():
    stream = synth.RotatingGaussians(speed=0.01, deviation=0.2, flip=0.1, seed=1)
    wrong = []
    for t, (x, y) in enumerate(stream.take(5000)):
        mean = stream.mean_at(t)
        wrong.append((x[0] * mean[0] + x[1] * mean[1] > 0) != y)
    assert np.mean(wrong) == pytest.approx(0.1, abs=0.02)


def test_the_board_shifts_and_the_points_stay():
    stream = synth.ShiftingCheckerboard(shift=0.5, every=100, noise=0, seed=3)
    stationary = synth.NoisyCheckerboard(800, noise=0, seed=3)
    for t, ((x, y), (z, label)) in enumerate(zip(stream.take(800), stationary, strict=True)):
        assert x == z
        column = int(4 * x[0] + stream.concept_at(t))
        assert y == ((column + int(4 * x[1])) % 2 == 1)
        assert stream.concept_at(t) == (t // 100 % 4) / 2
        if stream.concept_at(t) in (0, 1):
            assert y == (label != (stream.concept_at(t) == 1))


def test_start_is_the_offset_of_the_board():
    shifted = synth.ShiftingCheckerboard(shift=0.5, every=100, seed=3)
    started = synth.ShiftingCheckerboard(shift=0, start=0.5, seed=3)
    assert list(shifted.take(200))[100:] == list(started.take(200))[100:]


def test_positives_are_rare_and_lie_in_clusters():
    stream = synth.RarePositives(40_000, rate=0.05, clusters=4, radius=3.0, deviation=0.2, seed=1)
    X, y = arrays(stream)
    assert y.mean() == pytest.approx(0.05, abs=0.005)
    assert X[~y].mean(axis=0) == pytest.approx([0, 0], abs=0.03)
    assert X[~y].var(axis=0) == pytest.approx([1, 1], rel=0.05)
    means = np.array([[3, 0], [0, 3], [-3, 0], [0, -3]])
    nearest = np.linalg.norm(X[y][:, None] - means, axis=2).argmin(axis=1)
    assert np.bincount(nearest) / y.sum() == pytest.approx([0.25] * 4, abs=0.04)
    assert (X[y] - means[nearest]).std(axis=0) == pytest.approx([0.2, 0.2], rel=0.1)


def numbered(*names):
    return [[({"of": name, "n": n}, True) for n in range(5)] for name in names]


def test_a_recurring_concept_continues_where_it_stopped():
    stream = synth.RecurringConcepts(numbered("a", "b"), schedule=[(0, 2), (1, 1)], n_samples=9)
    examples = [(x["of"], x["n"]) for x, _ in stream]
    assert examples == [
        ("a", 0), ("a", 1), ("b", 0), ("a", 2), ("a", 3), ("b", 1), ("a", 4), ("a", 0), ("b", 2),
    ]  # fmt: skip
    assert ["ab"[stream.concept_at(t)] for t in range(9)] == [of for of, _ in examples]


def test_finite_concepts_start_over():
    stream = synth.RecurringConcepts([synth.TwoGaussians(7, seed=1)], n_samples=20)
    assert list(stream) == list(stream)
    assert list(stream)[7:14] == list(stream)[:7]


def test_an_empty_concept():
    with pytest.raises(ValueError, match="list has no examples"):
        next(iter(synth.RecurringConcepts([[]])))


def labels(stream, n):
    return [y for _, y in stream.take(n)]


def test_each_task_brings_its_own_classes_and_comes_back():
    stream = synth.ClassIncremental(n_classes=5, classes_per_task=2, samples_per_task=50, seed=1)
    lap = [{0, 1}, {2, 3}, {4}]
    seen = labels(stream, 300)
    assert [set(seen[start : start + 50]) for start in range(0, 300, 50)] == lap + lap
    assert [stream.concept_at(t) for t in (0, 49, 50, 149, 150)] == [0, 0, 1, 2, 0]
    assert [set(labels(task, 50)) for task in stream.tasks] == lap


def test_a_task_alone_is_the_task_in_the_stream():
    stream = synth.ClassIncremental(samples_per_task=30, seed=1)
    examples = list(stream.take(5 * 30 + 20))
    assert examples[30:60] == list(stream.tasks[1].take(30))
    assert examples[:30] + examples[150:] == list(stream.tasks[0].take(50))


def test_classes_come_back_within_later_tasks():
    stream = synth.ClassIncremental(n_classes=6, recurrence=0.25, seed=1)
    first, second, third = stream.tasks
    assert set(labels(first, 500)) == {0, 1}
    assert np.mean(np.array(labels(second, 4000)) < 2) == pytest.approx(0.25, abs=0.03)
    counts = np.bincount(labels(third, 8000)) / 8000
    assert counts == pytest.approx(4 * [0.25 / 4] + 2 * [0.75 / 2], abs=0.03)


@pytest.mark.parametrize(("n_features", "clusters"), [(1, 1), (2, 3), (20, 2)])
def test_the_closest_clusters_have_the_separation_that_is_asked_for(n_features, clusters):
    stream = synth.ClassIncremental(
        n_classes=4, n_features=n_features, clusters_per_class=clusters, separation=3.0, seed=1
    )
    means = [mean for label in range(4) for mean in stream._means[label :: stream.n_classes]]
    assert len(means) == 4 * clusters
    assert all(list(mean) == list(range(n_features)) for mean in means)
    pairs = itertools.combinations([list(mean.values()) for mean in means], 2)
    assert min(math.dist(a, b) for a, b in pairs) == pytest.approx(3.0)


def test_clusters_have_variance_one_around_their_means():
    stream = synth.ClassIncremental(n_classes=2, separation=50.0, seed=1)
    X, y = arrays(stream.take(8000))
    for label in range(2):
        means = np.array([list(mean.values()) for mean in stream._means[label :: stream.n_classes]])
        own = X[y == label]
        nearest = np.linalg.norm(own[:, None] - means, axis=2).argmin(axis=1)
        assert np.bincount(nearest) / len(own) == pytest.approx([0.5, 0.5], abs=0.05)
        for k, mean in enumerate(means):
            assert own[nearest == k].mean(axis=0) == pytest.approx(mean, abs=0.1)
            assert own[nearest == k].var(axis=0) == pytest.approx([1, 1], rel=0.1)


def test_unseeded_examples_are_new_and_their_clusters_stay():
    stream = synth.ClassIncremental(separation=100.0)
    once, again = list(stream.take(50)), list(stream.take(50))
    assert once != again
    for x, y in once + again:
        distances = [
            min(
                math.dist(x.values(), mean.values())
                for mean in stream._means[label :: stream.n_classes]
            )
            for label in range(10)
        ]
        assert np.argmin(distances) == y


@pytest.mark.parametrize(
    "stream",
    [
        synth.RotatingGaussians(seed=1),
        synth.ShiftingCheckerboard(seed=1),
        synth.RecurringConcepts([synth.RotatingGaussians(seed=1), synth.TwoGaussians(seed=2)]),
        synth.ClassIncremental(seed=1),
    ],
    ids=lambda stream: type(stream).__name__,
)
def test_endless_streams_compose_with_river_streams(stream):
    assert len(list(stream.take(12_000))) == 12_000
    drifting = river_synth.ConceptDriftStream(
        stream, synth.TwoGaussians(seed=3), seed=4, position=50, width=10
    )
    before = [x for x, _ in stream.take(10)]
    assert [x for x, _ in drifting.take(10)] == before
    assert "∞" in repr(stream)
    nested = synth.RecurringConcepts([drifting, stream], schedule=[(0, 10), (1, 10)])
    assert [x for x, _ in nested.take(20)] == before + before


@pytest.mark.parametrize(
    "make",
    [
        synth.TwoGaussians,
        synth.NoisyCheckerboard,
        synth.RotatingGaussians,
        synth.ShiftingCheckerboard,
        synth.ClassIncremental,
    ],
)
def test_streams_are_seeded_and_end(make):
    assert list(make(10, seed=3)) == list(make(10, seed=3))
    assert list(make(10, seed=3)) != list(make(10, seed=4))
    assert list(make(10, seed=3)) == list(itertools.islice(make(99, seed=3), 10))
    assert make(10).n_samples == 10


def test_the_strengths_of_a_router_turn_around():
    router, x = synth.Router(n_arms=3, change_at=5), {"difficulty": 0.5, "length": 0.0, "topic": 9}
    before, after = ([router._success_probability(t, x, a) for a in router.arms] for t in (4, 5))
    assert before == after[::-1] == sorted(before)
    assert before[1] == 0.5
    assert list(synth.Router(n_samples=9, seed=1)) == list(synth.Router(n_samples=9, seed=1))


def test_a_router_has_an_output_for_each_arm():
    router = synth.Router(n_arms=3)
    assert (router.task, router.n_outputs) == ("Multi-output binary classification", 3)
    assert "Outputs  3" in repr(router)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: synth.TwoGaussians(n_samples=0), "n_samples"),
        (lambda: synth.TwoGaussians(flip=1.5), "flip"),
        (lambda: synth.NoisyCheckerboard(noise=-0.1), "noise"),
        (lambda: synth.NoisyCheckerboard(squares=0), "squares"),
        (lambda: synth.RotatingGaussians(speed=math.inf), "speed"),
        (lambda: synth.RotatingGaussians(start="east"), "start"),
        (lambda: synth.RotatingGaussians(radius=0), "radius"),
        (lambda: synth.RotatingGaussians(deviation=-1), "deviation"),
        (lambda: synth.RotatingGaussians(0), "n_samples"),
        (lambda: synth.ShiftingCheckerboard(shift=-1), "shift"),
        (lambda: synth.ShiftingCheckerboard(every=0.5), "every"),
        (lambda: synth.ShiftingCheckerboard(start=-1), "start"),
        (lambda: synth.Router(n_arms=0), "n_arms"),
        *((lambda at=at: synth.Router(change_at=at), "change_at") for at in (0, -1, 2.5, "half")),
        (lambda: synth.ClassIncremental(0), "n_samples"),
        (lambda: synth.ClassIncremental(n_classes=1), "n_classes must be at least 2"),
        (lambda: synth.ClassIncremental(n_classes=2.5), "n_classes"),
        (lambda: synth.ClassIncremental(classes_per_task=11), "classes_per_task"),
        (lambda: synth.ClassIncremental(samples_per_task=0), "samples_per_task"),
        (lambda: synth.ClassIncremental(n_features=0), "n_features"),
        (lambda: synth.ClassIncremental(clusters_per_class=0), "clusters_per_class"),
        (lambda: synth.ClassIncremental(separation=0), "separation"),
        (lambda: synth.ClassIncremental(recurrence=1.5), "recurrence"),
        (lambda: synth.RarePositives(0), "n_samples"),
        (lambda: synth.RarePositives(rate=1.5), "rate"),
        (lambda: synth.RarePositives(clusters=0), "clusters"),
        (lambda: synth.RarePositives(radius=-1), "radius"),
        (lambda: synth.RarePositives(deviation=0), "deviation"),
        (lambda: synth.RecurringConcepts([]), "concepts must have at least one"),
        (lambda: synth.RecurringConcepts([[]], schedule=[]), "schedule must have at least one"),
        (lambda: synth.RecurringConcepts([[]], schedule=[(1, 5)]), "schedule must have .* got .1."),
        (lambda: synth.RecurringConcepts([[]], schedule=[(0, 0)]), "examples in a segment"),
    ],
)
def test_parameters_out_of_range(make, name):
    with pytest.raises(ValueError, match=name):
        make()
