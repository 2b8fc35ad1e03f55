"""Caution: how an agent acts on a posterior that leaves things open.

A plan for the most probable automaton fails if the task requires more, or if it reads a label that no demonstration
tests and that ends the task. So the agent chooses among several goals, and pays for both probabilities:

    minimise over goals and plans for them    cost of the plan
                                              + price * probability that the goal is not enough       `goals`
                                              + price * sum of the risks of the labels that it reads  `risks`

The price of a failure is in units of the mean cost of a step. The safest goals are demonstrated words, because what was
demonstrated is right whatever the task is. A plan that ends within the horizon is preferred to any that does not, since
that one fails as well. The doubt of a plan is the probability that it fails:

    doubt = 1 - (1 - probability that the goal is not enough) * prod over the labels that it reads of (1 - risk)

A label that is read twice is paid for twice, but can fail once only. If even the best plan is too doubtful, the agent
refuses to act and gives the reasons. In scenes too large for all this, it plans for the most probable automaton alone
and refuses nothing.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from wfairl.core.automata.automaton import Automaton, Label
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.words import Word, format_label
from wfairl.core.planning.agent import Agent
from wfairl.core.planning.cost import Cost
from wfairl.core.planning.path import nodes_along
from wfairl.core.planning.plan import ProductSolution, UnsatisfiableTaskError
from wfairl.core.planning.planner import ExactPlanner, planning_of_large_world
from wfairl.core.planning.product import Product, ProductTooLargeError, build_product
from wfairl.core.planning.shortest_path import cost_to_go
from wfairl.core.rational.goals import Goal, JointAutomaton, chosen_alone, goals_of, missing_after
from wfairl.core.rational.risks import LabelRisks
from wfairl.core.rational.task_posterior import TaskPosterior, posterior_of
from wfairl.core.worlds.world import World

DEFAULT_PRICE = 1000.0
"""Price of a failure, in mean costs of a step; chosen once, on validation scenes of all offices."""

PRICE_FRACTIONS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.0)
"""Fractions of the price of risky labels that are tried until the plan for a goal is within the horizon."""

LARGEST_DOUBT = 0.21
"""Plans that fail with a larger probability are refused; chosen once, on validation scenes of random offices."""

LEAST_PROBABILITY_OF_REASON = 0.05
"""Probability from which on a refusal names a label as a reason."""

MOST_PRODUCT_NODES = 1_000_000
"""Goals with a larger product are left out. If the most probable automaton alone needs more than half of these nodes,
no other goal is tried."""


class DoubtfulPlanError(UnsatisfiableTaskError):
    """Even the best plan is too likely to fail, given the demonstrations."""


class Choice(NamedTuple):
    """What a cautious agent plans for in a scene.

    Attributes:
        automaton: to plan for.
        cost: including the price of risky labels.
        solution: of these two; None if nothing had to be weighed.
        is_late: whether the plan exceeds the horizon.
        total: the cost of the plan, with all risks at the full price.
        doubt: probability that the plan fails.
        word: the labels of the plan.
        risks: the labels that the plan reads, with their risk.
    """

    automaton: Automaton
    cost: Cost
    solution: ProductSolution | None = None
    is_late: bool = False
    total: float = 0.0
    doubt: float = 0.0
    word: Word = ()
    risks: Mapping[Label, float] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class CautiousPolicy:
    """Follows a demonstrated word, or plans for several probable automata at once, where that is worth its price.

    Attributes:
        name, cost, temperature: see `PlannedPolicy`.
        model: the task; one without a posterior is planned for as it is.
        price: of a failure, in mean costs of a step.
        horizon: steps within which a plan must end, if there is one that does; None for any number.
        largest_doubt: plans that fail with a larger probability are refused; 1 to refuse none.
    """

    name: str
    model: TaskModel
    cost: Cost
    temperature: float
    price: float = DEFAULT_PRICE
    horizon: int | None = None
    largest_doubt: float = LARGEST_DOUBT

    @property
    def automaton(self) -> Automaton:
        """The most probable automaton."""
        return self.model.finite

    def actor(self, world: World[Any], rng: np.random.Generator) -> Agent:
        choice = self.choose(world)
        agent = Agent(choice.automaton, choice.cost, self.temperature, rng)
        agent.start(world, choice.solution)
        return agent

    def choose(self, world: World[Any]) -> Choice:
        """What to plan for in a world.

        Raises:
            UnsatisfiableTaskError: not even the most probable automaton can be satisfied.
            DoubtfulPlanError: it can, but every plan is too doubtful.
        """
        posterior = posterior_of(self.model)
        if posterior is None or planning_of_large_world(world) is not None:  # its planner takes no cost of labels
            return Choice(self.automaton, self.cost)
        alone = chosen_alone(posterior)
        plain = ExactPlanner().solve(world, alone.automaton, self.cost)
        plain.best_controls()  # which raises if there are none
        price = self.price * float(self.cost(plain.product).mean())
        if 2 * len(plain.product) > MOST_PRODUCT_NODES:
            priced = self._priced(LabelRisks(posterior.support), alone, price)
            solution = cost_to_go(plain.product.graph, priced(plain.product))
            return Choice(alone.automaton, priced, ProductSolution(plain.product, solution))

        def build(automaton: Automaton) -> Product:
            is_built = automaton is alone.automaton
            return plain.product if is_built else build_product(world, automaton, MOST_PRODUCT_NODES)

        risks = LabelRisks.in_scene(posterior, build)
        best = self._best(posterior, build, risks, price, least=float(plain.solution.cost_to_go[0]))
        if best.doubt > self.largest_doubt:
            raise _refusal(best, posterior)
        return best

    def _best(
        self,
        posterior: TaskPosterior,
        build: Callable[[Automaton], Product],
        risks: LabelRisks,
        price: float,
        least: float,
    ) -> Choice:
        """The best choice; `least` is a lower bound on the cost of any plan."""
        best: Choice | None = None
        is_any_left_out = False
        for goal in self._goals:  # those with the least missing first
            if best is not None and not best.is_late and least + price * goal.missing >= best.total:
                break
            try:
                product = build(goal.joint.automaton)
            except ProductTooLargeError:
                is_any_left_out = True
                continue
            for one in self._choices(product, goal, risks, price):
                if best is None or (one.is_late, one.total) < (best.is_late, best.total):
                    best = one
        assert best is not None  # the most probable automaton alone is a goal, and can be satisfied
        if not is_any_left_out:
            return best
        # The plan may fulfil more than its goal, such as one that was left out: its labels tell.
        return best._replace(doubt=min(best.doubt, _doubt(missing_after(posterior, best.word), best.risks)))

    def _choices(self, product: Product, goal: Goal, risks: LabelRisks, price: float) -> Iterator[Choice]:
        """The plan for a goal at the full price; if it exceeds the horizon, those at lower prices too."""
        costs, risk = self.cost(product), risks.by_transition(goal.joint, product)
        for fraction in PRICE_FRACTIONS:
            solution = ProductSolution(product, cost_to_go(product.graph, costs + fraction * price * risk))
            if solution.solution.cost_to_go[0] == np.inf:
                return
            controls = solution.best_controls()
            path = nodes_along(product, controls)[:-1], controls
            read: dict[Label, float] = {}
            word = tuple(product.labels[i] for i in product.label_index[path])
            for label, probability in zip(word, risk[path].tolist(), strict=True):
                read[label] = max(probability, read.get(label, 0.0))
            is_late = self.horizon is not None and len(controls) > self.horizon
            yield Choice(
                goal.joint.automaton,
                self._priced(risks, goal.joint, fraction * price),
                solution,
                is_late,
                total=float(costs[path].sum() + price * (risk[path].sum() + goal.missing)),
                doubt=_doubt(goal.missing, read),
                word=word,
                risks=read,
            )
            if not is_late:
                return

    @cached_property
    def _goals(self) -> list[Goal]:
        posterior = posterior_of(self.model)
        return [] if posterior is None else goals_of(posterior)

    def _priced(self, risks: LabelRisks, joint: JointAutomaton, price: float) -> Cost:
        """The cost including the price of risky labels."""
        return lambda product: self.cost(product) + price * risks.by_transition(joint, product)


def _doubt(missing: float, risks: Mapping[Label, float]) -> float:
    return 1.0 - (1.0 - missing) * float(np.prod([1.0 - risk for risk in risks.values()]))


def _refusal(best: Choice, posterior: TaskPosterior) -> DoubtfulPlanError:
    """The error that gives the reasons why a plan is doubtful."""
    need = posterior.support.needed_labels
    left_out = {label: probability for label, probability in need.items() if label not in best.risks}
    reasons = (
        *(f"reads '{label}', which may end the task" for label in _likely(best.risks)),
        *(f"leaves out '{label}', which may be needed" for label in _likely(left_out)),
    )
    return DoubtfulPlanError(
        f"given the demonstrations, the best plan in this scene fails with a probability of {best.doubt:.0%}: it "
        f"{' and '.join(reasons) or 'is not accepted by all probable automata'}. Answer a question (`wfairl ask`), "
        "demonstrate the task once more (`wfairl ask --demonstrate` proposes a scene), or allow a larger doubt"
    )


def _likely(probabilities: Mapping[Label, float]) -> list[str]:
    """The labels whose probability is a reason to refuse, the highest first, as text."""
    ranked = sorted(probabilities, key=lambda label: -probabilities[label])
    return [format_label(label) for label in ranked if probabilities[label] > LEAST_PROBABILITY_OF_REASON]
