"""Caution: a plan that does what was demonstrated, or what all probable automata accept.

What the demonstrations leave open is priced, in units of the mean cost of a step:

- **What is planned for** (`goals`): a demonstrated word, perhaps without labels that are hardly needed, or what several
  probable automata accept. Each goal knows how probable it is that the task asks for more.
- **Labels** of which no demonstration tells where they lead may end the task. `Support` says how probable that is, and
  reading one costs that part of the price, unless a demonstrated word goes on with it.

    minimise over goals and plans    cost of the plan + price * sum of the risks of the labels that it reads
                                                      + price * probability that the goal is not enough

Among the plans that keep the horizon, that is: one that takes longer fails as well.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import Automaton
from wfairl.automata.task_model import TaskModel
from wfairl.evaluation.policies import Actor
from wfairl.logic.goals import Goal, Joint, goals_of, joint_of
from wfairl.logic.support import Support, risk_by_label, support_of
from wfairl.planning.agent import Agent
from wfairl.planning.auto import is_large
from wfairl.planning.cost import Cost
from wfairl.planning.plan import best_controls
from wfairl.planning.planner import ExactPlanner
from wfairl.planning.product import Product, ProductTooLargeError, build_product
from wfairl.planning.shortest_path import cost_to_go
from wfairl.worlds.world import World

DEFAULT_PRICE = 1000.0
"""What a failure is worth, in mean costs of a step; chosen once, on validation scenes of all offices."""

PRICE_CUTS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.0)
"""Parts of the price of risky labels that are tried until the plan for a goal keeps the horizon."""

MOST_NODES = 1_000_000
"""Goals whose product with the world is larger are left out. Where that of the most probable automaton has half as
many, it is planned for alone."""


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
        price = self.price * float(self.cost(plain.product).mean())
        if 2 * len(plain.product) > MOST_NODES:
            return self.automaton, self._priced(joint_of(self.model), price)
        least = float(plain.solution.cost_to_go[0])
        best = _Choice(True, np.inf, self.automaton, self.cost)
        for goal in self._goals:  # sorted: what may be missing only grows
            if not best.is_late and least + price * goal.missing >= best.total:
                break
            best = min((best, *self._choices(world, goal, price)), key=lambda one: (one.is_late, one.total))
        return best.automaton, best.cost

    def _choices(self, world: World[Any], goal: Goal, price: float) -> Iterator["_Choice"]:
        """The plan for a goal at the full price; where it takes longer than the horizon, those at lower prices too."""
        try:
            product = build_product(world, goal.joint.automaton, MOST_NODES)
        except ProductTooLargeError:
            return
        full = self._priced(goal.joint, price)(product)
        for cut in PRICE_CUTS:
            cost = self._priced(goal.joint, cut * price)
            solution = cost_to_go(product.graph, cost(product))
            if solution.cost_to_go[0] == np.inf:
                return
            controls = best_controls(product, solution)
            total = float(full[product.walk(controls)[:-1], controls].sum()) + price * goal.missing
            is_late = self.horizon is not None and len(controls) > self.horizon
            yield _Choice(is_late, total, product.automaton, cost)
            if not is_late:
                return

    @cached_property
    def _goals(self) -> list[Goal]:
        return goals_of(self.model)

    @cached_property
    def _support(self) -> Support | None:
        return support_of(self.model)

    def _priced(self, joint: Joint, price: float) -> Cost:
        """The cost with the risk of labels priced in."""
        support = self._support
        if support is None or price == 0:
            return self.cost

        def priced(product: Product) -> NDArray[np.float64]:
            states = joint.chosen_states[product.automaton_states]
            risk = risk_by_label(support, product.labels)[states[:, None], product.label_index]
            if joint.follows is not None:
                words, word_states = joint.follows
                here = word_states[product.automaton_states]
                risk[words.goes_on(product.labels)[here[:, None], product.label_index]] = 0.0
            return self.cost(product) + price * risk

        return priced


class _Choice(NamedTuple):
    """A plan.

    Attributes:
        is_late: whether it takes longer than the horizon.
        total: its cost, with all that may go wrong at the full price.
        automaton: what it is planned for.
        cost: under which it is the cheapest.
    """

    is_late: bool
    total: float
    automaton: Automaton
    cost: Cost
