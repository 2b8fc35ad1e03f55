"""Your own choice model: the probability of choices, given the costs of transitions.

These drivers consider only the next road: pi(u | s) ~ exp(-c(s, u)), wherever it leads. Fitted to trips of drivers who
plan ahead, the model shows how much planning explains.
"""

from dataclasses import dataclass

import numpy as np
from road_network import ROADS
from scipy.special import log_softmax

from experiments.route_choice import Choices, CostFamily, ExactChoice, Information, Likelihood, fit, flat_estimate


@dataclass(frozen=True)
class MyopicChoice:
    """A multinomial logit over the next transitions: no cost-to-go."""

    name: str = "myopic"

    def control_cost_to_go(self, successors, costs, goal):
        return np.where(successors < 0, np.inf, costs)

    def log_probabilities(self, choices, costs):
        return self._log_policy(choices, costs)[choices.decisions.of_step, choices.controls]

    def log_likelihood(self, choices, costs):
        policy = np.exp(self._log_policy(choices, costs))
        counts, gradient = choices.decisions.counts, np.zeros(costs.shape)
        np.add.at(gradient, choices.decisions.nodes, counts.sum(axis=1, keepdims=True) * policy - counts)
        return Likelihood(float(self.log_probabilities(choices, costs).sum()), gradient)

    def information(self, choices, costs, features):
        policy, phi = np.exp(self._log_policy(choices, costs)), features[choices.decisions.nodes]
        excess = phi - (policy[:, :, None] * phi).sum(axis=1, keepdims=True)
        own = -excess[choices.decisions.of_step, choices.controls]
        scores = np.array([own[choices.trips == trip].sum(axis=0) for trip in np.unique(choices.trips)])
        counts = choices.decisions.counts
        return Information(scores, -np.einsum("sv,su,sui,suj->ij", counts, policy, excess, excess))

    def _log_policy(self, choices, costs):
        return log_softmax(-self.control_cost_to_go(choices.successors, costs, None)[choices.decisions.nodes], axis=1)


if __name__ == "__main__":
    family, rng, steps = CostFamily.linear(ROADS.table), np.random.default_rng(0), []
    successors, costs = ROADS.table.successors, family.costs(np.array([2.0, 3.0]), np.zeros(0))
    for trip in range(40):  # of drivers who know the cost-to-go, and mostly take the best road
        node, goal = rng.choice(len(successors), 2, replace=False)
        policy = np.exp(log_softmax(-ExactChoice().control_cost_to_go(successors, costs, goal), axis=1))
        while node != goal:
            control = rng.choice(policy.shape[1], p=policy[node])
            steps.append((goal, node, control, trip))
            node = successors[node, control]
    choices = Choices(successors, *np.array(steps).T)
    for model in (ExactChoice(), MyopicChoice()):
        found = fit(model, choices.of_trips(range(20)), flat_estimate(family))
        bits = model.log_probabilities(choices.of_trips(range(20, 40)), found.costs).mean() / np.log(2)
        print(f"{model.name}: km {found.weights[0]:.1f}, jam {found.weights[1]:.1f}; {bits:.2f} bits per new decision")
