"""Caution: a plan that does what was demonstrated, or what all probable automata accept.

What the demonstrations leave open is priced, in units of the mean cost of a step:

- **What was demonstrated** is right whatever the task is. To follow a demonstrated word (`demonstrated`) risks nothing,
  and what is read in between risks that it ends the task.
- **Several automata** are probable. A cautious agent plans for many at once, the most probable first: it does what all
  of them want, unless leaving the less probable ones out saves more than the price of a failure times their weight.
- **Labels** of which no demonstration tells where they lead may end the task. `Support` says how probable that is, and
  reading one costs that part of the price.

    minimise over plans the least of   cost of a plan that follows a demonstrated word
                                       + price * sum of the risks of the labels that it reads in between
                              and      cost of a plan that automata 0..m accept
                                       + price * (weight of the automata behind m)
                                       + price * sum of the risks of the labels that it reads

Both accept only what the most probable automaton accepts. A plan that takes longer than the horizon fails as well: then
the price is cut until there is one that does not.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import Automaton
from wfairl.automata.guarded import GuardedAutomaton, conjunction_with_pairs
from wfairl.automata.task_model import TaskModel
from wfairl.evaluation.policies import Actor
from wfairl.logic.demonstrated import DemonstratedWords, demonstrated_words
from wfairl.logic.support import Support, risk_by_label, support_of
from wfairl.planning.agent import Agent
from wfairl.planning.auto import is_large
from wfairl.planning.cost import Cost
from wfairl.planning.plan import best_controls
from wfairl.planning.planner import ExactPlanner, ProductSolution
from wfairl.planning.product import Product, ProductTooLargeError
from wfairl.worlds.world import World

DEFAULT_PRICE = 1000.0
"""What a failure is worth, in mean costs of a step; chosen once, on validation scenes of all offices."""

PRICE_CUTS = (1.0, 0.1, 0.01, 0.0)
"""Parts of the price that are tried until a plan keeps the horizon."""

LEAST_WEIGHT = 0.002
"""Automata of less weight are not planned for."""

MOST_AUTOMATA, MOST_STATES = 6, 200
"""How many automata are planned for at once at the most, and how many states they may have together."""

MOST_NODES = 1_000_000
"""Goals whose product with the world is larger are left out, unless it is that of the most probable automaton alone."""


@dataclass(frozen=True, eq=False)
class Goal:
    """Something to plan for.

    Attributes:
        automaton: accepts nothing that the most probable automaton rejects.
        chosen_states: the state of the most probable one in each of its states, shape [states].
        omitted: the weight of the automata that may reject what it accepts.
        follows: the demonstrated words and their state in each of its states, [states]; None if none is followed.
    """

    automaton: GuardedAutomaton
    chosen_states: NDArray[np.int64]
    omitted: float
    follows: tuple[DemonstratedWords, NDArray[np.int64]] | None = None


@dataclass(frozen=True, eq=False)
class CautiousPolicy:
    """Follows what was demonstrated, or plans for all probable automata at once, as far as that is worth it.

    Attributes:
        name: what people call it.
        model: the task, whose learner keeps alternatives, support and the demonstrated words.
        cost: what transitions cost.
        temperature: eta.
        price: of a failure, in mean costs of a step.
        horizon: steps within which a plan must end, if there is one that does; None for any number.
    """

    name: str
    model: TaskModel
    cost: Cost
    temperature: float
    price: float = DEFAULT_PRICE
    horizon: int | None = None

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

    def choose(self, world: World[Any]) -> tuple[Automaton, Cost]:
        """The automaton to plan for in a world, and the cost with the risk of labels priced in.

        Raises:
            UnsatisfiableTaskError: not even the most probable automaton can be satisfied.
        """
        if is_large(world):  # risks are of labels, and a focused search prices what the agent sees
            return self.automaton, self.cost
        plain = ExactPlanner().solve(world, self.automaton, self.cost)
        plain.check_satisfiable()
        step = float(self.cost(plain.product).mean())
        found = []
        for cut in PRICE_CUTS:
            solution, cost = self._cheapest(world, plain, cut * self.price * step)
            found.append((solution.product.automaton, cost))
            if self.horizon is None or len(best_controls(solution.product, solution.solution)) <= self.horizon:
                return found[-1]
        return found[0]

    def _cheapest(self, world: World[Any], plain: ProductSolution, price: float) -> tuple[ProductSolution, Cost]:
        """The solution of the goal that is cheapest with its risks priced in, and that cost.

        Args:
            world: where to plan.
            plain: the solution of the most probable automaton at the bare cost, below which nothing can be had.
            price: of a failure, in units of cost.
        """
        least = float(plain.solution.cost_to_go[0])
        best_total, best, best_cost = np.inf, plain, self.cost
        one_alone = 2 * len(plain.product) > MOST_NODES
        for goal in self._goals[: 1 if one_alone else None]:
            if least + price * goal.omitted >= best_total:
                continue
            cost = self._priced(goal, price)
            try:
                solution = ExactPlanner(max(MOST_NODES, len(plain.product))).solve(world, goal.automaton, cost)
            except ProductTooLargeError:
                continue
            total = float(solution.solution.cost_to_go[0]) + price * goal.omitted
            if total < best_total:
                best_total, best, best_cost = total, solution, cost
        return best, best_cost

    @cached_property
    def _goals(self) -> list[Goal]:
        return goals_of(self.model)

    @cached_property
    def _support(self) -> Support | None:
        return support_of(self.model)

    def _priced(self, goal: Goal, price: float) -> Cost:
        """The cost with the risk of labels priced in."""
        support = self._support
        if support is None or price == 0:
            return self.cost

        def priced(product: Product) -> NDArray[np.float64]:
            states = goal.chosen_states[product.automaton_states]
            risk = risk_by_label(support, product.labels)[states[:, None], product.label_index]
            if goal.follows is not None:
                words, word_states = goal.follows
                here = word_states[product.automaton_states]
                risk[words.goes_on(product.labels)[here[:, None], product.label_index]] = 0.0
            return self.cost(product) + price * risk

        return priced


def goals_of(model: TaskModel) -> list[Goal]:
    """What to plan for: the most probable automaton alone, with the second, and so on, and the demonstrated words."""
    chosen = model.finite
    assert isinstance(chosen, GuardedAutomaton)
    alternatives = model.facts.get("alternatives", ())
    omitted = 1.0 - float(alternatives[0]["weight"]) if alternatives else 0.0
    found = [Goal(chosen, np.arange(chosen.states), omitted)]
    for one in alternatives[1:MOST_AUTOMATA]:
        before = found[-1]
        joint, pairs = conjunction_with_pairs(before.automaton, GuardedAutomaton.from_document(one["automaton"]))
        if one["weight"] < LEAST_WEIGHT or joint.states > MOST_STATES:
            break
        omitted -= float(one["weight"])
        found.append(Goal(joint, before.chosen_states[[state for state, _ in pairs]], max(omitted, 0.0)))
    words = demonstrated_words(model)
    if words is not None:
        joint, pairs = conjunction_with_pairs(words.automaton, chosen)
        followed, states = np.array(pairs).T
        found.append(Goal(joint, states, 0.0, (words, followed)))
    return found
