"""The methods, behind one surface: how each is trained from demonstrations, and how its run becomes a policy.

    train("bc", dataset, directory, {"epochs": 40})       writes a run
    load_policy(directory, task)                          what `evaluate` runs, whatever the method

This is the one place that asks which method a run is of.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from wfairl.automata.task_model import TaskModel
from wfairl.baselines.cloning import METHOD as BC
from wfairl.baselines.cloning import CloningConfig, train_cloning
from wfairl.baselines.network_policy import NetworkPolicy
from wfairl.baselines.no_automaton import train_without_automaton
from wfairl.baselines.policy_run import (
    PolicyRun,
    load_policy_run,
)
from wfairl.demonstrations.demonstration import Dataset
from wfairl.errors import BadInputError
from wfairl.evaluation.policies import PlannedPolicy, Policy
from wfairl.learning.run_directory import (
    DEFAULT_TRAINING_TEMPERATURE,
    NO_AUTOMATON,
    PLANNERS,
    WFA_IRL,
    Run,
    RunConfig,
    TrainedRun,
    broken_configuration,
    load_run,
    read_document,
    seen_tests,
    train_run,
    training_temperature,
)
from wfairl.learning.trainer import Settings
from wfairl.worlds.registry import find_task
from wfairl.worlds.task import Task

GAIL = "gail"

Trained = TrainedRun | PolicyRun
"""What training gives: a cost and how it was learned, or a network that acts."""


class UnknownSettingError(BadInputError):
    """A method is asked for with a setting that it does not have."""


@dataclass(frozen=True)
class Order:
    """What to train, and where.

    Attributes:
        task: of the demonstrations.
        dataset: the demonstrations.
        directory: where the run goes.
        settings: the method's own, by name; defaults where nothing is said.
        task_model: what the method plans with, if it is one that needs a task model.
        origin: where the demonstrations came from, for people.
        resume: go on with the run that is there, if there is one.
        n_jobs: how much to do at once; it changes nothing in the result.
    """

    task: Task
    dataset: Dataset
    directory: Path
    settings: dict[str, Any]
    task_model: TaskModel | None
    origin: dict[str, Any]
    resume: bool
    n_jobs: int


@dataclass(frozen=True)
class Method:
    """A way to learn a policy.

    Attributes:
        name: what files and the command line call it.
        summary: one line for people.
        needs_task_model: whether a task model must be given.
        settings: its settings with their defaults, by name; None where the demonstrations decide.
        train: carries out an order.
    """

    name: str
    summary: str
    needs_task_model: bool
    settings: Callable[[], dict[str, Any]]
    train: Callable[[Order], Trained]


def changed_settings(method: str, given: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Those of some settings that are not the method's defaults: what they are, and what they would be.

    Both are as a file has them, with lists where records have tuples.
    """
    pairs = {
        name: (_plain(given[name]), _plain(default))
        for name, default in find_method(method).settings().items()
        if name in given
    }
    return {name: (value, default) for name, (value, default) in pairs.items() if value != default}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


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
    """Learn a policy from demonstrations by a method, in a directory.

    Args:
        method: one of `METHODS`.
        dataset: the demonstrations.
        directory: where the run goes.
        settings: the method's own, by name; defaults where nothing is said.
        task_model: what was learned of the task, for the method that plans with it.
        origin: where the demonstrations came from, for people.
        resume: go on with the run that is there, if there is one.
        n_jobs: how much to do at once; it changes nothing in the result.

    Raises:
        BadInputError: the method is unknown, or has no such settings, or needs a task model, or has no use for one.
        RunExistsError: there is a run, and it shall not be resumed.
        OtherConfigurationError: the run that is there is of another method, configuration or other demonstrations.
    """
    found = find_method(method)
    check_settings(found, settings or {})
    if found.needs_task_model and task_model is None:
        raise BadInputError(f"{method} plans with a task model: give the one that `wfairl learn-task` wrote")
    if task_model is not None and not found.needs_task_model:
        raise BadInputError(f"{method} has no use for a task model; leave it out, or train {WFA_IRL}")
    task = find_task(dataset.task)
    given, where = dict(settings or {}), dict(origin or {})
    return found.train(Order(task, dataset, directory, given, task_model, where, resume, n_jobs))


def load_policy(directory: Path, task: Task, temperature: float | None = None) -> Policy:
    """The policy of the run in a directory, whatever its method.

    Args:
        directory: where the run is.
        task: the task that it is to act in; it must have the propositions that the run's automaton reads, or maps
            of the size that its network takes.
        temperature: 0 for greedy. If None, that of the demonstrations, or the one that the method has chosen.

    Raises:
        BadInputError: it is no finished run, or it was trained for other labels or maps than this task's.
    """
    method = read_document(directory)["method"]
    if method not in METHODS:
        raise broken_configuration(directory, f"unknown method {method!r}")
    if method in PLANNERS:
        return load_planned_policy(directory, task, temperature)
    run = load_policy_run(directory)
    run.encoder.for_world(task.make_world(seed=0))  # what does not fit is refused at once
    temperature = run.selection.temperature if temperature is None else temperature
    return NetworkPolicy(str(directory), run.networks, run.encoder, temperature)


