"""One cell: demonstrations -> training -> test; what is finished is not done again, what was killed goes on."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from wfairl.demonstrations import Dataset, collect, load, save
from wfairl.evaluation import Evaluation, Policy, evaluate
from wfairl.evaluation.policies import REFERENCES as REFERENCE_POLICIES
from wfairl.experiment import EVALUATION, learned_names
from wfairl.files import write_json
from wfairl.logic.learners import find_learner
from wfairl.methods import CHOSEN, Trained, TrainingRequest, find_method
from wfairl.suites.directory import RESULT, demonstrations_file, run_directory
from wfairl.suites.results import CellResult, Trial
from wfairl.suites.suite import REFERENCES, Cell, Protocol, Suite, find_suite
from wfairl.worlds.registry import find_task
from wfairl.worlds.task import Task


@dataclass(frozen=True)
class Learned:
    """What there is to test.

    Attributes:
        policies: by the name of the way to act; the first stands for the cell.
        validation: the mean return on validation scenes, None if nothing had to be chosen there.
        facts: what else there is to say of the training.
    """

    policies: Mapping[str, Policy]
    validation: float | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


def run_cell(cell: Cell, protocol: Protocol, directory: Path) -> None:
    """Compute a cell and leave its result in its directory."""
    if stored_result(cell, protocol, directory) is not None:
        return
    begun = time.process_time()
    suite, task = find_suite(protocol.suite), find_task(cell.task)
    place = run_directory(directory, cell, protocol)
    is_reference = cell.method in REFERENCES
    learned = _reference(suite, task, cell) if is_reference else _learn(suite, task, cell, protocol, directory)
    tested = {name: evaluate(task, policy, protocol.test_seeds, n_jobs=1) for name, policy in learned.policies.items()}
    write_json(place / EVALUATION, {_name_in_run(cell, name): one.to_document() for name, one in tested.items()})
    trials = tuple(_trial(name, evaluation, i == 0) for i, (name, evaluation) in enumerate(tested.items()))
    seconds = time.process_time() - begun
    key = suite.key(cell, protocol)
    CellResult(cell, key, trials, learned.validation, learned.facts, seconds).save(place / RESULT)


def _name_in_run(cell: Cell, way: str) -> str:
    """What the run's own page calls a policy that was tested."""
    if cell.method in REFERENCES:
        return way
    return next(iter(learned_names({CHOSEN if way in (CHOSEN, cell.variant) else way: None})))


def stored_result(cell: Cell, protocol: Protocol, directory: Path) -> CellResult | None:
    """The result of a cell that has been computed."""
    key = find_suite(protocol.suite).key(cell, protocol)
    return CellResult.load(run_directory(directory, cell, protocol) / RESULT, cell, key)


def gather(task: str, data: str, seed: int, protocol: Protocol, directory: Path) -> None:
    """Collect the demonstrations that cells share, unless they are there."""
    path = demonstrations_file(directory, task, data, seed, protocol)
    if not path.exists():
        suite = find_suite(protocol.suite)
        temperature, failures = suite.data_sets[data].temperature, suite.failures_of(data, protocol)
        save(collect(find_task(task), protocol.successes, failures, temperature, seed, n_jobs=1), path)


def first_successes(dataset: Dataset, number: int) -> Dataset:
    """The first successes of a data set, and all of its failures."""
    successes = [demonstration for demonstration in dataset if demonstration.is_success]
    failures = [demonstration for demonstration in dataset if not demonstration.is_success]
    return replace(dataset, demonstrations=(*successes[:number], *failures))


def _reference(suite: Suite, task: Task, cell: Cell) -> Learned:
    """A policy that learns nothing; the expert is the one of the data set of the highest temperature."""
    temperature = max(data.temperature for data in suite.data_sets.values())
    return Learned({cell.method: REFERENCE_POLICIES[cell.method](task, temperature)})


def _learn(suite: Suite, task: Task, cell: Cell, protocol: Protocol, directory: Path) -> Learned:
    shared = demonstrations_file(directory, cell.task, cell.data, cell.seed, protocol)
    dataset = first_successes(load(shared, cell.task), cell.successes)
    place, entry = run_directory(directory, cell, protocol), suite.entries[cell.method]
    method = find_method(entry.method)
    request = TrainingRequest(
        task=task,
        dataset=dataset,
        directory=place,
        settings=suite.settings_of(cell, protocol),
        task_model=find_learner(entry.learner).learn(dataset, task, n_jobs=1) if method.needs_task_model else None,
        origin={"demonstrations": [shared.name], "successes": cell.successes},
        resume=True,
        n_jobs=1,
    )
    trained: Trained = method.train(request)
    ways = method.ways_to_act(suite.data_sets[cell.data].temperature)
    policies = {
        cell.variant if way == CHOSEN and cell.variant else way: method.load(place, task, temperature)
        for way, temperature in ways.items()
    }
    return Learned(policies, trained.validation_return, trained.facts)


def _trial(name: str, evaluation: Evaluation, chosen: bool) -> Trial:
    return Trial(
        variant=name,
        chosen=chosen,
        returns=tuple(episode.episode_return for episode in evaluation.episodes),
        successes=tuple(episode.success for episode in evaluation.episodes),
    )
