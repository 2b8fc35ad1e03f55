"""The cheapest path through a product to acceptance, and why there is none where there is none."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.finite import FiniteAutomaton
from wfairl.automata.words import format_label
from wfairl.errors import FailedRunError
from wfairl.planning.path import Path
from wfairl.planning.product import Product
from wfairl.planning.shortest_path import CostToGo, cost_to_go
from wfairl.worlds.world import Label, to_label


class UnsatisfiableTaskError(FailedRunError):
    """No controls fulfil the task in this world."""


@dataclass(frozen=True)
class Plan:
    """A path that fulfils the task, and what it costs."""

    path: Path
    cost: float


def find_plan(product: Product, costs: NDArray[np.float64]) -> Plan:
    """A cheapest path from the start to acceptance; among equal controls, the first.

    Args:
        product: world and automaton.
        costs: c(s, u), finite and above zero; shape [nodes, controls].

    Raises:
        UnsatisfiableTaskError: there is no path; says which labels could never be produced.
    """
    solution = cost_to_go(product.graph, costs)
    check_satisfiable(product, solution)
    node, controls = 0, []
    while node >= 0:
        controls.append(int(solution.best_control[node]))
        node = int(product.successors[node, controls[-1]])
    return Plan(product.follow(controls), float(solution.cost_to_go[0]))


def check_satisfiable(product: Product, solution: CostToGo) -> None:
    """Refuse a product whose start cannot reach acceptance.

    Raises:
        UnsatisfiableTaskError: it cannot; says which labels could never be produced.
    """
    if solution.cost_to_go[0] < np.inf:
        return
    shown = {int(mode): np.unique(product.labels[product.modes == mode]).tolist() for mode in np.unique(product.modes)}
    raise unsatisfiable(product.automaton, product.world.propositions, shown)


def unsatisfiable(
    automaton: FiniteAutomaton, propositions: Sequence[str], shown: Mapping[int, Collection[int]]
) -> UnsatisfiableTaskError:
    """The error that says which labels could never be produced.

    Args:
        automaton: the task.
        propositions: those of the world.
        shown: the masks of all labels that transitions show, by the automaton state in which they do.
    """
    waiting = "; ".join(
        f"in automaton state {mode} it waits for {_some(labels)}"
        for mode, labels in missing_labels(automaton, propositions, shown).items()
    )
    ever = frozenset().union(*(to_label(mask, propositions) for masks in shown.values() for mask in masks))
    never = ", ".join(sorted(frozenset().union(*automaton.alphabet) - ever))
    return UnsatisfiableTaskError(
        f"the task cannot be satisfied in this world: {waiting}, and no controls produce that there"
        f"{f' ({never} can never hold on the way)' if never else ''}."
        " Plan in another world (another seed), or learn the automaton from words that cover worlds like this one."
    )


def missing_labels(
    automaton: FiniteAutomaton, propositions: Sequence[str], shown: Mapping[int, Collection[int]]
) -> dict[int, tuple[Label, ...]]:
    """The labels that would lead on from each automaton state that was reached, and that no transition shows there."""
    missing = {}
    for mode, masks in sorted(shown.items()):
        labels = {to_label(mask, propositions) for mask in masks}
        lacking = tuple(label for label in automaton.expected(mode) if label not in labels)
        if lacking:
            missing[mode] = lacking
    return missing


def _some(labels: tuple[Label, ...], most: int = 4) -> str:
    """The first few labels, for people."""
    more = len(labels) - most
    return " or ".join(f"'{format_label(label)}'" for label in labels[:most]) + (f" or {more} more" if more > 0 else "")
