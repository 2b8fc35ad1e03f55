"""The risks of labels in one scene.

From the demonstrations, `Support` has the probability that a label ends the task in failure. The scene is evidence too:
an agent that is asked to do the task there may assume that this is possible. If a label l were deadly, the task would
have to be possible without l. So the odds of l are multiplied by

    P(the scene can be done | l is deadly)  =  weight of the automata that are satisfied there without reading l
                                             / weight of those that are satisfied there at all

over the probable automata. A label that cannot be avoided is no risk.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Automaton, Label
from wfairl.core.planning.product import Product, ProductTooLargeError
from wfairl.core.planning.shortest_path import cost_to_go
from wfairl.core.rational.goals import LEAST_AUTOMATON_WEIGHT, MOST_AUTOMATA, JointAutomaton
from wfairl.core.rational.task_posterior import Support, TaskPosterior

SMALLEST_DENOMINATOR = 1e-12

LEAST_RISK = 0.005
"""Risk below which it is not computed whether a label can be avoided in a scene."""


@dataclass(frozen=True, eq=False)
class LabelRisks:
    """The probability that labels end the task in failure, in one scene.

    Attributes:
        support: the evidence of the demonstrations.
        avoidable: by label, the weight of the automata that can be satisfied without it; 1 for labels not listed.
    """

    support: Support
    avoidable: Mapping[Label, float] = field(default_factory=dict)

    @classmethod
    def in_scene(cls, posterior: TaskPosterior, build: Callable[[Automaton], Product]) -> "LabelRisks":
        """The risks in the scene whose product with an automaton `build` makes; too large products do not count."""
        support = posterior.support
        risky = {label for label, risk in zip(support.labels, support.risk.T, strict=True) if (risk > LEAST_RISK).any()}
        without, total = dict.fromkeys(risky, 0.0), 0.0
        for one in posterior.alternatives[:MOST_AUTOMATA]:
            if one.weight < LEAST_AUTOMATON_WEIGHT or not risky:
                break
            try:
                product = build(one.automaton)
            except ProductTooLargeError:
                continue
            if _can_do_without(product, None):
                total += one.weight
                for label in risky:
                    without[label] += one.weight * _can_do_without(product, label)
        return cls(support, {label: weight / total for label, weight in without.items()} if total else {})

    def by_transition(self, joint: JointAutomaton, product: Product) -> NDArray[np.float64]:
        """The risk of every transition of the product with a joint automaton, shape [nodes, controls].

        If the automaton follows demonstrated words, a label that continues one of them is no risk.
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

        In the last state, the accepting one, the risk is the highest of all other states: an agent goes on after
        acceptance only because another automaton may be the task.
        """
        support = self.support
        risks = np.full((len(support.risk) + 1, len(labels)), support.unknown_risk)
        for i, label in enumerate(labels):
            if label in support.number:
                risk, part = support.risk[:, support.number[label]], self.avoidable.get(label, 1.0)
                odds = part * risk / np.maximum(1 - risk, SMALLEST_DENOMINATOR)
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
