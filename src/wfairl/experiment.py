"""The whole flow for one task, one line a stage: demonstrations -> automaton -> cost -> agents in new scenes."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from wfairl.automata.task_model import TaskModel, fit_task_model
from wfairl.demonstrations import Dataset, collect, load, save
from wfairl.evaluation import Evaluation, PlannedPolicy, Policy, RandomPolicy, evaluate, expert_policy
from wfairl.files import check_directory, read_json, write_json
from wfairl.learning.checkpoint import OtherConfigurationError
from wfairl.learning.run_directory import (
    CONFIG,
    BrokenRunError,
    Run,
    RunConfig,
    RunExistsError,
    TrainedRun,
    check_unchanged,
    train_run,
    training_temperature,
)
from wfairl.learning.threads import one_torch_thread
from wfairl.learning.trainer import Settings
from wfairl.methods import policy_of
from wfairl.worlds.registry import find_task
from wfairl.worlds.task import Task

EXPERIMENT, DEMONSTRATIONS, EVALUATION = "experiment.json", "demonstrations.safetensors", "evaluation.json"

FORMAT = "wfairl-experiment"
VERSION = 1

FIRST_TEST_SEED = 5_000


@dataclass(frozen=True)
class Config:
    """Settings of the whole flow; the defaults are the paper's data set D2 and its protocol.

    Attributes:
        task: the name of the task.
        successes: demonstrations of the expert.
        failures: random walks, for the automaton alone.
        temperature: of the expert; 0 is the paper's data set D1.
        seed: of the collection, of the split into held-out demonstrations, and of the training.
        rank, rows, cols: of the spectral learner; all of the data if None.
        cost: the kind of cost model.
        activation: its output.
        training: how the cost is trained; the temperature and the seed above take the place of its own.
        test_scenes: scenes to evaluate on, none of which was trained on.
    """

    task: str
    successes: int = 32
    failures: int = 128
    temperature: float = 0.5
    seed: int = 0
    rank: int | None = None
    rows: int | None = None
    cols: int | None = None
    cost: str = "local"
    activation: str = "softplus"
    training: Settings = field(default_factory=Settings)
    test_scenes: int = 64

    def __post_init__(self) -> None:
        _ = self.run_config  # refuses what cannot be trained, before hours are spent on collecting

    @property
    def run_config(self) -> RunConfig:
        """What to train, and how."""
        return RunConfig(
            task=self.task,
            temperature=self.temperature,
            cost=self.cost,
            activation=self.activation,
            training=replace(self.training, temperature=training_temperature(self.temperature), seed=self.seed),
            origin={name: getattr(self, name) for name in ("successes", "failures", "seed", "rank", "rows", "cols")},
        )


@dataclass(frozen=True, eq=False)
class Result:
    """What the flow gives: the trained run, and one evaluation a policy, references first."""

    trained: TrainedRun
    evaluations: tuple[Evaluation, ...]


@one_torch_thread()
def run(config: Config, directory: Path, resume: bool = False, n_jobs: int = 2) -> Result:
    """The whole flow for one task, in a directory; everything in it follows from the configuration.

    Args:
        config: what to do.
        directory: where everything goes.
        resume: go on with a run of the same configuration that was killed.
        n_jobs: scenes to work on at once; it changes nothing in the result.

    Raises:
        RunExistsError: there is a run, and it shall not be resumed.
        OtherConfigurationError: the run that is there has another configuration.
    """
    task = find_task(config.task)
    dataset = gather(task, config, directory, resume, n_jobs)
    task_model = learn_task(dataset, config)
    trained = learn_cost(task, dataset, task_model, config, directory, resume, n_jobs)
    evaluations = compare(task, trained.run, config, n_jobs)
    save_evaluations(evaluations, directory)
    return Result(trained, evaluations)


def gather(task: Task, config: Config, directory: Path, resume: bool, n_jobs: int) -> Dataset:
    """The demonstrations; those that a killed run has collected already are read again."""
    path = directory / DEMONSTRATIONS
    check_free(config, directory, resume)
    if path.exists():
        return load(path, task.name)
    dataset = collect(task, config.successes, config.failures, config.temperature, config.seed, n_jobs=n_jobs)
    # First what the demonstrations are, then they: a run that is killed before there are any has decided nothing.
    write_json(directory / EXPERIMENT, {"format": FORMAT, "version": VERSION, **asdict(config)})
    save(dataset, path)
    return dataset


def check_free(config: Config, directory: Path, resume: bool) -> None:
    """See that there is no run yet, or one of the same configuration that shall be resumed.

    Raises:
        RunExistsError: there is a run, and it shall not be resumed.
        OtherConfigurationError: its configuration is another one, or unknown.
    """
    check_directory(directory)
    if any((directory / name).exists() for name in (DEMONSTRATIONS, CONFIG)):
        if not resume:
            raise RunExistsError(directory)
        check_unchanged(read_experiment(directory), asdict(config), directory)


def read_experiment(directory: Path) -> dict[str, Any]:
    """The configuration of the whole flow that made a directory.

    Raises:
        OtherConfigurationError: nothing says what it was.
        BrokenRunError: it cannot be read.
    """
    path = directory / EXPERIMENT
    if not path.exists():
        raise OtherConfigurationError(
            f"{directory}: there is a run, but no {EXPERIMENT} that says what its demonstrations are, so `wfairl run`"
            " cannot go on with it. Choose another directory"
        )
    document = read_json(path)
    if not isinstance(document, dict) or (document.pop("format", None), document.pop("version", None)) != (
        FORMAT,
        VERSION,
    ):
        raise BrokenRunError(f"{path}: not the configuration of an experiment that this wfairl can read")
    return document


def learn_task(dataset: Dataset, config: Config) -> TaskModel:
    """The automaton of the demonstrations' words."""
    return fit_task_model(
        dataset.words, dataset.scores, rank=config.rank, rows=config.rows, cols=config.cols, optional_start=True
    )


