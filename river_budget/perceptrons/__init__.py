"""The kernel perceptrons, one algorithm per file.

All of them predict with a kernel expansion and update it on mistakes (`base.Perceptron`). They
differ in how they bound the support set:

- No budget: `KernelPerceptron` adds every mistake, `KernelPAClassifier` every example with a margin
  below 1. They are the unbounded baselines.
- Stop: `Stoptron` no longer updates once the budget is full.
- Removal: `RemoveOldestPerceptron`, `RandomizedBudgetPerceptron` and `FixedBudgetPerceptron`
  replace the oldest support vector, a random one, and the one with the largest margin without
  itself.
- Removal with shrinking: `Forgetron` shrinks all coefficients before it removes the oldest support
  vector, which bounds the damage of the removal.
- Removal with projection: `BudgetPassiveAggressive` removes the support vector whose term others can
  represent best (`_maintenance`), `Ahpatron` half of them at a time.
- Projected gradient descent in a ball: `SimplifiedForgetron` and
  `ModifiedRandomizedBudgetPerceptron` decay the hypothesis, exactly or on average, and project it
  onto a ball (`_ball`).
- Gradient descent: `BudgetedOGD` removes a random support vector and enlarges the others,
  `BudgetedSGD` merges two support vectors into a new one.
- Validated removal: `TighterPerceptron` and `TightestPerceptron` remove the support vector whose
  removal gives the smallest loss on a validation set (`_validation`).
- Projection: `Projectron` and `ProjectronPlusPlus` project examples close to the span of the support
  vectors onto it, instead of adding them. `ProjectedGradient` does so with the gradients of the hinge
  loss, in a ball.

A new algorithm is a subclass of `Perceptron`, `BudgetPerceptron` or `GrowingPerceptron` in a file
of its own, which implements `_update`. It declares what it learns beside f (`_state`), and
`@documented` completes its docstring with what all share. Export it in `river_budget/__init__.py`
and add one row to `river_budget/catalog.py`, from which tests, benchmarks and the command line read
it. A plain reference implementation of the same name in `tests/plain.py` and a trace computed by
hand pin it to its paper.
"""
