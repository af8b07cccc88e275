"""The kernel perceptrons, one algorithm per file.

All of them predict with a kernel expansion and update it on mistakes (`base.Perceptron`). They
bound the support set in different ways:

- No budget: `KernelPerceptron` (mistakes), `KernelPAClassifier` (margin errors): the baselines.
- Stop learning: `Stoptron`.
- Replace a vector: the oldest (`RemoveOldestPerceptron`), a random one
  (`RandomizedBudgetPerceptron`), the safest (`FixedBudgetPerceptron`).
- Shrink all coefficients, then remove the oldest: `Forgetron`.
- Remove, and project the removed term onto others (`_maintenance`): `BudgetPassiveAggressive`,
  `Ahpatron` (half of the vectors at a time).
- Gradient steps in a ball (`_norm`): `SimplifiedForgetron`, `ModifiedRandomizedBudgetPerceptron`.
- Gradient descent: `BudgetedOGD` (random removal), `BudgetedSGD` (merging).
- Remove what harms a validation set least (`_validation`): `TighterPerceptron`,
  `TightestPerceptron`.
- Project examples near the span onto it (`_span`): `Projectron`, `ProjectronPlusPlus`,
  `ProjectedGradient`.
"""
