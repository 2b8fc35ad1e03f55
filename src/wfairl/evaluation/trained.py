"""The policy of a trained run."""

from collections.abc import Sequence
from pathlib import Path

from wfairl.errors import BadInputError
from wfairl.evaluation.policies import PlannedPolicy
from wfairl.learning.run_directory import DEFAULT_TRAINING_TEMPERATURE, Run, load_run, read_config
from wfairl.worlds.tasks import Task


def load_policy(directory: Path, task: Task, temperature: float | None = None) -> PlannedPolicy:
    """The policy of the run in a directory.

    Args:
        directory: where the run is.
        task: the task that it is to act in; it must have the propositions that the run's automaton reads.
        temperature: 0 for greedy; that of the demonstrations if None.

    Raises:
        BadInputError: it is no finished run, or it was trained for labels that this task does not have.
    """
    run = load_run(directory)
    foreign = frozenset().union(*run.task_model.finite.alphabet) - set(task.proposition_names)
    if foreign:
        raise BadInputError(
            f"{directory}: a run of the task {run.config.task!r}, whose automaton reads {', '.join(sorted(foreign))};"
            f" the task {task.name!r} does not have that"
        )
    return policy_of(run, temperature, str(directory))


def check_unseen(directory: Path, seeds: Sequence[int]) -> None:
    """Refuse to test a run on scenes that it was trained on.

    Raises:
        BadInputError: says which.
    """
    seen = sorted(set(read_config(directory).seen).intersection(seeds))
    if seen:
        raise BadInputError(
            f"{directory}: the run was trained on the scene {seen[0]}"
            f"{f' and {len(seen) - 1} more' if len(seen) > 1 else ''} of these; test it on others"
        )


def policy_of(run: Run, temperature: float | None = None, name: str = "learned") -> PlannedPolicy:
    """The policy of a run, at the temperature of its demonstrations if none is given."""
    if temperature is None:
        known = run.config.temperature
        temperature = DEFAULT_TRAINING_TEMPERATURE if known is None else known
    return PlannedPolicy(name, run.task_model.finite, run.cost.as_cost(), temperature)
