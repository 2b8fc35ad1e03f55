"""The risks of labels in one scene.

By `Support`, the demonstrations give the probability that a label ends the task. A scene is evidence too: an agent that
is asked to do the task there may assume that this is possible. If a label l were deadly, it would have to be possible
without l, so that the odds of l are multiplied by

    P(the scene can be done | l is deadly)  =  weight of the automata that are satisfied there without reading l
                                             / weight of those that are satisfied there at all

over the probable automata. A label that cannot be avoided is no risk.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Label
from wfairl.core.planning.product import Product, ProductTooLargeError, build_product
from wfairl.core.planning.shortest_path import cost_to_go
from wfairl.core.rational.goals import LEAST_WEIGHT, MOST_AUTOMATA, JointAutomaton
from wfairl.core.rational.task_posterior import Support, TaskPosterior
from wfairl.core.worlds.world import World

SMALLEST = 1e-12

LEAST_RISK = 0.005
"""Risk below which it is not computed whether a label can be avoided in a scene."""


@dataclass(frozen=True, eq=False)
class SceneRisks:
    """The probability that labels end the task in failure, in one scene.

    Attributes:
        support: the evidence of the demonstrations.
        avoidable: by label, the weight of the automata that can be satisfied without it; 1 for labels not listed.
    """

    support: Support
    avoidable: Mapping[Label, float] = field(default_factory=dict)

    @classmethod
    def in_world(cls, posterior: TaskPosterior, world: World[Any], most_nodes: int) -> "SceneRisks":
        """The risks in a world, by the probable automata; those whose product is too large are left out."""
        support = posterior.support
        risky = {label for label, risk in zip(support.labels, support.risk.T, strict=True) if (risk > LEAST_RISK).any()}
        without, total = dict.fromkeys(risky, 0.0), 0.0
        for one in posterior.alternatives[:MOST_AUTOMATA]:
            if one.weight < LEAST_WEIGHT or not risky:
                break
            try:
                product = build_product(world, one.automaton, most_nodes)
            except ProductTooLargeError:
                continue
            if _can_do_without(product, None):
                total += one.weight
                for label in risky:
                    without[label] += one.weight * _can_do_without(product, label)
        return cls(support, {label: weight / total for label, weight in without.items()} if total else {})

    def by_transition(self, joint: JointAutomaton, product: Product) -> NDArray[np.float64]:
        """The risk of every transition of the product with a joint automaton, shape [nodes, controls].

        A label that continues a demonstrated word is no risk, where the automaton follows one.
        """
        states = joint.chosen_states[product.automaton_states]
        risks = self.by_label(product.labels)[states[:, None], product.label_index]
        if joint.follows is not None:
            words, word_states = joint.follows
            here = word_states[product.automaton_states]
            risks[words.continues(product.labels)[here[:, None], product.label_index]] = 0.0
        return risks

    def by_label(self, labels: tuple[Label, ...]) -> NDArray[np.float64]:
        """The risk of each label in each state of the most probable automaton, shape [states, labels].

        In the accepting state, the last, it is the highest of the others: an agent goes on after acceptance because
        another automaton may be the task.
        """
        support = self.support
        risks = np.full((len(support.risk) + 1, len(labels)), support.unknown_risk)
        for i, label in enumerate(labels):
            if label in support.number:
                risk, part = support.risk[:, support.number[label]], self.avoidable.get(label, 1.0)
                odds = part * risk / np.maximum(1 - risk, SMALLEST)
                risks[:-1, i] = np.where(risk < 1, odds / (1 + odds), 1.0)
                risks[-1, i] = risks[:-1, i].max()
        return risks


def _can_do_without(product: Product, label: Label | None) -> bool:
    """Whether acceptance can be reached without reading a label."""
    longest = len(product)  # more controls than there are nodes are never needed
    costs = np.ones(product.successors.shape)
    if label in product.labels:
        costs[product.label_index == product.labels.index(label)] += longest
    return bool(cost_to_go(product.graph, costs).cost_to_go[0] <= longest)
