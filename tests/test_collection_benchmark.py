"""What `benchmarks.collection` measures, and its baselines."""

from __future__ import annotations

import numpy as np
import pytest
from river import datasets

import river_budget as rb
from benchmarks import collection
from benchmarks.collection import Point, Row
from benchmarks.fourier import Fourier
from benchmarks.nystroem import Nystroem
from river_budget.catalog import ALGORITHMS

EFFORT = collection.Effort(60, (3, 8), seconds=60.0)


def test_the_front_has_what_nothing_else_beats():
    points = {
        Row("slow and good", 1): Point(1.0, 9.0, 1, 1),
        Row("fast and bad", 1): Point(9.0, 1.0, 1, 1),
        Row("in the middle", 1): Point(5.0, 5.0, 1, 1),
        Row("beaten", 1): Point(5.0, 6.0, 1, 1),
        Row("a tie", 1): Point(5.0, 5.0, 1, 1),
    }
    assert {row.name for row in collection.front(points, collection.times(points))} == {
        "slow and good", "fast and bad", "in the middle", "a tie",
    }  # fmt: skip


def test_what_is_hardly_faster_or_was_stopped_is_not_on_the_front():
    points = {
        Row("good", 1): Point(1.0, 5.0, 9, 9),
        Row("hardly faster", 1): Point(9.0, 4.9, 9, 9),
        Row("stopped", 1): Point(0.5, 1.0, 8, 9),
    }
    assert [row.name for row in collection.front(points, collection.times(points))] == ["good"]


def test_the_front_of_budgets_leaves_out_what_has_none():
    points = {
        Row("none", None): Point(0.5, 1.0, 9, 9),
        Row("large", 9): Point(1.0, 1.0, 9, 9),
        Row("worse", 9): Point(3.0, 1.0, 9, 9),
        Row("small", 2): Point(2.0, 9.0, 9, 9),
    }
    assert [row.name for row in collection.front(points, collection.budgets(points))] == [
        "small",
        "large",
    ]


def test_every_class_is_in_the_rows():
    rows = collection.rows(EFFORT)
    assert {row.name.split(" ")[0] for row in rows} == {*ALGORITHMS, *collection.BASELINES}
    assert {row.budget for row in rows if row.name == "Forgetron"} == {3, 8}
    assert [row.budget for row in rows if row.name == "KernelPerceptron"] == [None]


def test_budgets_end_where_a_step_takes_too_long():
    budgets = {row.budget for row in collection.rows(collection.FULL) if row.name == "Mnemotron"}
    assert budgets == {20, 100, 500}


def test_every_model_has_a_style_of_its_own():
    styles = collection.styles([*collection.variants(), *collection.BASELINES, "Unknown"])
    assert len({tuple(style.items()) for style in styles.values()}) == len(styles)


@pytest.mark.parametrize(
    "row", [Row("Ahpatron", 8), Row("FOGD", 8), Row("NOGD", 8), Row("RBFSampler", 8)], ids=str
)
def test_a_row_is_measured(row):
    point = collection.measured("Bananas", row, EFFORT)
    assert point.n_done == 60
    assert 0 < point.error < 100
    assert point.microseconds > 0


def write_results(directory, cells):
    """Write a page of results as it is before the tables."""
    (directory / "docs").mkdir()
    (directory / "benchmarks").mkdir()
    page = directory / "benchmarks/RESULTS.md"
    page.write_text(f"# Results\n\n## The collection\n\n{cells}\n\n## After it\n")
    return page


def test_the_figure_and_the_table(tmp_path):
    write_results(tmp_path, "before")
    points = {
        Row("KernelPerceptron", None): Point(1.25, 9.0, 60, 60),
        Row("Forgetron", 3): Point(2.5, 4.0, 60, 60),
        Row("Forgetron", 8): Point(3.5, 5.0, 41, 60),
    }
    collection.write({"Bananas": points}, tmp_path)
    assert (tmp_path / "docs/collection.png").stat().st_size > 1000
    cells = (tmp_path / "benchmarks/RESULTS.md").read_text()
    assert cells.startswith("# Results\n\n## The collection\n")
    assert cells.endswith("\n\n## After it\n")
    assert "before" not in cells
    for cell in ["1.25 / 9.0 *", "2.50 / 4.0 *", "3.50 / 5.0 (41)", "Forgetron, B=8", "Bananas"]:
        assert cell in cells


