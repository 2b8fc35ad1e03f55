"""One cell: demonstrations -> training -> test; what is finished is not done again, what was killed goes on."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wfairl.automata.task_model import TaskModel, fit_task_model
from wfairl.baselines.policy_run import PolicyRun
from wfairl.demonstrations import Dataset, collect, load, save
from wfairl.evaluation import Evaluation, Policy, evaluate
from wfairl.evaluation.policies import REFERENCES
from wfairl.experiment import EVALUATION, learned_name
from wfairl.files import write_json
from wfairl.learning.run_directory import PLANNERS, WFA_IRL, TrainedRun
from wfairl.methods import load_policy, train
from wfairl.reproduction.layout import RESULT, demonstrations_file, run_directory
from wfairl.reproduction.paper import DATA_SETS
from wfairl.reproduction.protocol import Cell, Protocol
from wfairl.reproduction.results import CHOSEN, CellResult, Trial
from wfairl.worlds.registry import find_task
from wfairl.worlds.task import Task

GREEDY = "greedy"


@dataclass(frozen=True)
class Learned:
    """What there is to test.

    Attributes:
        policies: by the name of the variant; the first stands for the cell.
        validation: the mean return on scenes for validation, None if nothing had to be chosen there.
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
    task, place = find_task(cell.task), run_directory(directory, cell, protocol)
    learned = _reference(task, cell) if cell.method in REFERENCES else _learn(task, cell, protocol, directory)
    tested = {name: evaluate(task, policy, protocol.test_seeds, n_jobs=1) for name, policy in learned.policies.items()}
    write_json(place / EVALUATION, {_name_in_run(cell, name): one.to_document() for name, one in tested.items()})
    trials = tuple(_trial(name, evaluation, i == 0) for i, (name, evaluation) in enumerate(tested.items()))
    seconds = time.process_time() - begun
    CellResult(cell, protocol.key(cell), trials, learned.validation, learned.facts, seconds).save(place / RESULT)


def _name_in_run(cell: Cell, policy: str) -> str:
    """What the run's own page calls a policy that was tested."""
    if cell.method in REFERENCES:
        return policy
    return f"learned, {policy}" if cell.method in PLANNERS else learned_name(None)


def stored_result(cell: Cell, protocol: Protocol, directory: Path) -> CellResult | None:
    """The result of a cell that has been computed."""
    return CellResult.load(run_directory(directory, cell, protocol) / RESULT, cell, protocol.key(cell))


def gather(task: str, data: str, seed: int, protocol: Protocol, directory: Path) -> None:
    """Collect the demonstrations that cells share, unless they are there."""
    path = demonstrations_file(directory, task, data, seed, protocol)
    if not path.exists():
        save(collect(find_task(task), protocol.successes, protocol.failures, DATA_SETS[data], seed, n_jobs=1), path)


def first_successes(dataset: Dataset, number: int) -> Dataset:
    """The first successes of a data set, and all of its failures."""
    successes = [demonstration for demonstration in dataset if demonstration.is_success]
    failures = [demonstration for demonstration in dataset if not demonstration.is_success]
    return Dataset(dataset.task, (*successes[:number], *failures), dataset.temperature)


def _reference(task: Task, cell: Cell) -> Learned:
    """A policy that learns nothing; the expert is the one of the second data set."""
    return Learned({cell.method: REFERENCES[cell.method](task, max(DATA_SETS.values()))})


def _learn(task: Task, cell: Cell, protocol: Protocol, directory: Path) -> Learned:
    shared = demonstrations_file(directory, cell.task, cell.data, cell.seed, protocol)
    dataset = first_successes(load(shared, cell.task), cell.successes)
    place = run_directory(directory, cell, protocol)
    trained = train(
        cell.method,
        dataset,
        place,
        protocol.settings_of(cell),
        task_model=_task_model(dataset) if cell.method == WFA_IRL else None,
        origin={"demonstrations": [shared.name], "successes": cell.successes},
        resume=True,
        n_jobs=1,
    )
    return (
        _planner(task, cell, trained, place)
        if isinstance(trained, TrainedRun)
        else _network(task, cell, trained, place)
    )


def _task_model(dataset: Dataset) -> TaskModel:
    return fit_task_model(dataset.words, dataset.scores, optional_start=True)


def _planner(task: Task, cell: Cell, trained: TrainedRun, place: Path) -> Learned:
    """Greedy where the expert was, as in the paper; else at the expert's temperature, and greedy for comparison."""
    temperature = DATA_SETS[cell.data]
    named = {f"at {temperature:g}": temperature} if temperature > 0 else {}
    policies = {name: load_policy(place, task, eta) for name, eta in {**named, GREEDY: 0.0}.items()}
    summary, training = trained.run.task_model.summary, trained.training
    facts = {
        "rank": summary.rank,
        "rows": summary.rows,
        "cols": summary.cols,
        "states": summary.states,
        "epoch": training.epoch,
        "held_out_loss_before": training.history[0].held_out_loss,
        "held_out_loss": training.history[training.epoch].held_out_loss,
        "left_out": len(trained.left_out),
    }
    return Learned(policies, facts=facts)


def _network(task: Task, cell: Cell, trained: PolicyRun, place: Path) -> Learned:
    """As the method has chosen on scenes for validation."""
    choice = trained.selection
    name = cell.variant or CHOSEN
    return Learned({name: load_policy(place, task)}, choice.validation_return, choice.details)


def _trial(name: str, evaluation: Evaluation, chosen: bool) -> Trial:
    return Trial(
        variant=name,
        chosen=chosen,
        returns=tuple(episode.episode_return for episode in evaluation.episodes),
        successes=tuple(episode.success for episode in evaluation.episodes),
    )
