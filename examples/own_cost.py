"""Your own cost model: which amounts of a transition have a price.

    wfairl --tasks examples/own_cost.py train demos.safetensors --task-model task.json --cost fee -o runs/fee

A cost with few weights is a `PricesCost` over amounts of your own. Everything else (the floor, the gradient through the
planner, training, files) follows. This model has a single price per control, like a table of fees. A network is a
`wfairl.networks.CostNetwork`, with `inputs_of` and `preactivation`, and is trained by Adam.
"""

import numpy as np
from own_world import TASK

from wfairl import collect, find_plan
from wfairl.core.costs import CostSettings, PricesCost, prepare_scenes, register_cost_model, train_cost
from wfairl.core.planning import feature_cost


class FeeCost(PricesCost):
    """One fee per control, wherever it is taken."""

    kind = "fee"

    @classmethod
    def features_of(cls, product):
        controls = len(product.world.controls)
        return np.tile(np.arange(controls), len(product)), np.eye(controls)  # a row per control, of amount 1

    def names_of(self, world):
        return world.controls


register_cost_model(FeeCost)  # for `--cost fee`, and for reading its files

if __name__ == "__main__":
    moves, _, bumps = range(3)
    expert = feature_cost(lambda features: 3 - 2 * features[:, moves] - 2 * features[:, bumps])  # grabbing costs 3
    dataset = collect(TASK, successes=24, failures=0, temperature=0.5, seed=0, cost=expert)
    scenes = prepare_scenes(dataset.demonstrations, TASK.make_world, TASK.rule, threshold=0.5).scenes
    model = FeeCost.for_products([scene.product for scene in scenes])
    cost = train_cost(model, scenes, CostSettings()).model  # a cost, as planners take it
    product = scenes[0].product
    print(*(f"{name} {fee:.2f}" for name, fee in zip(product.world.controls, cost.prices, strict=True)), sep=", ")
    print(f"a plan costs {find_plan(product, cost(product)).cost:.2f}")
