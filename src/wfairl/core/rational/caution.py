"""Caution: how an agent acts on a posterior that leaves things open.

A plan for the most probable automaton fails if another automaton is the task and rejects the plan, or if the task has a
constraint that the plan breaks (`doubts`). The doubt of a plan is the probability that one of these reasons holds:

    doubt = 1 - prod over the reasons that reject the plan of (1 - probability)

The agent plans for the most probable automaton. As long as something rejects the plan, it plans again for an automaton
that also keeps the most probable of the reasons that reject it, and in the end takes the plan of the least

    cost of the plan + price * doubt

The price of a failure is in units of the mean cost of a step. The agent also tries to repeat a demonstrated word: what
was demonstrated is right whatever the task is. A plan ends where the most probable automaton accepts. If something else
that is asked is not done by then, the plan counts as failed. The task may also ask what nobody foresees. That
probability is the same for all plans: it adds to the doubt that is stated, and it is not weighed.

An agent that is asked to do the task in a scene may assume that this is possible there, but for `IMPOSSIBLE`. Where the
most probable automata cannot be satisfied, the next one is probably the task: the weight of the others, times
`IMPOSSIBLE`, is doubt. A constraint that no probable automaton can keep in the scene is no doubt. A plan
that ends within the horizon is preferred to any that does not. If even the doubt of the best plan is above
`LARGEST_DOUBT`, the agent refuses to act and gives the reasons. Otherwise it acts on an automaton that prefers the word
of the best plan (`Choice.automaton`). In a world too large to enumerate no doubt is weighed: the agent plans for the
most probable automaton.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Automaton, Label
from wfairl.core.automata.minimisation import Table, canonical_table, to_table
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.planning.agent import Agent
from wfairl.core.planning.cost import Cost
from wfairl.core.planning.plan import UnsatisfiableTaskError
from wfairl.core.planning.planner import ExactPlanner, planning_of_large_world
from wfairl.core.planning.product import ProductTooLargeError, build_product
from wfairl.core.rational.constraints import conjoin
from wfairl.core.rational.demonstrated_words import following_words
from wfairl.core.rational.observations import ArrayWorld, to_arrays
from wfairl.core.rational.table_plans import plan_table
from wfairl.core.rational.tables import ending_together, intersection, preferring_word, read_word, to_automaton
from wfairl.core.rational.task_posterior import TaskPosterior, posterior_of
from wfairl.core.worlds.compiled import IGNORE_LABELS, LabelNumbers
from wfairl.core.worlds.world import World

PRICE_OF_DOUBT = 1500.0
"""Price of a failure, in mean costs of a step."""

LARGEST_DOUBT = 0.12
"""Plans that fail with a larger probability are refused."""

LEAST_PROBABILITY_OF_REASON = 0.05
"""Probability from which on a refusal names a doubt as a reason; it always names the most probable one."""

PROBABLE_WEIGHT = 0.05
"""Weight from which on an automaton is probable: it may be the task where more probable ones cannot be satisfied."""

IMPOSSIBLE = 0.1
"""Probability that an agent is asked for what is impossible."""

NEGLIGIBLE_PRICE = 0.5
"""Price of a doubt, in mean costs of a step, up to which the agent does not look for another plan."""

MOST_KEPT = 24
"""How many doubts a plan is made to satisfy, one after the other."""

LEAST_ENFORCED = 0.002
"""Probability from which on the agent keeps what its plan keeps."""

MOST_STATES, MOST_JOINT_STATES, MOST_NODES = 1_000_000, 300, 10_000_000
"""Limits: states of a world in which doubts are weighed, states of a joint automaton, and nodes of their product."""

LONGEST_PLAN = 100_000
"""No plan is longer."""

DRAWN_PLANS, MOST_SLIPPING_STEPS = 32, 2_000
"""Where the world slips, what a policy breaks is estimated from so many episodes of at most so many steps."""


class DoubtfulPlanError(UnsatisfiableTaskError):
    """Even the best plan is too likely to fail, given the demonstrations."""


class Reason(NamedTuple):
    """What may be asked beside the most probable automaton."""

    probability: float  # that it is asked
    text: str  # a sentence, or the text of an alternative
    # the most probable automaton that also fulfils it, over the labels of a scene; [states, labels]
    table: Table
    # automata that fulfil it. A scene in which none of them can be satisfied speaks against it
    forms: tuple[NDArray[np.int32], ...] = ()


class Choice(NamedTuple):
    """What a cautious agent plans for in a scene."""

    automaton: Automaton  # to plan for
    doubt: float = 0.0  # probability that the plan fails
    reasons: tuple[Reason, ...] = ()  # what rejects the plan, the most probable first
    # index of the label of every step of the plan, [steps]; where the world slips, of episodes that succeed
    words: tuple[NDArray[np.int32], ...] = ()


@dataclass(frozen=True, eq=False)
class CautiousPolicy:
    """Plans for the most probable automaton, and keeps what else may be asked where that is worth its price.

    Attributes:
        name: for people and reports.
        model: the task; one without a posterior is planned for as it is.
        cost: what transitions cost.
        temperature: eta.
        price: of a failure, in mean costs of a step.
        horizon: steps within which a plan must end, if there is one that does; None for any number.
        largest_doubt: plans that fail with a larger probability are refused; 1 to refuse none.
    """

    name: str
    model: TaskModel
    cost: Cost
    temperature: float
    price: float = PRICE_OF_DOUBT
    horizon: int | None = None
    largest_doubt: float = LARGEST_DOUBT

    @property
    def automaton(self) -> Automaton:
        """The most probable automaton."""
        return self.model.finite

    def actor(self, world: World[Any], rng: np.random.Generator) -> Agent:
        agent = Agent(self.choose(world).automaton, self.cost, self.temperature, rng)
        agent.start(world)
        return agent

    def choose(self, world: World[Any]) -> Choice:
        """What to plan for in a world.

        Raises:
            UnsatisfiableTaskError: not even the most probable automaton can be satisfied.
            DoubtfulPlanError: it can, but every plan is too doubtful.
        """
        posterior = posterior_of(self.model)
        if posterior is None or planning_of_large_world(world) is not None:  # its planner takes no conjunctions
            return Choice(self.automaton)
        numbers = LabelNumbers()
        try:
            product = build_product(world, IGNORE_LABELS, MOST_STATES)
        except ProductTooLargeError:
            return Choice(self.automaton)
        arrays, best = to_arrays(product, self.cost, numbers), None
        for first, one in enumerate(posterior.alternatives):
            if best is None and (not first or one.weight > PROBABLE_WEIGHT):
                scene = _Scene(arrays, _hypotheses(posterior, tuple(numbers.labels), first))
                best = min(self._plans(scene), key=lambda one: (one.is_late, one.total), default=None)
        if best is None:  # there is no plan, or the product is too large to weigh doubts
            ExactPlanner().solve(world, posterior.chosen.automaton, self.cost).plan()
            return Choice(self.automaton)
        if best.doubt > self.largest_doubt:
            raise _refusal(best, posterior, scene.hypotheses.unforeseen > posterior.unforeseen)
        automaton = to_automaton(scene.enforced(best), scene.hypotheses.labels)
        return Choice(automaton, best.doubt, best.reasons, best.words)

    def _plans(self, scene: "_Scene") -> Iterator["_Plan"]:
        """Plans that keep more and more of the reasons that reject the plan before, while doubt costs something."""
        table, tried = scene.hypotheses.chosen, set[str]()
        plan = scene.plan(table)
        while plan is not None:
            cost, words = plan
            rejecting = scene.rejecting(words)
            right = float(np.prod([1.0 - one.probability for one in rejecting]))
            is_late = self.horizon is not None and bool(np.mean([len(word) for word in words]) > self.horizon)
            total = cost + self.price * scene.mean_cost * (1.0 - right)
            doubt = 1.0 - right * (1.0 - scene.hypotheses.unforeseen)
            yield _Plan(table, words, is_late, total, doubt, tuple(rejecting))
            plan = None
            for one in rejecting if is_late or (1.0 - right) * self.price > NEGLIGIBLE_PRICE else ():
                if plan is None and one.text not in tried and len(tried) < MOST_KEPT:
                    tried.add(one.text)
                    joint = ending_together(intersection(table, one.table), scene.hypotheses.chosen)
                    plan = scene.plan(joint)
                    table = table if plan is None else joint


class _Hypotheses(NamedTuple):
    """The most probable automaton, what may be asked beside it, and what nobody foresees, over some labels."""

    labels: tuple[Label, ...]
    chosen: Table
    reasons: tuple[Reason, ...]
    unforeseen: float


@lru_cache(maxsize=32)
def _hypotheses(posterior: TaskPosterior, labels: tuple[Label, ...], first: int) -> _Hypotheses:
    """The hypotheses that are left if the automata before the `first` one are not the task."""
    automata = posterior.alternatives[first:]
    tables = [canonical_table(to_table(one.automaton, labels)) for one in automata]
    chosen, left = tables[0], 1.0 - sum(one.weight for one in posterior.alternatives[:first])
    reasons = [
        Reason(one.weight / left, one.text, intersection(chosen, table), (table,))
        for one, table in zip(automata[1:], tables[1:], strict=True)
    ]
    probable = [table for one, table in zip(automata, tables, strict=True) if one.weight > PROBABLE_WEIGHT * left]
    most_probable = to_table(posterior.chosen.automaton, labels)
    for doubt in posterior.doubts:
        constraint = doubt.constraint
        forms = [conjoin(table, constraint, labels, most_probable) for table in probable]
        text = f"perhaps {constraint}" if constraint.is_about_orders else f"the task may be '{constraint}' too"
        if constraint.kind == "unseen":
            text, forms = str(doubt), []
        kept = canonical_table(conjoin(chosen, constraint, labels, most_probable))
        reasons.append(Reason(doubt.probability, text, kept, tuple(forms)))
    if posterior.demonstrated_words:
        followed = intersection(chosen, to_table(following_words(posterior.demonstrated_words), labels))
        reasons.append(Reason(0.0, "it follows no demonstrated word", followed))
    impossible = (1 - left) * IMPOSSIBLE
    unforeseen = 1 - (1 - posterior.unforeseen) * left / (left + impossible)
    return _Hypotheses(labels, chosen, tuple(sorted(reasons, key=lambda one: -one.probability)), unforeseen)


class _Plan(NamedTuple):
    """A plan and its doubt."""

    table: Table  # the automaton that was planned for, over the labels of the scene; [states, labels]
    words: tuple[NDArray[np.int32], ...]  # see `Choice`
    is_late: bool  # whether the plan exceeds the horizon
    total: float  # its cost and the price of its doubt
    doubt: float  # probability that it fails
    reasons: tuple[Reason, ...]  # what rejects it, the most probable first


class _Scene:
    """A scene to plan in, and the reasons that it leaves possible."""

    def __init__(self, world: ArrayWorld, hypotheses: _Hypotheses) -> None:
        self.hypotheses, self.mean_cost = hypotheses, float(world.costs.mean())
        self._world = world
        self._is_possible: dict[str, bool] = {}

    def _is_small(self, table: Table) -> bool:
        return len(table) * len(self._world.successors) <= MOST_NODES

    def plan(self, table: Table) -> tuple[float, tuple[NDArray[np.int32], ...]] | None:
        """The cost of the best plan for an automaton and its word, None if there is none.

        Where the world slips, the expected cost, and the words of episodes that succeed.
        """
        if not self._is_small(table):
            return None
        solved, rng = plan_table(self._world, table), np.random.default_rng(0)
        if self._world.chances is None:
            found = solved.act(0.0, LONGEST_PLAN, rng)
            return None if found is None else (float(found.costs.sum()), (found.word,))
        words = solved.draw_words(DRAWN_PLANS, MOST_SLIPPING_STEPS, rng)
        return (solved.start_cost, words) if words else None

    def rejecting(self, words: Sequence[NDArray[np.int32]]) -> list[Reason]:
        """The reasons that reject a plan; those with which the task would be impossible here are refuted.

        Where the world slips, a reason that rejects a part of the words counts with that part of its probability: what
        the agent does may break a constraint, or not.
        """
        rejecting = []
        for one in self.hypotheses.reasons:
            part = sum(self._fails(one, word) for word in words) / len(words)
            if part and self._can_be(one):
                rejecting.append(one._replace(probability=one.probability * part))
        return rejecting

    def _fails(self, one: Reason, word: NDArray[np.int32]) -> bool:
        """Whether a word fails if a reason holds: it is not accepted, or only after the end of the chosen automaton."""
        end = read_word(one.table, word)
        return not end or end > read_word(self.hypotheses.chosen, word)

    def enforced(self, plan: _Plan) -> Table:
        """The automaton of a plan and of what the plan keeps: other plans of the same cost would not keep it."""
        table = plan.table
        if self._world.chances is None:
            return preferring_word(table, plan.words[0])
        probable = (one for one in self.hypotheses.reasons if one.probability > LEAST_ENFORCED)
        kept = [one for one in probable if all(read_word(one.table, word) for word in plan.words)]
        for one in kept[:MOST_KEPT]:
            joint = intersection(table, one.table)
            if len(joint) > MOST_JOINT_STATES or not self._is_small(joint):
                break
            table = joint
        return table

    def _can_be(self, one: Reason) -> bool:
        if one.text not in self._is_possible:
            self._is_possible[one.text] = not one.forms or any(map(self._is_satisfiable, one.forms))
        return self._is_possible[one.text]

    def _is_satisfiable(self, table: Table) -> bool:
        """Whether a plan costs less than a failure, which costs inf unless the world slips."""
        if not self._is_small(table):
            return False
        solved = plan_table(self._world, table)
        return solved.start_cost < solved.failure


def _refusal(best: _Plan, posterior: TaskPosterior, is_impossible: bool) -> DoubtfulPlanError:
    """The error that gives the reasons why a plan is doubtful."""
    automata = {one.text: one for one in posterior.alternatives}
    named = [one for one in best.reasons if one.probability > LEAST_PROBABILITY_OF_REASON]
    reasons = ["the most probable rule cannot be satisfied here"] if is_impossible else []
    reasons += [
        f"the task may be '{posterior.sentence(automata[one.text])}'" if one.text in automata else one.text
        for one in named or (() if is_impossible else best.reasons[:1])
    ]
    if posterior.unforeseen > LEAST_PROBABILITY_OF_REASON:
        reasons.append("a demonstration that looks deliberate does not follow the rule")
    return DoubtfulPlanError(
        f"given the demonstrations, the best plan in this scene fails with a probability of {best.doubt:.0%}: "
        f"{', and '.join(reasons) or 'it may be none of the tasks that were found'}. Answer a question (`wfairl ask`), "
        "demonstrate the task once more (`wfairl ask --demonstrate` proposes a scene), or allow a larger doubt"
    )
