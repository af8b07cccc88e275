from __future__ import annotations

from typing import Annotated, Any

import typer

import river_budget as rb
from river_budget import theory
from river_budget.cli import files, named, options, output
from river_budget.cli.app import app
from river_budget.theory import bounds

HEADINGS = ["mistakes", "bound", "norm", "loss", "theorem"]


@app.command()
def certify(
    stream_name: options.Stream = "gaussians",
    target: options.Target = None,
    features: options.Features = None,
    ignored: options.Ignored = None,
    delimiter: options.Delimiter = None,
    budget: options.Budget = 1000,
    gamma: options.Gamma = None,
    limit: Annotated[
        int,
        typer.Option(
            min=1,
            help="Number of examples. For each 1,000 of them, the search for the comparators takes "
            "some 15 seconds of processor time; with ten labels, some 40.",
        ),
    ] = 2000,
    seed: options.Seed = 42,
    json_file: options.JsonFile = None,
    plot_file: options.PlotFile = None,
) -> None:
    """Print the mistakes of algorithms beside their mistake bounds.

    Each theorem is held against the hypothesis that makes its bound lowest in hindsight; the table has
    that one's norm and hinge loss. With more than two labels, these are the norm and the hinge loss of
    scores, one for each label. Both Projectrons, the Ahpatron and projected gradient descent are compared
    with the norms that a Forgetron of the budget is compared with.
    """
    columns = files.Columns(target, features, ignored, delimiter)
    rows, published = named.stream(stream_name, columns, seed, limit)
    if published is None:
        rows = _scaled(rows)
    kernel = named.rbf(published if gamma is None else gamma)
    if rows:
        kernel = kernel.resolve(rows[0][0])
    norm_bound = bounds.forgetron_norm(budget)
    certificates: dict[str, theory.Certificate] = {}
    with output.progress(10) as advance:
        with files.blaming(stream_name):
            span = theory.Span(kernel, rows)
        advance("the comparators' span done")
        for model in [
            rb.KernelPerceptron(kernel),
            rb.Forgetron(kernel, budget),
            rb.Projectron(kernel, norm_bound=norm_bound),
            rb.ProjectronPlusPlus(kernel, norm_bound=norm_bound),
            rb.SimplifiedForgetron(kernel, budget),
            rb.ModifiedRandomizedBudgetPerceptron(kernel, budget, seed=seed),
            rb.BudgetPassiveAggressive(kernel, budget),
            rb.Ahpatron(kernel, budget, norm_bound=norm_bound),
            rb.ProjectedGradient(kernel, budget, norm_bound=norm_bound),
        ]:
            certificate = theory.certify(model, rows, span=span)
            certificates[certificate.name] = certificate
            advance(f"{certificate.name} done")
    title = f"{stream_name}: {len(rows):,} examples, budget {budget}, {named.described(kernel)}"
    lines = [
        [
            name,
            f"{certificate.n_mistakes:,}",
            f"{guarantee.mistakes:,.0f}",
            f"{guarantee.norm:.2f}",
            f"{guarantee.loss:,.0f}",
            "; ".join([guarantee.theorem, *(f"lacks {failed}" for failed in guarantee.failed)]),
        ]
        for name, certificate in certificates.items()
        for guarantee in certificate.guarantees
    ]
    output.print_table(title, HEADINGS, lines)
    figures = {name: certificate.to_dict() for name, certificate in certificates.items()}
    output.report(json_file, plot_file, title, figures, "plot_certificates", certificates)


def _scaled(rows: list[named.Example]) -> list[Any]:
    """Return examples with scaled numbers. An unknown one is left out: the mean of a feature is 0."""
    from river import preprocessing  # slow to import

    scaler, scaled = preprocessing.StandardScaler(), []
    for x, y in rows:
        texts = {name: value for name, value in x.items() if isinstance(value, str | list)}
        numbers = {name: x[name] for name in x if name not in texts and x[name] is not None}
        scaler.learn_one(numbers)
        scaled.append((texts | scaler.transform_one(numbers), y))
    return scaled
