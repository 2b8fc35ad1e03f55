"""The scene whose demonstration would be most informative: where plans for the probable automata differ most.

The expected information of a demonstration t in a scene about which of the probable automata h (`hypotheses`) is the
task is, in nats,

    information = E over h, t of  log P(t | h) - log sum over h' of weight(h') P(t | h')

where P(t | h) is that of `evidence`: a nearly rational demonstrator, and with a small probability one who follows no
task. The expectation over t is a mean over draws.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED, DEAD, Label
from wfairl.core.automata.minimisation import Table
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.planning.policy import log_probabilities
from wfairl.core.rational.observations import ArrayWorld, DemonstratedScene
from wfairl.core.rational.settings import RationalSettings
from wfairl.core.rational.table_plans import TablePlan, plan_table
from wfairl.core.worlds.task import Task
from wfairl.questions.hypotheses import ExploredScenes, Hypothesis, explore_scenes, hypotheses_of, required_posterior
from wfairl.questions.question import LEAST_INFORMATION, NothingToAskError

MAX_COMPARED, DRAWS = 16, 3
"""The most probable automata that are compared, and demonstrations drawn for each."""


@dataclass(frozen=True)
class PredictedPlan:
    """The labels along a cheapest plan for a probable automaton, given by its text and its probability."""

    text: str
    weight: float
    labels: tuple[Label, ...]


@dataclass(frozen=True)
class SceneProposal:
    """A scene that is worth demonstrating."""

    seed: int  # the scene
    information: float  # the expected information of a demonstration, in nats
    plans: tuple[PredictedPlan, ...]  # those for the probable automata, one for each word, the most probable first

    def to_document(self) -> dict[str, Any]:
        plans = [
            {"rule": one.text, "weight": one.weight, "labels": [sorted(label) for label in one.labels]}
            for one in self.plans
        ]
        return {"seed": self.seed, "information": self.information, "ways": plans}


def propose_scene(
    model: TaskModel, dataset: Dataset, task: Task, seeds: Sequence[int], rng: np.random.Generator, n_jobs: int = 2
) -> SceneProposal:
    """The scene whose demonstration is expected to be most informative.

    Args and errors are those of `find_question`; here `rng` draws demonstrations.
    """
    scenes = explore_scenes(seeds, dataset, task, n_jobs)
    posterior = required_posterior(model)
    hypotheses = hypotheses_of(posterior, scenes.labels)[:MAX_COMPARED]
    information = [
        _information(world, hypotheses, posterior.temperature, scenes.horizon, rng) for world in scenes.worlds
    ]
    best = int(np.argmax(information))
    if information[best] < LEAST_INFORMATION:
        raise NothingToAskError(
            f"the plans for the probable automata agree in each of the {len(seeds)} scenes that were tried: another "
            "demonstration there is not informative. Try other scenes, or trust the task model"
        )
    predicted = _predict(scenes.worlds[best], hypotheses, scenes, rng)
    return SceneProposal(scenes.seeds[best], information[best], predicted)


def _information(
    world: ArrayWorld, hypotheses: Sequence[Hypothesis], temperature: float, horizon: int, rng: np.random.Generator
) -> float:
    """Expected information of a demonstration in a scene; nobody demonstrates an automaton without a plan there."""
    plans = [plan_table(world, one.table) for one in hypotheses]
    log_weights = np.log([one.weight for one in hypotheses])
    total = 0.0
    for i, plan in enumerate(plans):
        draws = (plan.act(temperature, horizon, rng) for _ in range(DRAWS))
        demonstrations = [scene for scene in draws if scene is not None]
        for scene in demonstrations:
            logs = np.array([scene_log_likelihood(one, scene, temperature) for one in plans])
            gain = logs[i] - np.logaddexp.reduce(log_weights + logs)
            total += hypotheses[i].weight * gain / len(demonstrations)
    return max(0.0, float(total))


def scene_log_likelihood(plan: TablePlan, scene: DemonstratedScene, temperature: float) -> float:
    """Log probability of a demonstration by a demonstrator who follows a plan or, with a small probability, no task."""
    outlier_probability = RationalSettings.outlier_probability
    no_task = float(np.log(outlier_probability) + scene.log_uniform)
    states = _automaton_states(plan.table, scene.word)
    if not states:
        return no_task
    Q = plan.control_cost_to_go(scene.visited[:-1], np.array(states))
    follows = log_probabilities(Q, temperature)[np.arange(len(Q)), scene.controls].sum()
    return float(np.logaddexp(np.log1p(-outlier_probability) + follows, no_task))


def _automaton_states(table: Table, word: NDArray[np.int32]) -> list[int]:
    """The automaton state before each label; none at all for a word that is not accepted exactly at its end."""
    states = list(accumulate(word, lambda state, label: int(table[state, label]) if state >= 0 else DEAD, initial=0))
    return states[:-1] if states[-1] == ACCEPTED else []


def _predict(
    world: ArrayWorld, hypotheses: Sequence[Hypothesis], scenes: ExploredScenes, rng: np.random.Generator
) -> tuple[PredictedPlan, ...]:
    """Cheapest plans in a scene; those for automata to which an earlier one is a cheapest plan too are left out."""
    predicted: list[PredictedPlan] = []
    earlier: list[DemonstratedScene] = []
    for one in hypotheses:
        plan = plan_table(world, one.table)
        if any(_is_cheapest(plan, scene) for scene in earlier):
            continue
        if (scene := plan.act(0.0, scenes.horizon, rng)) is not None:
            earlier.append(scene)
            predicted.append(PredictedPlan(one.text, one.weight, scenes.labels_along(scene)))
    return tuple(predicted)


def _is_cheapest(plan: TablePlan, scene: DemonstratedScene) -> bool:
    return bool(_automaton_states(plan.table, scene.word)) and bool(np.isclose(scene.costs.sum(), plan.start_cost))
