"""The functions of the cells: demonstrations, automaton, training and test."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import experiments.baselines  # noqa: F401 - registers bc and gail
from experiments.harness.cell import Outcome, Scalar
from experiments.method_comparison.measures import recovery_of
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.demonstrations import Dataset
from wfairl.core.demonstrations.learners import find_learner
from wfairl.core.planning.policies import REFERENCES
from wfairl.core.planning.rollout import UNSATISFIABLE
from wfairl.runs import Evaluation, evaluate
from wfairl.runs.collection import FIRST_TEST_SEED, collect
from wfairl.runs.data_sets import load, save
from wfairl.runs.evaluation import EVALUATION, write_evaluations
from wfairl.runs.methods import TrainingRequest, find_method, learned_name
from wfairl.runs.task_registry import find_task

DEMONSTRATIONS, TASK_MODEL = "demonstrations.safetensors", "task.json"


def collect_demonstrations(
    directory: Path, task: str, successes: int, failures: int, temperature: float, seed: int
) -> Outcome:
    """The demonstrations that cells share."""
    save(collect(find_task(task), successes, failures, temperature, seed, n_jobs=1), directory / DEMONSTRATIONS)
    return Outcome()


def learn_automaton(directory: Path, demonstrations: Path, task: str, learner: str, successes: int) -> Outcome:
    """The automaton that cells share."""
    dataset = first_successes(load(demonstrations / DEMONSTRATIONS, task), successes)
    find_learner(learner).learn(dataset, find_task(task), n_jobs=1).save(directory / TASK_MODEL)
    return Outcome()


def first_successes(dataset: Dataset, number: int) -> Dataset:
    """The first successes of a data set, and all of its failures."""
    successes = [demonstration for demonstration in dataset if demonstration.is_success]
    failures = [demonstration for demonstration in dataset if not demonstration.is_success]
    return replace(dataset, demonstrations=(*successes[:number], *failures))


def evaluate_reference(directory: Path, task: str, method: str, temperature: float, test_scenes: int) -> Outcome:
    """The test of a policy that learns nothing; the expert has the highest temperature of the data sets."""
    policy = REFERENCES[method](find_task(task), temperature)
    evaluation = evaluate(find_task(task), policy, _test_seeds(test_scenes), n_jobs=1)
    write_evaluations({method: evaluation}, directory / EVALUATION)
    return Outcome(_rows(method, evaluation, chosen=True))


def train_and_test(
    directory: Path,
    demonstrations: Path,
    task: str,
    data: str,  # noqa: ARG001 - a column of the results
    method: str,  # noqa: ARG001 - likewise
    seed: int,  # noqa: ARG001 - likewise, and among the settings
    successes: int,
    trained_by: str,
    settings: Mapping[str, Any],
    temperature: float,
    acts: str | None,
    test_scenes: int,
    transfers: Sequence[str],
    automaton: Path | None = None,
) -> Outcome:
    """Train a method in the directory, which becomes a run as `wfairl train` makes it, and test what it learned."""
    chosen, task_model = find_method(trained_by), None if automaton is None else TaskModel.load(automaton / TASK_MODEL)
    trained = chosen.train(
        TrainingRequest(
            task=find_task(task),
            dataset=first_successes(load(demonstrations / DEMONSTRATIONS, task), successes),
            directory=directory,
            settings=settings,
            task_model=task_model,
            origin={"demonstrations": [demonstrations.name], "successes": successes},
            resume=True,
            n_jobs=1,
        )
    )
    temperatures = {name: one for name, one in chosen.acting_temperatures(temperature).items() if acts in (None, name)}
    recovery = {} if task_model is None else recovery_of(find_task(task), task_model.finite)
    rows, scenes = list[dict[str, Scalar]](), _test_seeds(test_scenes)
    for tested in (task, *transfers):
        evaluations = {
            name: evaluate(find_task(tested), chosen.load(directory, find_task(tested), one), scenes, n_jobs=1)
            for name, one in temperatures.items()
        }
        for i, (name, evaluation) in enumerate(evaluations.items()):
            rows += [{**row, **(recovery if tested == task else {})} for row in _rows(name, evaluation, i == 0)]
        if tested == task:  # the name of the run, not the path of the directory that it was computed in
            saved = {learned_name(name): replace(one, policy=directory.name) for name, one in evaluations.items()}
            write_evaluations(saved, directory / EVALUATION)
    return Outcome(rows, {"training": trained.facts})


def _test_seeds(test_scenes: int) -> range:
    return range(FIRST_TEST_SEED, FIRST_TEST_SEED + test_scenes)


def _rows(acting: str, evaluation: Evaluation, chosen: bool) -> list[dict[str, Scalar]]:
    """A line per scene; `chosen` tells whether this way of acting represents the cell."""
    return [
        {
            "tested": evaluation.task,
            "acting": acting,
            "chosen": chosen,
            "scene": episode.seed,
            "return": episode.episode_return,
            "success": episode.success,
            "no_plan": episode.outcome == UNSATISFIABLE,
            "cost": episode.cost,
        }
        for episode in evaluation.episodes
    ]