def load_planned_policy(directory: Path, task: Task, temperature: float | None = None) -> PlannedPolicy:
    """The policy of a run that learned a cost; arguments and errors as in `load_policy`.

    Raises:
        OtherMethodError: the run is of a method that learns no cost.
    """
    run = load_run(directory)
    foreign = frozenset().union(*run.task_model.finite.alphabet) - set(task.propositions)
    if foreign:
        raise BadInputError(
            f"{directory}: a run of the task {run.config.task!r}, whose automaton reads {', '.join(sorted(foreign))};"
            f" the task {task.name!r} does not have that"
        )
    return policy_of(run, temperature, str(directory))


def policy_of(run: Run, temperature: float | None = None, name: str = "learned") -> PlannedPolicy:
    """The policy of a run that learned a cost, at the temperature of its demonstrations if none is given."""
    temperature = own_temperature(run.config) if temperature is None else temperature
    return PlannedPolicy(name, run.task_model.finite, run.cost.as_cost(), temperature)


def own_temperature(config: RunConfig) -> float:
    """The temperature at which what was learned acts unless one says otherwise: that of its demonstrations."""
    return DEFAULT_TRAINING_TEMPERATURE if config.temperature is None else config.temperature


def check_unseen(directory: Path, seeds: Sequence[int]) -> None:
    """Refuse to test a run on scenes that it was trained on.

    Raises:
        BadInputError: says which.
    """
    seen = sorted(set(read_document(directory)["seen"]).intersection(seeds))
    if seen:
        raise BadInputError(
            f"{directory}: the run was trained on the scene {seen[0]}"
            f"{f' and {len(seen) - 1} more' if len(seen) > 1 else ''} of these; test it on others"
        )


def find_method(name: str) -> Method:
    """The method of a name.

    Raises:
        BadInputError: there is none.
    """
    if name not in METHODS:
        raise BadInputError(f"unknown method {name!r}; known are {', '.join(METHODS)}")
    return METHODS[name]


def check_settings(method: Method, settings: Mapping[str, Any]) -> None:
    """Refuse settings that a method does not have.

    Raises:
        UnknownSettingError: names them, and those that it has.
    """
    foreign = [name for name in settings if name not in method.settings()]
    if foreign:
        raise UnknownSettingError(
            f"{method.name} has no setting {', '.join(foreign)}; it has {', '.join(method.settings())}"
        )


_COST_SETTINGS = ("cost", "floor", "activation")


def _train_wfa_irl(order: Order) -> TrainedRun:
    assert order.task_model is not None  # `train` has seen to it
    config = _run_config(order)
    make_world, task_model = order.task.make_world, order.task_model
    return train_run(order.dataset, make_world, task_model, config, order.directory, order.resume, order.n_jobs)


def _train_no_automaton(order: Order) -> TrainedRun:
    config = _run_config(order)
    return train_without_automaton(order.task, order.dataset, config, order.directory, order.resume, order.n_jobs)


def _run_config(order: Order) -> RunConfig:
    """Settings of the cost and of its training; the training temperature is the demonstrations' unless given."""
    training = {name: value for name, value in order.settings.items() if name not in _COST_SETTINGS}
    cost = {name: value for name, value in order.settings.items() if name in _COST_SETTINGS}
    training.setdefault("temperature", training_temperature(order.dataset.temperature))
    return RunConfig(
        task=order.dataset.task,
        temperature=order.dataset.temperature,
        training=Settings(**training),
        seen=seen_tests(order.dataset),
        origin=order.origin,
        **cost,
    )


def _train_cloning(order: Order) -> PolicyRun:
    config = CloningConfig(**order.settings)
    return train_cloning(
        order.task, order.dataset, config, order.directory, order.resume, order.n_jobs, order.origin
    ).run


def _train_gail(order: Order) -> PolicyRun:
    from wfairl.baselines.gail import GailConfig, train_gail  # Stable-Baselines3 is an extra, and slow to import

    config = GailConfig(**order.settings)
    return train_gail(order.task, order.dataset, config, order.directory, order.resume, order.n_jobs, order.origin).run


def _cost_settings() -> dict[str, Any]:
    cost = {field.name: field.default for field in fields(RunConfig) if field.name in _COST_SETTINGS}
    return {**cost, **asdict(Settings()), "temperature": None}


def _cloning_settings() -> dict[str, Any]:
    return asdict(CloningConfig())


def _gail_settings() -> dict[str, Any]:
    from wfairl.baselines.gail import GailConfig

    return asdict(GailConfig())


METHODS = {
    method.name: method
    for method in (
        Method(WFA_IRL, "plan with a learned automaton and a learned cost", True, _cost_settings, _train_wfa_irl),
        Method(NO_AUTOMATON, "plan until the goal with a learned cost", False, _cost_settings, _train_no_automaton),
        Method(BC, "behavioural cloning: imitate the control in each state", False, _cloning_settings, _train_cloning),
        Method(GAIL, "generative adversarial imitation with PPO", False, _gail_settings, _train_gail),
    )
}
"""The methods, by the name that files and the command line have for them."""
