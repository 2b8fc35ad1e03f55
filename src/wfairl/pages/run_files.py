"""The files of a run, for its page, and the commands that make such files."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from wfairl.core.automata.task_model import TaskModel
from wfairl.core.costs.cost_model import CostModel, load_cost
from wfairl.core.costs.settings import training_temperature
from wfairl.core.costs.training import METRICS, EpochMetrics
from wfairl.core.demonstrations import Dataset
from wfairl.core.support.documents import plain, read_lines
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.task import Task
from wfairl.pages.enforced import enforced_orders
from wfairl.runs.collection import FIRST_TEST_SEED, FIRST_TRAINING_SEED
from wfairl.runs.data_sets import load
from wfairl.runs.evaluation import Evaluation, read_evaluations
from wfairl.runs.methods import Method, find_method
from wfairl.runs.pipeline import DEMONSTRATIONS, EXPERIMENT, PipelineConfig, read_experiment
from wfairl.runs.run_directory import CONFIG, COST, TASK_MODEL, BrokenRunError, RunConfig, read_config, unfinished
from wfairl.runs.task_registry import find_task, loaded_sources


@dataclass(frozen=True, eq=False)
class RunFiles:
    """The files of a run. Those that a policy does not need may be missing."""

    directory: Path
    config: RunConfig
    # the settings of the whole experiment; None if the run was not made by `wfairl run`
    experiment: dict[str, Any] | None
    evaluation: dict[str, Evaluation]  # by the name of the policy
    task_model: TaskModel | None  # None for a method without one
    history: tuple[EpochMetrics, ...]  # the epochs of a learned cost
    dataset: Dataset | None  # None if the demonstrations are not in the directory

    @property
    def task(self) -> Task:
        """The task. Raises `BadInputError` if it is unknown in this process."""
        return find_task(self.config.task)

    @property
    def method(self) -> Method:
        """The method that trained it."""
        return find_method(self.config.method)

    @cached_property
    def cost(self) -> CostModel | None:
        """The learned cost; None if there is none."""
        return load_cost(self.directory / COST) if (self.directory / COST).exists() else None

    @property
    def learned(self) -> dict[str, Evaluation]:
        """The evaluations of learned policies, not of references."""
        return {name: one for name, one in self.evaluation.items() if name.startswith("learned")}

    @cached_property
    def enforced_orders(self) -> list[tuple[str, str]]:
        """Pairs of propositions that the worlds put into this order, where the rule is an automaton of sets."""
        if self.task_model is None or not self.task_model.summary.closed:
            return []
        return enforced_orders(map(self.task.make_world, self.scenes(2)), self.task.propositions)

    def scenes(self, count: int) -> list[int]:
        """Scenes of the evaluation, failed ones first; none that the run was trained on."""
        episodes = [episode for one in self.learned.values() for episode in one.episodes]
        tested = dict.fromkeys(episode.seed for episode in sorted(episodes, key=lambda episode: episode.success))
        candidates = tested or range(FIRST_TEST_SEED, FIRST_TRAINING_SEED)
        return list(islice((seed for seed in candidates if seed not in self.config.seen), count))


def read_run_files(directory: Path) -> RunFiles:
    """Read the files of a run.

    Raises:
        BrokenRunError: it is not the directory of a run, or the run is unfinished.
        BadInputError: a file is broken; says which.
    """
    directory = Path(directory)
    if not (directory / CONFIG).exists() and (directory / EXPERIMENT).exists():
        raise unfinished(directory)
    config = read_config(directory)
    learns_cost = find_method(config.method).learns_cost
    if learns_cost and not (directory / TASK_MODEL).exists():
        raise BrokenRunError(f"{directory / TASK_MODEL}: there is no such file, and {config.method} plans with it")
    return RunFiles(
        directory=directory,
        config=config,
        experiment=read_experiment(directory) if (directory / EXPERIMENT).exists() else None,
        evaluation=read_evaluations(directory),
        task_model=TaskModel.load(directory / TASK_MODEL) if (directory / TASK_MODEL).exists() else None,
        history=read_history(directory) if learns_cost and (directory / METRICS).exists() else (),
        dataset=load(directory / DEMONSTRATIONS) if (directory / DEMONSTRATIONS).exists() else None,
    )


def read_history(directory: Path) -> tuple[EpochMetrics, ...]:
    """The epochs of a learned cost. A `BadInputError` names the file and what is wrong with it."""
    history: tuple[EpochMetrics, ...] = read_lines(directory / METRICS, EpochMetrics, BadInputError)
    if not history:
        raise BadInputError(f"{directory / METRICS}: this file is empty")
    return history


def command_line(*arguments: str) -> str:
    """A command of the command line for a shell, with the task files that it needs."""
    sources = [part for source in loaded_sources() for part in ("--tasks", source)]
    return shlex.join(["wfairl", *sources, *arguments])


def repeating_command(run: RunFiles) -> str:
    """The command that makes the same run again, with the settings that differ from the defaults."""
    name = str(run.directory) if run.directory.name else run.directory.resolve().name  # for a path such as `.`
    return command_line(*_train_command(run, name) if run.experiment is None else _run_command(run.experiment, name))


def _run_command(experiment: Mapping[str, Any], directory: str) -> list[str]:
    default = asdict(PipelineConfig(experiment["task"]))
    if experiment["demos"]:
        default |= {name: experiment[name] for name in ("successes", "failures", "temperature")}
    own = {name: plain(experiment[name]) for name in default if experiment[name] != default[name]}
    settings = own.pop("settings", {})
    return ["run", experiment["task"], "-o", directory, *_options({**own, **settings})]


def _train_command(run: RunFiles, directory: str) -> list[str]:
    demonstrations = [str(name) for name in run.config.origin.get("demonstrations", ())] or ["DEMOS"]
    plans = run.method.needs_task_model
    method = ["--task-model", str(Path(directory, TASK_MODEL))] if plans else ["--method", run.method.name]
    decided = {"cost": run.task.default_cost, "temperature": training_temperature(run.config.temperature)}
    changed = run.method.changed_settings(run.config.settings)
    settings = {
        name: value for name, (value, default) in changed.items() if default is not None or value != decided.get(name)
    }
    return ["train", *demonstrations, *method, "-o", directory, *_options(settings)]


def _options(settings: Mapping[str, Any]) -> Iterator[str]:
    """Settings as options of the command line."""
    for name, value in settings.items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            yield f"--{flag}" if value else f"--no-{flag}"
        else:
            for one in value if isinstance(value, list) else [value]:
                yield from (f"--{flag}", str(one))
