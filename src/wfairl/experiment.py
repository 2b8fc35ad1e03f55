"""The whole flow for one task, one line a stage: demonstrations -> automaton -> cost -> agents in new scenes."""

import math
from dataclasses import asdict, dataclass, field
from pathlib import Path

from wfairl.automata.task_model import TaskModel, fit_task_model
from wfairl.demonstrations import Dataset, collect, load, save
from wfairl.errors import BadInputError
from wfairl.evaluation import Evaluation, PlannedPolicy, Policy, RandomPolicy, evaluate, expert_policy
from wfairl.evaluation.trained import policy_of
from wfairl.files import write_json
from wfairl.learning.run_directory import Run, RunConfig, TrainedRun, train_run, training_temperature
from wfairl.learning.trainer import Settings
from wfairl.worlds.tasks import Task, find_task

DEMONSTRATIONS, EVALUATION = "demonstrations.safetensors", "evaluation.json"

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
        if not 0 <= self.temperature < math.inf:
            raise BadInputError(f"the expert's temperature must be 0 or more and finite, not {self.temperature}")


@dataclass(frozen=True, eq=False)
class Result:
    """What the flow gives: the trained run, and one evaluation a policy, references first."""

    trained: TrainedRun
    evaluations: tuple[Evaluation, ...]


def run(config: Config, directory: Path, resume: bool = False, n_jobs: int = 2) -> Result:
    """The whole flow for one task, in a directory; everything in it follows from the configuration.

    Args:
        config: what to do.
        directory: where everything goes.
        resume: go on with a run of the same configuration that was killed.
        n_jobs: scenes to work on at once; it changes nothing in the result.
    """
    task = find_task(config.task)
    dataset = gather(task, config, directory, resume, n_jobs)
    task_model = learn_task(dataset, config)
    trained = learn_cost(task, dataset, task_model, config, directory, resume, n_jobs)
    evaluations = compare(task, trained.run, config, n_jobs)
    write_json(directory / EVALUATION, {one.policy: one.to_document() for one in evaluations})
    return Result(trained, evaluations)


def gather(task: Task, config: Config, directory: Path, resume: bool, n_jobs: int) -> Dataset:
    """The demonstrations; those that a killed run has collected already are read again."""
    path = directory / DEMONSTRATIONS
    if resume and path.exists():
        return load(path, task.name)
    if path.exists():
        raise BadInputError(f"{directory}: there is a run already; go on with --resume, or choose another directory")
    dataset = collect(task, config.successes, config.failures, config.temperature, config.seed, n_jobs=n_jobs)
    save(dataset, path)
    return dataset


def learn_task(dataset: Dataset, config: Config) -> TaskModel:
    """The automaton of the demonstrations' words."""
    return fit_task_model(dataset.words, dataset.scores, config.rank, config.rows, config.cols, optional_start=True)


def learn_cost(
    task: Task, dataset: Dataset, task_model: TaskModel, config: Config, directory: Path, resume: bool, n_jobs: int
) -> TrainedRun:
    """The cost of the demonstrations."""
    training = {
        **asdict(config.training),
        "temperature": training_temperature(config.temperature),
        "seed": config.seed,
    }
    run_config = RunConfig(
        task=task.name,
        temperature=config.temperature,
        cost=config.cost,
        activation=config.activation,
        training=Settings(**training),
        origin={name: getattr(config, name) for name in ("successes", "failures", "seed", "rank", "rows", "cols")},
    )
    return train_run(dataset, task.make_world, task_model, run_config, directory, resume, n_jobs)


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
    greedy = policy_of(trained, 0.0, "learned, greedy")
    return (greedy, policy_of(trained, temperature, f"learned, at {temperature:g}")) if temperature > 0 else (greedy,)