@pytest.mark.slow
def test_a_quick_run_resumes(tmp_path, monkeypatch):
    """One stream with few rows."""
    monkeypatch.setattr(
        collection, "rows", lambda effort: [Row("Stoptron", b) for b in effort.budgets]
    )
    arguments = ["--quick", "--out", str(tmp_path), "--cells", str(tmp_path), "Bananas"]
    page = write_results(tmp_path, "")
    empty = page.read_text()
    collection.main(arguments)
    first = page.read_text()
    assert "Stoptron, B=20" in first
    page.write_text(empty)
    collection.main(arguments)
    assert page.read_text() == first, "times measured again would differ"


def test_nystroem_features_begin_as_kernel_gradient_descent():
    """Nothing changes at the landmark that completes them, where all eigenvalues are kept."""
    kernel, stream = rb.RBF(gamma=2.0), list(datasets.Bananas().take(300))
    model, plain = Nystroem(kernel, n_landmarks=7), []

    def f(x):
        return sum(0.3 * (1 if y else -1) * kernel(z, x) for z, y in plain)

    probes = [x for x, _ in stream[200:210]]
    for x, y in stream:
        if f(x) * (1 if y else -1) < 1:
            plain.append((x, y))
        model.learn_one(x, y)
        assert [model.decision_function_one(z) for z in probes] == pytest.approx(
            [f(z) for z in probes]
        )
        if len(plain) == 7:
            break
    assert model.root is not None


def test_nystroem_steps_follow_the_projected_kernel():
    """After the landmarks, a step changes f by the kernel between projections onto their span."""
    kernel, stream = rb.RBF(gamma=2.0), list(datasets.Bananas().take(100))
    model = Nystroem(kernel, n_landmarks=5)
    for x, y in stream[:40]:
        model.learn_one(x, y)
    x, y = next(
        (x, y) for x, y in stream[40:] if model.decision_function_one(x) * (1 if y else -1) < 1
    )
    z = stream[99][0]
    vectors = [dict(zip(model.names, v, strict=True)) for v in model.landmarks.tolist()]
    gram = np.array([[kernel(a, b) for a in vectors] for b in vectors])
    rows = [np.array([kernel(a, point) for a in vectors]) for point in (x, z)]
    step = 0.3 * (1 if y else -1) * float(rows[0] @ np.linalg.solve(gram, rows[1]))
    before = model.decision_function_one(z)
    model.learn_one(x, y)
    assert model.decision_function_one(z) - before == pytest.approx(step)


def test_fourier_features_approximate_the_kernel_whatever_the_order_of_names():
    kernel, stream = rb.RBF(gamma=0.5), [x for x, _ in datasets.Bananas().take(20)]
    model = Fourier(kernel, n_components=4000)
    gram = [[kernel(a, b) for a in stream] for b in stream]
    features = np.array([model._features(dict(reversed(x.items()))) for x in stream])
    assert features @ features.T == pytest.approx(np.array(gram), abs=0.08)
    again = np.array([model._features(x) for x in stream])
    assert again == pytest.approx(features)


def test_fourier_steps_are_gradients_of_the_hinge_loss():
    model, stream = Fourier(rb.RBF(gamma=2.0), n_components=50), list(datasets.Bananas().take(60))
    plain = np.zeros(50)
    for x, y in stream:
        features, sign = model._features(x), 1 if y else -1
        if sign * (plain @ features) < 1:
            plain = plain + 0.3 * sign * features
        model.learn_one(x, y)
        assert model.weights == pytest.approx(plain)
    assert model.predict_one(stream[-1][0]) == (plain @ model._features(stream[-1][0]) > 0)
