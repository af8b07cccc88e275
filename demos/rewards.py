"""A router that learns from rewards, and a gate that asks
=======================================================

Can a router learn which model is worth its cost, if it hears of its own choices only, 20 requests late? And
can a gate learn which answers are good, if a person judges one in ten?

Halfway through, the strengths of the models turn around, and their costs stay.

``python demos/rewards.py [PICTURE]``

"""

from __future__ import annotations

import collections
import random
import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import river_budget as rb
from river_budget import plots, synth

N, DELAY, WINDOW = 4000, 20, 300
ROUTER = synth.Router(n_samples=N, change_at=N // 2, seed=1)


def route(policy: rb.ArmClassifiers) -> list[tuple[dict, int, bool]]:
    """Return each request, the model that the policy chose, and whether that answered well."""
    answers, waiting = [], collections.deque()
    for x, works in ROUTER:
        ticket = policy.decide(ROUTER.arms, x)
        answers.append((x, ticket.arm, works[ticket.arm]))
        waiting.append((ticket.id, works[ticket.arm]))
        if len(waiting) > DELAY:
            policy.reward(*waiting.popleft())
    return answers


def gate(answers: list[tuple[dict, int, bool]]) -> tuple[float, int]:
    """Return the accuracy of a gate that tells whether an answer is good, and how often it asks."""
    model = rb.Query(rb.Mnemotron(), rate=0.1, seed=1)
    n_right = n_asked = 0
    for x, arm, is_good in answers:
        answer = {**x, "model": f"model {arm}", "topic": f"topic {x['topic']}"}
        says_good, asks = model.predict_one(answer)
        n_right += says_good == is_good
        if asks:
            model.learn_one(answer, is_good)
            n_asked += 1
    return n_right / len(answers), n_asked


def main() -> None:
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "rewards.png")
    answers = route(rb.ArmClassifiers(costs=ROUTER.costs, seed=1))
    rng = random.Random(1)
    rewards = {
        "ArmClassifiers": [is_good - ROUTER.costs[arm] for _, arm, is_good in answers],
        **{f"always {arm}": [w[arm] - ROUTER.costs[arm] for _, w in ROUTER] for arm in ROUTER.arms},
        "random": [
            w[arm] - ROUTER.costs[arm] for _, w in ROUTER for arm in [rng.choice(ROUTER.arms)]
        ],
        "best for each request": [max(w[a] - ROUTER.costs[a] for a in w) for _, w in ROUTER],
    }

    print(f"{'mean reward less costs':<24}{'before':>8}{'after':>8}")
    for name, values in rewards.items():
        first, second = np.mean(values[: N // 2]), np.mean(values[N // 2 :])
        print(f"{name:<24}{first:>8.3f}{second:>8.3f}")
    accuracy, n_asked = gate(answers)
    share = np.mean([is_good for *_, is_good in answers])
    print(f"the gate is right in {accuracy:.1%} of {N} answers, of which {share:.1%} are good")
    print(f"it asked {n_asked} times")

    figure = Figure(figsize=(8, 3), layout="constrained")
    axes = figure.subplots()
    for name, values in rewards.items():
        means = np.convolve(values, np.ones(WINDOW) / WINDOW, mode="valid")
        axes.plot(np.arange(WINDOW, N + 1), means, label=name)
    plots.mark_drifts(axes, [N // 2])
    axes.set(xlabel="requests", ylabel=f"mean of the last {WINDOW}")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small")
    figure.savefig(path, dpi=80)
    print(f"saved {path}")


if __name__ == "__main__":
    main()
