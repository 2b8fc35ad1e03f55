"""One cell: demonstrations -> automaton -> training -> test.

What is finished is not computed again, and what was killed resumes.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from experiments.suites.directory import RESULT, TIMING, demonstrations_file, run_directory, task_model_file
from experiments.suites.metrics import Recovery, recovery_of
from experiments.suites.results import TIMES, CellResult, Trial
from experiments.suites.suite import REFERENCES, Cell, Protocol, Suite, find_suite
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.demonstrations import Dataset, collect, load, save
from wfairl.core.demonstrations.learners import find_learner
from wfairl.core.planning import Policy
from wfairl.core.planning.policies import REFERENCES as REFERENCE_POLICIES
from wfairl.core.runs import evaluate
from wfairl.core.runs.evaluation import EVALUATION, write_evaluations
from wfairl.core.runs.methods import CHOSEN, Trained, TrainingRequest, find_method, learned_name
from wfairl.core.worlds.task import Task
from wfairl.core.worlds.task_registry import find_task


@dataclass(frozen=True)
class Learned:
    """What a cell tests.

    Attributes:
        policies: for each task to be tested on, policies by name, the first of which represents the cell.
        validation, facts, recovery: see `CellResult`.
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
    run = run_directory(directory, cell, protocol)
    is_reference = cell.method in REFERENCES
    learned = _reference(suite, task, cell) if is_reference else _learn(suite, task, cell, protocol, directory)
    trials = []
    for name, policies in learned.policies.items():
        tested = {
            variant: evaluate(find_task(name), policy, protocol.test_seeds, n_jobs=1)
            for variant, policy in policies.items()
        }
        trials += [Trial.of(variant, evaluation, i == 0) for i, (variant, evaluation) in enumerate(tested.items())]
        if name == cell.task:
            if not is_reference:  # the name of the run, not the path of the directory that it was computed in
                tested = {
                    _name_in_run(cell, variant): replace(evaluation, policy=run.name)
                    for variant, evaluation in tested.items()
                }
            write_evaluations(tested, run / EVALUATION)
    TIMES.write(run / TIMING, {"seconds": time.process_time() - begun})
    key = suite.key(cell, protocol)
    CellResult(key, tuple(trials), learned.validation, learned.facts, learned.recovery).save(run / RESULT)


def _name_in_run(cell: Cell, variant: str) -> str:
    """What the run's own page calls a tested policy."""
    return learned_name(CHOSEN if variant in (CHOSEN, cell.variant) else variant)


def stored_result(cell: Cell, protocol: Protocol, directory: Path) -> CellResult | None:
    """The result of a cell, None if it has not been computed."""
    key = find_suite(protocol.suite).key(cell, protocol)
    return CellResult.load(run_directory(directory, cell, protocol) / RESULT, key)


def collect_demonstrations(task: str, data: str, seed: int, protocol: Protocol, directory: Path) -> None:
    """Collect the demonstrations that cells share, unless they exist."""
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
    """A policy that learns nothing; the expert is that of the data set of the highest temperature."""
    temperature = max(data.temperature for data in suite.data_sets.values())
    return Learned({task.name: {cell.method: REFERENCE_POLICIES[cell.method](task, temperature)}})


def _learn(suite: Suite, task: Task, cell: Cell, protocol: Protocol, directory: Path) -> Learned:
    shared = demonstrations_file(directory, cell.task, cell.data, cell.seed, protocol)
    run, method = run_directory(directory, cell, protocol), find_method(suite.entries[cell.method].method)
    task_model = learn_task(cell, protocol, directory) if method.needs_task_model else None
    request = TrainingRequest(
        task=task,
        dataset=first_successes(load(shared, cell.task), cell.successes),
        directory=run,
        settings=suite.settings_of(cell, protocol),
        task_model=task_model,
        origin={"demonstrations": [shared.name], "successes": cell.successes},
        resume=True,
        n_jobs=1,
    )
    trained: Trained = method.train(request)
    tested_on = (task.name, *suite.transfers_of(cell, protocol))
    policies = {name: _policies(suite, find_task(name), cell, run) for name in tested_on}
    recovery = None if task_model is None else recovery_of(task, task_model.finite)
    return Learned(policies, trained.validation_return, trained.facts, recovery)


def _policies(suite: Suite, task: Task, cell: Cell, run: Path) -> dict[str, Policy]:
    """The learned policies for a task, by the names of their acting temperatures.

    Raises:
        BadInputError: they were learned for other worlds than this task's.
    """
    entry = suite.entries[cell.method]
    method = find_method(entry.method)
    temperatures = method.acting_temperatures(suite.data_sets[cell.data].temperature)
    return {
        cell.variant if name == CHOSEN and cell.variant else name: method.load(run, task, temperature)
        for name, temperature in temperatures.items()
        if entry.acts in (None, name)
    }


def learn_task(cell: Cell, protocol: Protocol, directory: Path) -> TaskModel:
    """The automaton of a cell, learned once for all cells that share it."""
    path = task_model_file(directory, cell, protocol)
    if not path.exists():
        shared = demonstrations_file(directory, cell.task, cell.data, cell.seed, protocol)
        dataset = first_successes(load(shared, cell.task), cell.successes)
        learner = find_learner(find_suite(protocol.suite).entries[cell.method].learner)
        learner.learn(dataset, find_task(cell.task), n_jobs=1).save(path)
    return TaskModel.load(path)
