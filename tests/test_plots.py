from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from river import dummy

import river_budget as rb
from river_budget import evaluate, plots, synth, theory


@pytest.fixture
def axes():
    return Figure().subplots()


def texts(axes):
    return [text.get_text() for text in axes.texts]


@pytest.mark.slow
def test_comparisons_and_continual_runs_are_written_to_files(tmp_path):
    models = {"a": rb.Stoptron(budget=5), "b": rb.Forgetron(budget=5)}
    comparison = evaluate.compare(models, synth.TwoGaussians(200, seed=1))
    plots.plot_comparison(comparison, "title").savefig(tmp_path / "comparison.png")
    tasks = [synth.RotatingGaussians(speed=0, start=a, seed=1) for a in (0, 2)]
    runs = {name: evaluate.lifelong(model, tasks, n_learn=50) for name, model in models.items()}
    plots.plot_continual_runs(runs, "title").savefig(tmp_path / "runs.png")
    for name in ["comparison.png", "runs.png"]:
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


def test_a_comparison_needs_no_title_and_no_file():
    models = {"a": rb.Stoptron(budget=5), "b": rb.Forgetron(budget=5)}
    figure = plots.plot_comparison(evaluate.compare(models, synth.TwoGaussians(200, seed=1)))
    left, right = figure.axes
    assert [text.get_text() for text in right.get_legend().get_texts()] == ["a", "b"]
    assert len(left.lines) == 2


def test_accuracies_are_written_in_their_cells(axes):
    tasks = [synth.RotatingGaussians(speed=0, start=a, seed=1) for a in (0, 2)]
    run = evaluate.lifelong(rb.Stoptron(budget=5), tasks, n_learn=50)
    plots.draw_accuracy_matrix(axes, run, "Stoptron")
    assert texts(axes) == [f"{100 * value:.0f}" for value in run.accuracy_matrix.ravel()]


@pytest.mark.slow
def test_all_figures_are_written(tmp_path):
    stream = list(synth.TwoGaussians(60, seed=1))
    model, path = rb.KernelPerceptron(rb.RBF(gamma=1.0)), tmp_path / "picture.png"
    run = evaluate.lifelong(model, [stream], n_learn=20, n_test=20)
    plots.plot_continual_runs({"a": run}).savefig(path)
    plots.plot_certificates({"a": theory.certify(model, stream)}).savefig(path)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_the_boundary_is_where_the_hypothesis_is_zero(axes):
    model = rb.KernelPerceptron(rb.RBF(gamma=1.0))
    model.learn_one({"u": 0.2, "v": 0.5}, True)
    model.learn_one({"u": 0.8, "v": 0.5}, False)
    plots.draw_decision_regions(axes, model, ("u", "v"), limits=(0.0, 1.0))
    regions, lines, dots = (axes.collections[i::3] for i in range(3))
    assert [drawn.get_offsets().tolist() for drawn in dots] == [[[0.8, 0.5]], [[0.2, 0.5]]]
    assert [tuple(region.get_facecolor()[0, :3]) for region in regions] == [
        to_rgb("green"), to_rgb("red"),
    ]  # fmt: skip
    for line in lines:
        assert line.get_paths()[0].vertices[:, 0] == pytest.approx(0.5)


CORNERS = {"a": (0.2, 0.2), "b": (0.8, 0.2), "c": (0.5, 0.8)}


@pytest.fixture
def three_labels():
    model = rb.KernelPerceptron(rb.RBF(gamma=5.0))
    for label, (u, v) in CORNERS.items():
        model.learn_one({"u": u, "v": v}, label)
    return model


def test_each_of_several_labels_has_a_colour(axes, three_labels):
    plots.draw_decision_regions(axes, three_labels, ("u", "v"), limits=(0.0, 1.0))
    regions, lines, dots = (axes.collections[i::3] for i in range(3))
    assert [[tuple(x) for x in drawn.get_offsets()] for drawn in dots] == [
        [corner] for corner in CORNERS.values()
    ]
    colors = [tuple(drawn.get_facecolor()[0, :3]) for drawn in dots]
    assert len(set(colors)) == 3
    assert [tuple(region.get_facecolor()[0, :3]) for region in regions] == colors
    for region, own in zip(regions, CORNERS, strict=True):
        (area,) = region.get_paths()
        assert [label for label, corner in CORNERS.items() if area.contains_point(corner)] == [own]
    for line in lines:
        for u, v in line.get_paths()[0].vertices:
            *_, second, first = sorted(three_labels.scores_one({"u": u, "v": v}).values())
            assert first == pytest.approx(second, abs=0.01)


def test_a_label_without_a_region_is_drawn_with_the_others(axes, three_labels):
    three_labels.learn_one({"u": 5.0, "v": 5.0}, "d")
    plots.draw_decision_regions(axes, three_labels, ("u", "v"), limits=(0.0, 1.0))
    regions = axes.collections[::3]
    assert [len(region.get_paths()[0].vertices) > 0 for region in regions] == 3 * [True] + [False]