def learn_cost(
    task: Task, dataset: Dataset, task_model: TaskModel, config: Config, directory: Path, resume: bool, n_jobs: int
) -> TrainedRun:
    """The cost of the demonstrations."""
    return train_run(dataset, task.make_world, task_model, config.run_config, directory, resume, n_jobs)


def compare(task: Task, trained: Run, config: Config, n_jobs: int) -> tuple[Evaluation, ...]:
    """The learned policy beside those that know the truth and the one that knows nothing, on new scenes."""
    seeds = range(FIRST_TEST_SEED, FIRST_TEST_SEED + config.test_scenes)
    policies = (*references(task, config.temperature), *learned_policies(trained, config.temperature))
    return tuple(evaluate(task, policy, seeds, n_jobs=n_jobs) for policy in policies)


def references(task: Task, temperature: float) -> tuple[Policy, ...]:
    """Optimal, the expert that gave the demonstrations if it is another one, and random."""
    expert = (expert_policy(task, temperature),) if temperature > 0 else ()
    return (expert_policy(task, 0.0), *expert, RandomPolicy())


def learned_policies(trained: Run, temperature: float) -> tuple[PlannedPolicy, ...]:
    """The learned policy acting greedily, and at the temperature of the demonstrations if that is another one."""
    temperatures = (0.0, temperature) if temperature > 0 else (0.0,)
    return tuple(policy_of(trained, one, learned_name(one)) for one in temperatures)


def learned_name(temperature: float | None) -> str:
    """What a learned policy is called beside the references; None for a network that acts as its method has chosen."""
    if temperature is None:
        return "learned"
    return f"learned, at {temperature:g}" if temperature > 0 else "learned, greedy"


def read_evaluations(directory: Path) -> dict[str, dict[str, Any]]:
    """The evaluations in a run's directory by the name of the policy, as JSON; empty if there are none.

    Raises:
        BrokenRunError: the file holds something else.
    """
    path = directory / EVALUATION
    if not path.exists():
        return {}
    evaluations = read_json(path)
    if not isinstance(evaluations, dict):
        raise BrokenRunError(f"{path}: not an object in JSON")
    for name, evaluation in evaluations.items():
        try:
            _ = [float(evaluation[key]) for key in ("mean_return", "standard_error", "success_rate")]
            episodes = [(int(one["seed"]), str(one["outcome"]), bool(one["success"])) for one in evaluation["episodes"]]
        except (KeyError, TypeError, ValueError):
            episodes = []
        if not episodes:
            raise BrokenRunError(f"{path}: not what `wfairl run` writes ({name!r} is no evaluation)")
    return evaluations


def save_evaluations(evaluations: Sequence[Evaluation], directory: Path) -> Path:
    """Write evaluations into a run's directory, in the place of those of the same names; others stay."""
    path = directory / EVALUATION
    write_json(path, {**read_evaluations(directory), **{one.policy: one.to_document() for one in evaluations}})
    return path
