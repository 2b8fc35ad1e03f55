"""Caution: a plan that all probable automata accept, and that reads what demonstrations tell about.

What the demonstrations leave open is of two kinds, and both are priced, in units of the mean cost of a step:

- **Other automata** are probable too. A cautious agent plans for several at once, the most probable first: it does what
  all of them want, unless leaving the less probable ones out saves more than the price of a failure times their weight.
- **Labels** of which no demonstration tells where they lead may end the task. `Support` says how probable that is, and
  reading one costs that part of the price.

    minimise over m and plans   cost of a plan that automata 0..m accept
                                + price * (weight of the automata behind m)
                                + price * sum of the risks of the labels that it reads
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import DEAD, Automaton, Label
from wfairl.automata.guarded import GuardedAutomaton, conjunction_with_pairs
from wfairl.automata.task_model import TaskModel
from wfairl.evaluation.policies import Actor
from wfairl.logic.support import Support
from wfairl.planning.agent import Agent
from wfairl.planning.auto import is_large
from wfairl.planning.cost import Cost
from wfairl.planning.path import Path
from wfairl.planning.plan import UnsatisfiableTaskError
from wfairl.planning.planner import ExactPlanner, ExactSolution
from wfairl.planning.product import Product
from wfairl.worlds.world import World

DEFAULT_PRICE = 100.0
"""What a failure is worth, in mean costs of a step; chosen once, on validation scenes of random offices."""

LEAST_WEIGHT = 0.002
"""Automata of less weight are not planned for."""

MOST_AUTOMATA, MOST_STATES = 6, 200
"""How many automata are planned for at once at the most, and how many states they may have together."""


@dataclass(frozen=True, eq=False)
class Probable:
    """What the most probable automata want together.

    Attributes:
        automaton: accepts what all of them accept.
        chosen_states: the state of the most probable one in each of its states, shape [states].
        omitted: the weight of the automata that are not among them.
    """

    automaton: GuardedAutomaton
    chosen_states: NDArray[np.int64]
    omitted: float


@dataclass(frozen=True, eq=False)
class CautiousPolicy:
    """Plans for all probable automata at once, as far as that is worth it; see the module.

    Attributes:
        name: what people call it.
        model: the task, whose learner keeps alternatives and support.
        cost: what transitions cost.
        temperature: eta.
        price: of a failure, in mean costs of a step.
    """

    name: str
    model: TaskModel
    cost: Cost
    temperature: float
    price: float = DEFAULT_PRICE

    @property
    def automaton(self) -> Automaton:
        """The most probable automaton."""
        return self.model.finite

    def actor(self, world: World[Any], rng: np.random.Generator) -> Actor:
        """See `Policy`."""
        automaton, cost = self.choose(world)
        agent = Agent(automaton, cost, self.temperature, rng)
        agent.start(world)
        return agent

    def choose(self, world: World[Any]) -> tuple[GuardedAutomaton, Cost]:
        """The automaton to plan for in a world, and the cost with the risk of labels priced in.

        Raises:
            UnsatisfiableTaskError: not even the most probable automaton can be satisfied.
        """
        if is_large(world):  # risks are of labels, and a focused search prices what the agent sees
            chosen = self.model.finite
            assert isinstance(chosen, GuardedAutomaton)
            return chosen, self.cost
        support = support_of(self.model)
        best: tuple[float, GuardedAutomaton, Cost] | None = None
        failure: UnsatisfiableTaskError | None = None
        for probable in probable_automata(self.model):
            cost = _priced(self.cost, probable, support, self.price)
            solution = ExactPlanner().solve(world, probable.automaton, cost)
            try:
                solution.check_satisfiable()
            except UnsatisfiableTaskError as error:
                failure = failure or error
                continue
            total = self._total(solution, probable.omitted)
            if best is None or total < best[0]:
                best = total, probable.automaton, cost
        if best is None:
            assert failure is not None  # there is at least one automaton
            raise failure
        return best[1], best[2]

    def _total(self, solution: ExactSolution, omitted: float) -> float:
        mean = float(self.cost(solution.product).mean())
        return float(solution.solution.cost_to_go[0]) + self.price * mean * omitted


def probable_automata(model: TaskModel) -> list[Probable]:
    """The most probable automaton alone, with the second, and so on; the last stands for all that are planned for."""
    chosen = model.finite
    assert isinstance(chosen, GuardedAutomaton)
    alternatives = [
        (GuardedAutomaton.from_document(one["automaton"]), float(one["weight"]))
        for one in model.facts.get("alternatives", ())
    ]
    if not alternatives:
        return [Probable(chosen, np.arange(chosen.states), 0.0)]
    omitted = 1.0 - alternatives[0][1]
    found = [Probable(chosen, np.arange(chosen.states), omitted)]
    for automaton, weight in alternatives[1:]:
        if weight < LEAST_WEIGHT or len(found) == MOST_AUTOMATA:
            break
        before = found[-1]
        joint, pairs = conjunction_with_pairs(before.automaton, automaton)
        if joint.states > MOST_STATES:
            break
        omitted -= weight
        found.append(Probable(joint, before.chosen_states[[one for one, _ in pairs]], max(omitted, 0.0)))
    return found


def _priced(cost: Cost, probable: Probable, support: Support | None, price: float) -> Cost:
    """A cost with the risk of labels priced in."""
    if support is None or price == 0:
        return cost

    def priced(product: Product) -> NDArray[np.float64]:
        costs = cost(product)
        risk = _risk_by_label(support, product.labels)
        states = probable.chosen_states[product.automaton_states]
        return costs + price * float(costs.mean()) * risk[states[:, None], product.label_index]

    return priced


def support_of(model: TaskModel) -> Support | None:
    """The evidence behind a model's automaton, None if its learner keeps none."""
    document = model.facts.get("support")
    return None if document is None else Support.from_document(document)


def untested_labels(model: TaskModel) -> dict[int, list[Label]]:
    """The labels of which no demonstration tells where they lead, by state; states without any are left out.

    What the automaton forbids is not among them: nobody who plans with it will try.
    """
    support = support_of(model)
    if support is None:
        return {}
    found = {
        state: [
            label
            for label, untested in zip(support.labels, row, strict=True)
            if untested and model.finite.read(state, label) != DEAD
        ]
        for state, row in enumerate(support.is_untested)
    }
    return {state: labels for state, labels in found.items() if labels}


def untested_steps(model: TaskModel, path: Path) -> list[int]:
    """The steps of a path, from 1, at which it reads what no demonstration tells about in that state."""
    support = support_of(model)
    if support is None:
        return []
    known = {label: i for i, label in enumerate(support.labels)}
    steps, state = [], 0
    for step, label in enumerate(path.labels, start=1):
        if 0 <= state < len(support.visits) and (label not in known or support.is_untested[state, known[label]]):
            steps.append(step)
        state = model.finite.read(state, label)
    return steps


def _risk_by_label(support: Support, labels: tuple[Label, ...]) -> NDArray[np.float64]:
    """The risk of each label in each state, shape [states + 1, labels]; the accepting state has none."""
    known = {label: i for i, label in enumerate(support.labels)}
    risk = np.full((len(support.risk) + 1, len(labels)), support.unknown_risk)
    for i, label in enumerate(labels):
        if label in known:
            risk[:-1, i] = support.risk[:, known[label]]
    risk[-1] = 0.0
    return risk