def test_many_labels_have_different_colours(axes):
    model = rb.KernelPerceptron(rb.RBF(gamma=5.0))
    for label in range(30):
        model.learn_one({"u": float(label), "v": 0.0}, label)
    plots.draw_decision_regions(axes, model, ("u", "v"), limits=(0.0, 30.0), n_points=60)
    assert len({tuple(drawn.get_facecolor()[0]) for drawn in axes.collections[2::3]}) == 30


def test_models_of_no_label_and_of_one_have_no_regions(axes):
    model = rb.Forgetron()
    for _ in range(2):
        plots.draw_decision_regions(axes, model, (0, 1), limits=(0.0, 1.0))
        model.learn_one({0: 0.5}, True)
    assert not axes.collections


@pytest.fixture
def class_incremental_run():
    tasks = [[({"t": t}, label) for t in range(30)] for label in ("a", "b", "c")]
    return evaluate.lifelong(dummy.NoChangeClassifier(), tasks, n_learn=20, n_test=10)


def test_accuracy_on_the_tasks_so_far_is_drawn_after_each_step(axes, class_incremental_run):
    plots.draw_accuracy_seen(axes, {"last label": class_incremental_run})
    (line,) = axes.lines
    assert line.get_label() == "last label"
    assert line.get_ydata() == pytest.approx([100, 100 / 2, 100 / 3])
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["0", "1", "2"]


def test_forgetting_is_written_in_the_cells_of_earlier_classes(axes, class_incremental_run):
    plots.draw_class_forgetting(axes, {"last label": class_incremental_run})
    assert texts(axes) == ["100", "100"]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["a", "b", "c"]


def test_errors_fade(axes):
    plots.draw_errors(axes, {"a": [1, 0, 0]}, factor=0.5)
    (line,) = axes.lines
    assert line.get_ydata() == pytest.approx([100, 100 / 3, 100 / 7])


def test_coverage_and_size_of_sets_fade(axes):
    plots.draw_prediction_sets(axes, "aab", [{"a"}, set(), {"a", "b"}], coverage=0.8, factor=0.5)
    covered, target = axes.lines
    (size,) = axes.figure.axes[1].lines
    assert covered.get_ydata() == pytest.approx([100, 100 / 3, 500 / 7])
    assert size.get_ydata() == pytest.approx([1, 1 / 3, 9 / 7])
    assert set(target.get_ydata()) == {80.0}


def test_drifts_are_marked(axes):
    plots.mark_drifts(axes, [10, 20])
    assert [line.get_xdata()[0] for line in axes.lines] == [10, 20]


def test_forgetting_factors_are_stacked(axes):
    model = rb.Mnemotron(budget=5)
    history = []
    for x, y in synth.TwoGaussians(20, seed=1):
        model.learn_one(x, y)
        history.append(model.expert_weights)
    plots.draw_expert_weights(axes, range(20), history)
    assert len(axes.collections) == len({factor for _, factor, _ in history[0]})


def test_relevances_are_lines_with_gaps(axes):
    plots.draw_relevances(axes, [64, 128, 256], [{}, {"a": 1.5, "b": 0.5}, {"a": 1.2, "c": 0.8}])
    *features, mean = axes.lines
    assert [line.get_label() for line in features] == ["a", "b", "c"]
    assert features[0].get_ydata()[1:].tolist() == [1.5, 1.2]
    assert [math.isnan(value) for value in features[1].get_ydata()] == [True, False, True]
    assert set(mean.get_ydata()) == {1.0}


def test_regions_are_rectangles_that_cover_the_plane(axes):
    model = rb.Mnemotron(budget=5, regions=3, region_budget=5)
    for x, _ in synth.NoisyCheckerboard(900, seed=3):
        model.learn_one({"u": x[0], "v": x[1]}, (x[0] > 0.2) + (x[1] > 0.1))
    limits = (-1.0, 1.0)
    plots.draw_regions(axes, model, ("u", "v"), limits, n_points=20)
    drawn = [(*patch.get_xy(), patch.get_width(), patch.get_height()) for patch in axes.patches]
    assert len(drawn) == len(model.regions_) == 3
    assert sum(width * height for *_, width, height in drawn) == pytest.approx(4.0)
    bounds = model.regions_[0].bounds
    left, bottom, width, height = drawn[0]
    assert (left, left + width) == pytest.approx(np.clip(bounds.get("u", limits), *limits))
    assert (bottom, bottom + height) == pytest.approx(np.clip(bounds.get("v", limits), *limits))


def test_effects_of_features_are_bars_the_largest_at_the_top(axes):
    model = rb.KernelPerceptron(rb.Linear())
    model.learn_one({"u": 1.0, "v": 0.0}, True)
    model.learn_one({"u": 0.0, "v": 2.0}, False)
    plots.draw_explanation(axes, rb.explain(model, {"u": 3.0, "v": 1.0, "w": 7.0}), n_features=2)
    upper, lower = axes.patches
    assert (upper.get_width(), lower.get_width()) == pytest.approx((3.0, -2.0))
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["u = 3", "v = 1"]
    assert axes.yaxis.get_inverted()
    assert [to_rgb(bar.get_facecolor()[:3]) for bar in (upper, lower)] == [
        to_rgb("green"),
        to_rgb("red"),
    ]
    assert axes.get_xlabel() == "adds to the log odds of True"
