"""The scene that is most worth demonstrating next: where the probable automata would have it done most differently.

A demonstration t in a scene is expected to say

    information = E over h, t of  log P(t | h) - log sum over h' of weight(h') P(t | h')

nats about which of the probable automata h (`hypotheses`) is the task, where P(t | h) is that of `evidence`: a nearly
rational demonstrator, and with a small probability one who follows no task. The expectation over t is a mean of draws.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import ACCEPTED, Label
from wfairl.automata.task_model import TaskModel
from wfairl.demonstrations.demonstration import Dataset
from wfairl.errors import BadInputError
from wfairl.logic.evidence import DemonstratedScene
from wfairl.logic.hypotheses import Hypothesis, hypotheses_of
from wfairl.logic.questions import LEAST_INFORMATION, NothingToAskError
from wfairl.logic.rational import RationalSettings
from wfairl.logic.scenes import worlds_of
from wfairl.logic.table_plans import ArrayWorld, TablePlan, plan_table
from wfairl.planning.cost import Cost, nominal_cost
from wfairl.planning.policy import log_probabilities
from wfairl.worlds.task import Task

MAX_HYPOTHESES = 16
"""The most probable automata that are told apart."""

DRAWS = 3
"""Demonstrations drawn for each probable automaton."""


@dataclass(frozen=True)
class Way:
    """How one probable automaton would have it done.

    Attributes:
        text: the automaton, for people.
        weight: its probability.
        labels: what holds along the cheapest plan.
    """

    text: str
    weight: float
    labels: tuple[Label, ...]


@dataclass(frozen=True)
class Proposal:
    """A scene that is worth demonstrating.

    Attributes:
        seed: the scene.
        information: what a demonstration is expected to say, in nats.
        ways: what the probable automata would do there, one for each word, the most probable first.
    """

    seed: int
    information: float
    ways: tuple[Way, ...]

    def to_document(self) -> dict[str, Any]:
        """The proposal as a JSON object."""
        ways = [
            {"rule": one.text, "weight": one.weight, "labels": [sorted(label) for label in one.labels]}
            for one in self.ways
        ]
        return {"seed": self.seed, "information": self.information, "ways": ways}


def find_scene(
    model: TaskModel,
    dataset: Dataset,
    task: Task,
    seeds: Sequence[int],
    rng: np.random.Generator,
    *,
    cost: Cost | None = None,
    outlier_probability: float = RationalSettings.outlier_probability,
    n_jobs: int = 2,
) -> Proposal:
    """The scene whose demonstration is expected to say most about the task.

    Args:
        model: what is known of the task, from a rational learner.
        dataset: what it was learned from.
        task: whose scenes to choose from; its rule is not looked at.
        seeds: these.
        rng: draws demonstrations.
        cost: of transitions; the task's nominal cost if None.
        outlier_probability: that a demonstration follows no task.
        n_jobs: worlds to explore at once; it changes nothing in the result.

    Raises:
        NothingToAskError: no demonstration is expected to say anything.
        BadInputError: the model's learner keeps no alternatives, or there are no scenes.
    """
    if not seeds:
        raise BadInputError("there are no scenes to choose from")
    price = nominal_cost(task) if cost is None else cost
    worlds = worlds_of(seeds, dataset.demonstrations, task.make_world, price, n_jobs)
    hypotheses = hypotheses_of(model, worlds[0].labels)[:MAX_HYPOTHESES]
    temperature = float(model.facts["temperature"])
    worth = []
    for world in worlds:
        plans = [plan_table(world, one.table) for one in hypotheses]
        worth.append(_information(plans, hypotheses, temperature, task.horizon, outlier_probability, rng))
    best = int(np.argmax(worth))
    if worth[best] < LEAST_INFORMATION:
        raise NothingToAskError(
            f"the probable automata would do the same in each of the {len(seeds)} scenes that were looked at: another "
            "demonstration there says nothing. Look at other scenes, or trust the task model"
        )
    return Proposal(seeds[best], worth[best], _ways(worlds[best], hypotheses, task.horizon, rng))


def _information(
    plans: Sequence[TablePlan],
    hypotheses: Sequence[Hypothesis],
    temperature: float,
    horizon: int,
    outlier_probability: float,
    rng: np.random.Generator,
) -> float:
    """What a demonstration in a scene is expected to say; an automaton without a plan there would not be shown."""
    log_weights = np.log([one.weight for one in hypotheses])
    total = 0.0
    for i, planned in enumerate(plans):
        if not np.isfinite(planned.start_cost):
            continue
        drawn = [planned.act(temperature, horizon, rng) for _ in range(DRAWS)]
        shown = [planned.world.scene(controls) for controls in drawn if controls is not None]
        for scene in shown:
            logs = np.array([log_likelihood(one, scene, temperature, outlier_probability) for one in plans])
            gain = logs[i] - np.logaddexp.reduce(log_weights + logs)
            total += hypotheses[i].weight * gain / len(shown)
    return max(0.0, float(total))


def log_likelihood(plan: TablePlan, scene: DemonstratedScene, temperature: float, outlier_probability: float) -> float:
    """Log probability of a demonstration by somebody who follows a plan, or with a small probability no task."""
    choices = np.log((scene.successors[scene.visited[:-1]] >= 0).sum(axis=1)).sum()
    no_task = float(np.log(outlier_probability) - choices)
    states = _automaton_states(plan.table, scene.word)
    if not states:
        return no_task
    Q = plan.control_cost_to_go(scene.visited[:-1], np.array(states))
    follows = log_probabilities(Q, temperature)[np.arange(len(Q)), scene.controls].sum()
    return float(np.logaddexp(np.log1p(-outlier_probability) + follows, no_task))


def _automaton_states(table: NDArray[np.int32], word: NDArray[np.int32]) -> list[int]:
    """The automaton state before each label; none at all for a word that is not accepted exactly at its end."""
    after, states = table.tolist(), [0]
    for label in word.tolist():
        if states[-1] < 0:
            return []
        states.append(after[states[-1]][label])
    return states[:-1] if states[-1] == ACCEPTED else []


def _ways(
    world: ArrayWorld, hypotheses: Sequence[Hypothesis], horizon: int, rng: np.random.Generator
) -> tuple[Way, ...]:
    """The cheapest plans; automata that accept an earlier one at its end, at no more cost, would do the same."""
    ways: list[Way] = []
    earlier: list[DemonstratedScene] = []
    for one in hypotheses:
        planned = plan_table(world, one.table)
        if any(_is_cheapest(planned, scene) for scene in earlier) or not np.isfinite(planned.start_cost):
            continue
        controls = planned.act(0.0, horizon, rng)
        if controls is not None:
            earlier.append(world.scene(controls))
            ways.append(Way(one.text, one.weight, tuple(world.labels[i] for i in earlier[-1].word)))
    return tuple(ways)


def _is_cheapest(plan: TablePlan, scene: DemonstratedScene) -> bool:
    cost = scene.costs[scene.visited[:-1], scene.controls].sum()
    return bool(_automaton_states(plan.table, scene.word)) and bool(np.isclose(cost, plan.start_cost))
