"""Slow and obvious versions of what is computed in worlds that slip: Storm, and a world walked by hand.

They read a world and an automaton through their contracts alone.
"""

from tempfile import NamedTemporaryFile
from typing import Any

import networkx as nx
import numpy as np
import stormpy

from wfairl.core.automata.automaton import DEAD

ACCEPTED, FAILED, END = "accepted", "failed", "end"


class StormModel:
    """The product of a plain world and an automaton as an explicit Markov decision process.

    `choices` has, for each pair of states, the available controls with their outcomes: (probability, cost, pair).
    Pairs from which acceptance cannot be reached are `FAILED`.
    """

    def __init__(self, world: Any, automaton: Any, cost: Any):
        start = (world.initial_state, 0)
        self.choices: dict[Any, dict[int, list[tuple[float, float, Any]]]] = {}
        queue = [start]
        for pair in queue:
            if pair in self.choices:
                continue
            state, q = pair
            self.choices[pair] = {}
            for control in range(len(world.controls)):
                if not hasattr(world, "is_available") or world.is_available(state, control):
                    found = self.choices[pair][control] = []
                    for p, after in world.outcomes(state, control):
                        read = automaton.read(q, world.label(state, control, after))
                        target = FAILED if read == DEAD else ACCEPTED if automaton.accepting[read] else (after, read)
                        found.append((p, cost(world, state, control, after), target))
                        if not isinstance(target, str):
                            queue.append(target)
        graph = nx.DiGraph()
        graph.add_nodes_from([*self.choices, ACCEPTED])
        for pair, controls in self.choices.items():
            graph.add_edges_from((pair, target) for found in controls.values() for _, _, target in found)
        self.hopeful = nx.ancestors(graph, ACCEPTED)
        self.start = start

    def expected_cost(self, price: float) -> dict[Any, float]:
        """The least expected cost from every hopeful pair, by Storm."""
        return self._check('R{"cost"}min=? [F "end"]', price)

    def greatest_probability(self) -> dict[Any, float]:
        """The greatest probability of acceptance from every hopeful pair, by Storm."""
        return self._check('Pmax=? [F "accepted"]', 1.0)

    def _check(self, formula: str, price: float) -> dict[Any, float]:
        pairs = [pair for pair in self.choices if pair in self.hopeful]
        number = {pair: i for i, pair in enumerate([*pairs, ACCEPTED, FAILED, END])}
        lines = []
        for pair in pairs:
            lines.append(f"state {number[pair]}{' init' if pair == self.start else ''}")
            for control, found in self.choices[pair].items():
                if all(target not in self.hopeful and target != ACCEPTED for _, _, target in found):
                    continue  # nobody takes what can only fail
                sums: dict[int, float] = {}
                for p, _, target in found:
                    at = number[target if target in self.hopeful or target == ACCEPTED else FAILED]
                    sums[at] = sums.get(at, 0.0) + p
                lines.append(f"\taction {control} [{sum(p * cost for p, cost, _ in found)!r}]")
                lines += [f"\t\t{at} : {sums[at]!r}" for at in sorted(sums)]
        for name, reward in ((ACCEPTED, 0.0), (FAILED, price), (END, 0.0)):
            lines += [f"state {number[name]} {name}", f"\taction 0 [{reward!r}]", f"\t\t{number[END]} : 1.0"]
        choices = sum(line.startswith("\taction") for line in lines)
        counts = f"@nr_states\n{len(number)}\n@nr_choices\n{choices}\n"
        head = f"@type: MDP\n@parameters\n\n@reward_models\ncost\n{counts}@model\n"
        with NamedTemporaryFile("w", suffix=".drn") as file:
            file.write(head + "\n".join(lines) + "\n")
            file.flush()
            model = stormpy.build_model_from_drn(file.name)
        environment = stormpy.environments.sound()
        environment.solver().min_max().precision = stormpy.Rational("1/100000000")
        if formula.startswith("P"):  # with bounds, Storm does not end in some offices
            environment = stormpy.Environment()
            environment.solver().min_max().precision = stormpy.Rational("1/1000000000000")
        found = stormpy.model_checking(
            model, stormpy.parse_properties(formula)[0], environment=environment, only_initial_states=False
        )
        return {pair: found.get_value(number[pair]) for pair in pairs}


def unit(*_: Any) -> float:
    return 1.0


def by_place(world: Any, state: Any, control: int, after: Any) -> float:
    """A cost of what happened: it depends on the features of the real transition."""
    return float(1.0 + world.features(state, control, after) @ np.array([0.1, 0.7, 0.3]))
