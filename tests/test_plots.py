from __future__ import annotations

import pytest

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

import river_budget as rb
from river_budget import evaluate, plots, synth


@pytest.fixture
def axes():
    return Figure().subplots()


def texts(axes):
    return [text.get_text() for text in axes.texts]


def test_comparisons_and_continual_runs_are_written_to_files(tmp_path):
    models = {"a": rb.Stoptron(budget=5), "b": rb.Forgetron(budget=5)}
    comparison = evaluate.compare(models, synth.TwoGaussians(200, seed=1))
    plots.plot_comparison(comparison, "title", tmp_path / "comparison.png")
    tasks = [synth.RotatingGaussians(speed=0, start=a, seed=1) for a in (0, 2)]
    runs = {name: evaluate.lifelong(model, tasks, n_learn=50) for name, model in models.items()}
    plots.plot_continual_runs(runs, "title", tmp_path / "runs.png")
    for name in ["comparison.png", "runs.png"]:
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


def test_accuracies_are_written_in_their_cells(axes):
    tasks = [synth.RotatingGaussians(speed=0, start=a, seed=1) for a in (0, 2)]
    run = evaluate.lifelong(rb.Stoptron(budget=5), tasks, n_learn=50)
    plots.draw_accuracy_matrix(axes, run, "Stoptron")
    assert texts(axes) == [f"{100 * value:.0f}" for value in run.accuracy_matrix.ravel()]


def test_the_boundary_is_where_the_hypothesis_is_zero(axes):
    model = rb.KernelPerceptron(rb.RBF(gamma=1.0))
    model.learn_one({"u": 0.2, "v": 0.5}, True)
    model.learn_one({"u": 0.8, "v": 0.5}, False)
    plots.draw_decision_regions(axes, model, ("u", "v"), limits=(0.0, 1.0))
    positive, negative = (dots.get_offsets().tolist() for dots in axes.collections[-2:])
    assert positive == [[0.2, 0.5]]
    assert negative == [[0.8, 0.5]]
    (boundary,) = axes.collections[1].get_paths()[1:2]
    assert boundary.vertices[:, 0] == pytest.approx(0.5)


def test_untrained_models_are_drawn(tmp_path):
    path = tmp_path / "new.png"
    plots.plot_decision_regions({"new": rb.Forgetron()}, (0, 1), (0.0, 1.0), "title", path)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_errors_fade(axes):
    plots.draw_errors(axes, {"a": [1, 0, 0]}, factor=0.5)
    (line,) = axes.lines
    assert line.get_ydata() == pytest.approx([100, 100 / 3, 100 / 7])


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
