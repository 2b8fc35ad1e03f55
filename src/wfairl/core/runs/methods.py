"""The methods by name: how each is trained from demonstrations, and how its run becomes a policy."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wfairl.core.automata.task_model import TaskModel
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.runs.method import CHOSEN, Method, Trained, TrainingRequest, UnknownSettingError
from wfairl.core.runs.planners import NoAutomaton, WfaIrl
from wfairl.core.runs.policies import Policy
from wfairl.core.runs.run_directory import RunConfig, read_config
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.files import hold
from wfairl.core.support.registry import Registry
from wfairl.core.worlds.task import Task
from wfairl.core.worlds.task_registry import find_task

__all__ = [
    "CHOSEN",
    "METHODS",
    "Method",
    "Trained",
    "TrainingRequest",
    "UnknownSettingError",
    "check_unseen",
    "find_method",
    "load_policy",
    "method_of",
    "register_method",
    "train",
]

METHODS: Registry[Method] = Registry(
    "method",
    {one.name: one for one in (WfaIrl(), NoAutomaton())},
    "Others are registered by a file or a module, such as bc and gail by `wfairl --tasks experiments.baselines COMMAND`"
    " or `import experiments.baselines`",
)


def register_method(method: Method) -> Method:
    """Register a method under its name; one that is taken is a `BadInputError`."""
    return METHODS.register(method.name, method)


def find_method(name: str) -> Method:
    """The method with a name; an unknown name is a `BadInputError`."""
    return METHODS.find(name)


def train(
    method: str,
    dataset: Dataset,
    directory: Path,
    settings: Mapping[str, Any] | None = None,
    *,
    task_model: TaskModel | None = None,
    origin: Mapping[str, Any] | None = None,
    resume: bool = False,
    n_jobs: int = 2,
) -> Trained:
    """Learn a policy from demonstrations by a method, in a directory; see `TrainingRequest`.

    Raises:
        BadInputError: the method is unknown, or has no such settings, or needs a task model, or has no use for one.
        RunExistsError: a run exists, and `resume` is off; or another process works there.
        OtherConfigurationError: the existing run has another method, configuration or data set.
    """
    chosen = find_method(method)
    chosen.check_settings(settings or {})
    check_task_model(chosen, task_model is not None)
    chosen.check_available()
    task = find_task(dataset.task)
    request = TrainingRequest(task, dataset, directory, settings or {}, task_model, origin or {}, resume, n_jobs)
    with hold(directory):
        return chosen.train(request)


def check_task_model(method: Method, is_given: bool) -> None:
    """Check that a task model is given if and only if a method needs one.

    Raises:
        BadInputError: it is missing, or of no use.
    """
    if method.needs_task_model and not is_given:
        others = ", ".join(one.name for one in METHODS.values() if not one.needs_task_model)
        raise BadInputError(
            f"{method.name} plans with a task model (--task-model), the file that `wfairl learn-task` writes;"
            f" {others} do without"
        )
    if is_given and not method.needs_task_model:
        raise BadInputError(
            f"{method.name} has no use for a task model (--task-model): it learns from the demonstrations alone"
        )


def load_policy(directory: Path, task: Task, temperature: float | None = None) -> Policy:
    """The policy of the run in a directory, whatever its method; see `Method.load`."""
    _, method = method_of(directory)
    return method.load(directory, task, temperature)


def method_of(directory: Path) -> tuple[RunConfig, Method]:
    """The configuration of the run in a directory, and its method.

    Raises:
        BadInputError: it is no run, or one of an unknown method.
    """
    config = read_config(directory)
    return config, find_method(config.method)


def check_unseen(directory: Path, seeds: Sequence[int]) -> None:
    """Refuse to test a run on scenes that it was trained on.

    Raises:
        BadInputError: names the first of them.
    """
    trained = sorted(set(read_config(directory).seen).intersection(seeds))
    if trained:
        more = f" and {len(trained) - 1} more" if len(trained) > 1 else ""
        raise BadInputError(
            f"{directory}: the run was trained on the scene {trained[0]}{more} of these; test it on others"
        )
