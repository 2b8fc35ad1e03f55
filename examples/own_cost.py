"""Your own cost model: which transitions it treats alike, and one cost for each kind.

    wfairl --tasks examples/own_cost.py train demos.safetensors --task-model task.json --cost fee -o runs/fee

`inputs_of` gives the model's inputs for the transitions of a product, `preactivation` one unbounded number per distinct
row, differentiably. Everything else (the floor, the gradient through the planner, training) follows. This model has a
single weight per control, like a table of fees.
"""

import numpy as np
import torch
from own_world import TASK

from wfairl import collect, find_plan
from wfairl.core.costs import (
    CostModel,
    CostSettings,
    Estimator,
    NodeInputs,
    prepare_scenes,
    register_cost_model,
    train_cost,
)
from wfairl.core.planning import feature_cost


class FeeCost(CostModel):
    """One fee per control, wherever it is taken."""

    kind = "fee"
    estimator = Estimator.MOST_LIKELY  # few weights; a network is trained by Adam, the default

    def __init__(self, controls, **output):
        super().__init__(**output)
        self.settings |= {"controls": controls}
        self.fees = torch.nn.Parameter(torch.zeros(controls))

    @classmethod
    def for_products(cls, products, **settings):
        return cls(len(products[0].world.controls), **settings)

    def inputs_of(self, product):
        return NodeInputs(np.zeros(len(product), np.int32), len(self.fees), ())  # all nodes are alike

    def preactivation(self, inputs, rows):
        return self.fees[rows]


register_cost_model(FeeCost)  # for `--cost fee`, and for reading its files

if __name__ == "__main__":
    moves, _, bumps = range(3)
    expert = feature_cost(lambda features: 3 - 2 * features[:, moves] - 2 * features[:, bumps])  # grabbing costs 3
    dataset = collect(TASK, successes=24, failures=0, temperature=0.5, seed=0, cost=expert)
    scenes = prepare_scenes(dataset.demonstrations, TASK.make_world, TASK.rule, threshold=0.5).scenes
    model = FeeCost.for_products([scene.product for scene in scenes])
    result = train_cost(model, scenes, CostSettings())
    product, cost = scenes[0].product, result.model.as_cost()  # as planners take it
    print(*(f"{name} {fee:.2f}" for name, fee in zip(product.world.controls, cost(product)[0], strict=True)), sep=", ")
    print(f"a plan costs {find_plan(product, cost(product)).cost:.2f}")
