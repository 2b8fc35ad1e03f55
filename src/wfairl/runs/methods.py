"""The methods, each of which learns a policy from demonstrations: their contract, and how to train and load by name.

    train("no-automaton", dataset, "runs/goal", {"epochs": 40})     writes a run
    load_policy("runs/goal", task)                                  the policy that `evaluate` runs

To add a method, subclass `Method` and call `register_method`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar

from wfairl.core.automata.task_model import TaskModel
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.planning.cost import Cost
from wfairl.core.planning.policies import REFERENCES, Policy
from wfairl.core.support.documents import plain, plain_fields
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.registry import Registry
from wfairl.core.worlds.task import Task
from wfairl.runs.held_directory import hold
from wfairl.runs.run_directory import RunConfig, read_config
from wfairl.runs.task_registry import find_task

CHOSEN, GREEDY = "chosen", "greedy"
"""How a policy acts: at the temperature that its method has chosen, or greedily."""


@dataclass(frozen=True)
class TrainingRequest:
    """A training to do."""

    task: Task
    dataset: Dataset  # the demonstrations
    directory: Path  # where the run goes
    settings: Mapping[str, Any] = field(default_factory=dict)  # the method's own; those left out have their defaults
    task_model: TaskModel | None = None  # what was learned of the task, for a method that plans with it
    origin: Mapping[str, Any] = field(default_factory=dict)  # of the demonstrations, for people
    resume: bool = False  # resume an existing run
    n_jobs: int = 2  # number of threads; it changes nothing in the result


@dataclass(frozen=True, eq=False)
class Trained:
    """The outcome of a training, for people and for files."""

    facts: Mapping[str, Any]  # as plain JSON
    lines: Sequence[tuple[str, str]]  # the same as rows of a table: a name and a text
    warnings: Sequence[str] = ()  # why the user should not trust it as it is


class Method(ABC):
    """Learns a policy.

    Attributes:
        name: in files and on the command line.
        title: in tables.
        summary: one line for people.
        needs_task_model: whether a task model must be given.
        learns_cost: whether its runs hold an automaton and a cost, so that `plan --cost` and figures of them work.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    needs_task_model: ClassVar[bool] = False
    learns_cost: ClassVar[bool] = False

    @abstractmethod
    def settings_type(self) -> type[Any]:
        """The dataclass of its settings; its docstring explains them, its defaults are the method's."""

    @abstractmethod
    def train(self, request: TrainingRequest) -> Trained:
        """Learn a policy, in a directory.

        Raises:
            RunExistsError: a run exists, and `resume` is off.
            OtherConfigurationError: the existing run has another method, configuration or data set.
        """

    @abstractmethod
    def load(self, directory: Path, task: Task, temperature: float | None) -> Policy:
        """The policy of a finished run, to act in a task; one for other worlds than the task's is a `BadInputError`.

        The temperature is 0 for greedy, None for the one that the demonstrations had or the method has chosen.
        """

    def acting_temperatures(self, temperature: float) -> dict[str, float | None]:  # noqa: ARG002
        """The temperatures of tests by name, after demonstrations of a temperature; the method's own comes first."""
        return {CHOSEN: None}

    def learned_cost(self, directory: Path) -> Cost | None:  # noqa: ARG002
        """The cost that a run has learned, None for a method that learns none."""
        return None

    def check_available(self) -> None:  # noqa: B027 - most need nothing
        """Raise a `MissingExtraError` if an extra that the method needs is not installed."""

    def default_settings(self) -> dict[str, Any]:
        """The settings with their defaults, by name, as plain JSON; None where data or task decide."""
        return plain_fields(self.settings_type()())

    def make_settings(self, settings: Mapping[str, Any]) -> Any:
        """The settings as a record of `settings_type`; an unknown one, or one out of range, is a `BadInputError`."""
        names = [one.name for one in fields(self.settings_type())]
        foreign = [name for name in settings if name not in names]
        if foreign:
            raise BadInputError(f"{self.name} has no setting {', '.join(foreign)}; it has {', '.join(names)}")
        tuples = {name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()}
        try:
            return self.settings_type()(**tuples)
        except TypeError as error:
            raise BadInputError(f"{self.name}: a setting is of the wrong type ({error})") from None

    def changed_settings(self, given: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
        """The given settings that differ from their defaults: value and default by name."""
        pairs = {name: (plain(given[name]), one) for name, one in self.default_settings().items() if name in given}
        return {name: (value, default) for name, (value, default) in pairs.items() if value != default}


METHODS: Registry[Method] = Registry(
    "method",
    {"wfa-irl": "wfairl.runs.planning_methods:WFA_IRL", "no-automaton": "wfairl.runs.planning_methods:NO_AUTOMATON"},
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
    directory: str | Path,
    settings: Mapping[str, Any] | None = None,
    *,
    task_model: TaskModel | None = None,
    origin: Mapping[str, Any] | None = None,
    resume: bool = False,
    n_jobs: int = 2,
) -> Trained:
    """Learn a policy from demonstrations by a method, in a directory; see `TrainingRequest`.

    The task is found by the name in the data set: `register_task` makes one of your own known.

    Raises:
        BadInputError: the method is unknown, or has no such settings, or needs a task model, or has no use for one.
        RunExistsError: a run exists, and `resume` is off; or another process works there.
        OtherConfigurationError: the existing run has another method, configuration or data set.
    """
    chosen = find_method(method)
    chosen.make_settings(settings or {})
    check_task_model(chosen, task_model is not None)
    chosen.check_available()
    task, directory = find_task(dataset.task), Path(directory)
    request = TrainingRequest(task, dataset, directory, settings or {}, task_model, origin or {}, resume, n_jobs)
    with hold(directory):
        return chosen.train(request)


def check_task_model(method: Method, is_given: bool) -> None:
    """Refuse a missing task model, or one that the method has no use for."""
    if method.needs_task_model and not is_given:
        others = " or ".join(one.name for one in METHODS.values() if not one.needs_task_model)
        raise BadInputError(
            f"{method.name} plans with a task model (--task-model), the file that `wfairl learn-task` writes;"
            f" the method {others} (--method) needs none"
        )
    if is_given and not method.needs_task_model:
        raise BadInputError(
            f"{method.name} has no use for a task model (--task-model): it learns from the demonstrations alone"
        )


def load_policy(directory: str | Path, task: Task, temperature: float | None = None) -> Policy:
    """The policy of the run in a directory, whatever its method; greedy at temperature 0, see `Method.load`."""
    _, method = method_of(directory)
    return method.load(Path(directory), task, temperature)


def method_of(directory: str | Path) -> tuple[RunConfig, Method]:
    """The configuration of the run in a directory, and its method."""
    config = read_config(Path(directory))
    return config, find_method(config.method)


def tested_policies(method: Method, directory: Path, task: Task, temperature: float | None) -> dict[str, Policy]:
    """The policies that are tested in new scenes, by name: the references, then the learned one, greedy first.

    After demonstrations of temperature 0, or of an unknown one, no expert is among them.
    """
    references = ("optimal", "expert", "random") if temperature else ("optimal", "random")
    policies: dict[str, Policy] = {name: REFERENCES[name](task, temperature or 0.0) for name in references}
    for acting, acts_at in sorted(
        method.acting_temperatures(temperature or 0.0).items(), key=lambda one: one[1] or 0.0
    ):
        policies[learned_name(acting)] = method.load(directory, task, acts_at)
    return policies


def check_unseen(directory: Path, seeds: Sequence[int]) -> None:
    """Refuse to test a run on scenes that it was trained on."""
    trained = sorted(set(read_config(directory).seen).intersection(seeds))
    if trained:
        more = f" and {len(trained) - 1} more" if len(trained) > 1 else ""
        raise BadInputError(
            f"{directory}: the run was trained on the scene {trained[0]}{more} of these; test it on others"
        )


def acting_mode(temperature: float | None) -> str:
    """How a policy of a temperature acts; without one, its method has chosen."""
    if temperature is None:
        return CHOSEN
    return f"at {temperature:g}" if temperature > 0 else GREEDY


def learned_name(mode: str) -> str:
    """The name of a learned policy beside the references."""
    return "learned" if mode == CHOSEN else f"learned, {mode}"
