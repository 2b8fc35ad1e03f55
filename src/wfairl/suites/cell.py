"""One cell: demonstrations -> automaton -> training -> test.

What is finished is not done again, what was killed goes on.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from wfairl.automata.task_model import TaskModel
from wfairl.demonstrations import Dataset, collect, load, save
from wfairl.evaluation import Policy, evaluate
from wfairl.evaluation.policies import REFERENCES as REFERENCE_POLICIES
from wfairl.experiment import EVALUATION, learned_names
from wfairl.files import write_json
from wfairl.logic.learners import find_learner
from wfairl.methods import CHOSEN, Trained, TrainingRequest, find_method
from wfairl.suites.directory import RESULT, TIMING, demonstrations_file, run_directory, task_model_file
from wfairl.suites.metrics import Recovery, recovery_of
from wfairl.suites.results import CellResult, Trial
from wfairl.suites.suite import REFERENCES, Cell, Protocol, Suite, find_suite
from wfairl.worlds.registry import find_task
from wfairl.worlds.task import Task


@dataclass(frozen=True)
class Learned:
    """What there is to test.

    Attributes:
        policies: by the name of the way to act, the first of which stands for the cell, for each task to be tested on.
        validation: the mean return on validation scenes, None if nothing had to be chosen there.
        facts: what else there is to say of the training.
        recovery: of the rule, where an automaton was learned.
    """

    policies: Mapping[str, Mapping[str, Policy]]
    validation: float | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    recovery: Recovery | None = None


def run_cell(cell: Cell, protocol: Protocol, directory: Path) -> None:
    """Compute a cell and leave its result in its directory."""
    if stored_result(cell, protocol, directory) is not None:
        return
    begun = time.process_time()
    suite, task = find_suite(protocol.suite), find_task(cell.task)
    place = run_directory(directory, cell, protocol)
    is_reference = cell.method in REFERENCES
    learned = _reference(suite, task, cell) if is_reference else _learn(suite, task, cell, protocol, directory)
    trials = []
    for tested_on, policies in learned.policies.items():
        found, scenes = find_task(tested_on), protocol.test_seeds
        tested = {name: evaluate(found, policy, scenes, n_jobs=1) for name, policy in policies.items()}
        trials += [Trial.of(name, evaluation, i == 0) for i, (name, evaluation) in enumerate(tested.items())]
        if tested_on == cell.task:
            # The name of the run, not the path of whichever directory it was computed in.
            named = {name: one if is_reference else replace(one, policy=place.name) for name, one in tested.items()}
            documents = {_name_in_run(cell, name): one.to_document() for name, one in named.items()}
            write_json(place / EVALUATION, documents)
    write_json(place / TIMING, {"seconds": time.process_time() - begun})
    key = suite.key(cell, protocol)
    CellResult(cell, key, tuple(trials), learned.validation, learned.facts, learned.recovery).save(place / RESULT)


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
    return Learned({task.name: {cell.method: REFERENCE_POLICIES[cell.method](task, temperature)}})


def _learn(suite: Suite, task: Task, cell: Cell, protocol: Protocol, directory: Path) -> Learned:
    shared = demonstrations_file(directory, cell.task, cell.data, cell.seed, protocol)
    place, method = run_directory(directory, cell, protocol), find_method(suite.entries[cell.method].method)
    task_model = learn_task(cell, protocol, directory) if method.needs_task_model else None
    request = TrainingRequest(
        task=task,
        dataset=first_successes(load(shared, cell.task), cell.successes),
        directory=place,
        settings=suite.settings_of(cell, protocol),
        task_model=task_model,
        origin={"demonstrations": [shared.name], "successes": cell.successes},
        resume=True,
        n_jobs=1,
    )
    trained: Trained = method.train(request)
    policies = {task.name: _policies(suite, task, cell, place)}
    for other in suite.transfers_of(cell, protocol):
        policies[other] = _policies(suite, find_task(other), cell, place)
    recovery = None if task_model is None else recovery_of(task, task_model.finite)
    return Learned(policies, trained.validation_return, trained.facts, recovery)


def _policies(suite: Suite, task: Task, cell: Cell, place: Path) -> dict[str, Policy]:
    """What was learned, ready to act in a task, by the name of the way to act.

    Raises:
        BadInputError: it was learned for other worlds than this task's.
    """
    entry = suite.entries[cell.method]
    method = find_method(entry.method)
    ways = method.ways_to_act(suite.data_sets[cell.data].temperature)
    return {
        cell.variant if way == CHOSEN and cell.variant else way: method.load(place, task, temperature)
        for way, temperature in ways.items()
        if entry.acts in (None, way)
    }


def learn_task(cell: Cell, protocol: Protocol, directory: Path) -> TaskModel:
    """The automaton of a cell by the learner of its entry, learned once for all cells that share it."""
    path = task_model_file(directory, cell, protocol)
    if not path.exists():
        shared = demonstrations_file(directory, cell.task, cell.data, cell.seed, protocol)
        dataset = first_successes(load(shared, cell.task), cell.successes)
        learner = find_learner(find_suite(protocol.suite).entries[cell.method].learner)
        learner.learn(dataset, find_task(cell.task), n_jobs=1).save(path)
    return TaskModel.load(path)
