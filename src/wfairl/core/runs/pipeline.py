"""The whole pipeline for one task: demonstrations -> automaton -> cost -> agents in new scenes."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Self

from annotated_types import MinLen

from wfairl.core.automata.task_model import TaskModel
from wfairl.core.costs.checkpoint import OtherConfigurationError
from wfairl.core.costs.epochs import one_torch_thread
from wfairl.core.demonstrations import Dataset, collect, load, save
from wfairl.core.demonstrations.answers import Answer
from wfairl.core.demonstrations.collection import FIRST_TEST_SEED, FIRST_TRAINING_SEED
from wfairl.core.demonstrations.learners import RATIONAL, find_learner
from wfairl.core.planning import Policy, RandomPolicy, expert_policy
from wfairl.core.planning.product import states_alone
from wfairl.core.runs import Evaluation, evaluate
from wfairl.core.runs.evaluation import BrokenEvaluationError
from wfairl.core.runs.logic_with_cost import learn_logic_and_cost
from wfairl.core.runs.methods import CHOSEN, Trained, TrainingRequest, find_method
from wfairl.core.runs.run_directory import CONFIG, BrokenRunError, RunExistsError, check_unchanged
from wfairl.core.support.bounds import AtLeastOne, check_bounds
from wfairl.core.support.documents import Count, Form
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.files import check_directory, hold
from wfairl.core.worlds.task import Task
from wfairl.core.worlds.task_registry import find_task

EXPERIMENT, DEMONSTRATIONS, EVALUATION = "experiment.json", "demonstrations.safetensors", "evaluation.json"

METHOD = "wfa-irl"
"""The method of the pipeline."""


@dataclass(frozen=True)
class Config:
    """Settings of the pipeline; the defaults are the paper's data set D2 and its protocol.

    Attributes:
        task: the name of the task.
        successes: number of demonstrations of the expert.
        failures: number of random walks, used only to learn the automaton.
        temperature: temperature of the expert; 0 is strictly optimal. None if it is unknown.
        seed: random seed of the collection, of the split into held-out demonstrations, and of the training.
        learner: learner of the automaton; `rational` learns it together with the cost.
        settings: of the cost, by name; see `CostSettings`.
        test_scenes: number of unseen scenes to evaluate on.
        demos: the files of given demonstrations; empty if the built-in expert demonstrates.
    """

    task: str
    successes: Count = 32
    failures: Count = 128
    temperature: float | None = 0.5
    seed: Count = 0
    learner: str = RATIONAL
    settings: Mapping[str, Any] = field(default_factory=dict)
    test_scenes: AtLeastOne = 64
    demos: tuple[str, ...] = ()

    @classmethod
    def for_dataset(cls, dataset: Dataset, demos: Sequence[str], **settings: Any) -> Self:
        """The settings for given demonstrations, whose numbers and temperature are those of the data set."""
        successes = sum(one.is_success for one in dataset)
        failures = len(dataset) - successes
        return cls(dataset.task, successes, failures, dataset.temperature, demos=tuple(demos), **settings)

    @property
    def test_seeds(self) -> range:
        """The scenes to evaluate on."""
        return range(FIRST_TEST_SEED, FIRST_TEST_SEED + self.test_scenes)

    def __post_init__(self) -> None:
        # Refuse bad settings now, not after hours of collecting.
        check_bounds(self)
        find_method(METHOD).check_settings(self.settings)
        find_learner(self.learner)
        if self.temperature is not None and not 0 <= self.temperature < float("inf"):
            raise BadInputError(
                f"the temperature of demonstrations must be 0 or more and finite, not {self.temperature}"
            )


CONFIGURATION = Form(
    "wfairl-experiment",
    "the configuration of an experiment",
    4,
    Config,
    BrokenRunError,
    "`wfairl run` writes one",
)


@dataclass(frozen=True, eq=False)
class Result:
    """The trained method, and one evaluation per policy, references first."""

    trained: Trained
    evaluations: tuple[Evaluation, ...]


@one_torch_thread()
def run(
    config: Config,
    directory: Path,
    resume: bool = False,
    n_jobs: int = 2,
    answers: Sequence[Answer] | None = None,
    demonstrations: Dataset | None = None,
) -> Result:
    """Run the pipeline in a directory; its contents depend only on the arguments other than `n_jobs`.

    Args:
        config: the settings.
        directory: of the run.
        resume: continue an interrupted run of the same configuration.
        n_jobs: scenes to process in parallel; it does not change the result.
        answers: to questions about this task, stored with the demonstrations; None for those already stored.
        demonstrations: given ones, with a configuration from `Config.for_dataset`; None to collect them.

    Raises:
        RunExistsError: a run exists, and `resume` is off.
        OtherConfigurationError: the existing run has another configuration, other demonstrations or other answers.
        BadInputError: the cost cannot be learned in the worlds of this task, or demonstrations are in test scenes.
    """
    task = find_task(config.task)
    check_cost(task, config)
    if demonstrations is not None:
        check_scenes(demonstrations, config)
        demonstrations = replace(demonstrations, answers=(*demonstrations.answers, *(answers or ())))
    with hold(directory):
        dataset = gather(task, config, directory, resume, n_jobs, answers, demonstrations)
        task_model = learn_task(task, dataset, config, n_jobs)
        trained = learn_cost(task, dataset, task_model, config, directory, resume, n_jobs)
        evaluations = compare(task, directory, config, n_jobs)
        save_evaluations(evaluations, directory)
    return Result(trained, evaluations)


def check_cost(task: Task, config: Config) -> None:
    """Raise `BadInputError` now, before anything is collected, if the cost model does not fit the task's worlds."""
    settings = find_method(METHOD).make_settings(config.settings).complete(task.default_cost)
    world = task.make_world(seed=0)
    settings.make_model([states_alone(world, [world.initial_state])])


def check_scenes(dataset: Dataset, config: Config) -> None:
    """Raise `BadInputError` if a demonstration is in a scene that the agent would be tested in."""
    tested = sorted(dataset.seeds.intersection(config.test_seeds))
    if tested:
        first, last = config.test_seeds[0], config.test_seeds[-1]
        raise BadInputError(
            f"a demonstration is in the scene {tested[0]}, but the agent is tested in the scenes {first} to {last},"
            f" which it must not have seen; number the scenes of your demonstrations from {FIRST_TRAINING_SEED} on"
        )


def gather(
    task: Task,
    config: Config,
    directory: Path,
    resume: bool,
    n_jobs: int,
    answers: Sequence[Answer] | None,
    given: Dataset | None,
) -> Dataset:
    """The demonstrations, with answers; read from the directory if an interrupted run has stored them."""
    path = directory / DEMONSTRATIONS
    check_free(config, directory, resume)
    if path.exists():
        stored = load(path, task.name)
        if given is not None and given.demonstrations != stored.demonstrations:
            raise OtherConfigurationError(f"{directory}: a run with other demonstrations. Choose another directory")
        expected = answers if given is None else given.answers
        if expected is not None and tuple(expected) != stored.answers:
            raise OtherConfigurationError(f"{directory}: a run with other answers. Choose another directory")
        return stored
    dataset = given or collect_with(task, config, answers or (), n_jobs)
    # The configuration first: a run without demonstrations may still be started with another one.
    CONFIGURATION.write(directory / EXPERIMENT, asdict(config))
    save(dataset, path)
    return dataset


def collect_with(task: Task, config: Config, answers: Sequence[Answer], n_jobs: int) -> Dataset:
    """Demonstrations of the built-in expert, with answers."""
    assert config.temperature is not None
    dataset = collect(task, config.successes, config.failures, config.temperature, config.seed, n_jobs=n_jobs)
    return replace(dataset, answers=tuple(answers))


def check_free(config: Config, directory: Path, resume: bool) -> None:
    """Check that there is no run yet, or one of the same configuration to resume.

    Raises:
        RunExistsError: a run exists, and `resume` is off.
        OtherConfigurationError: its configuration is another one, or unknown.
    """
    check_directory(directory)
    if any((directory / name).exists() for name in (DEMONSTRATIONS, CONFIG)):
        if not resume:
            raise RunExistsError(directory)
        check_unchanged(read_experiment(directory), asdict(config), directory)


def read_experiment(directory: Path) -> dict[str, Any]:
    """The configuration of the pipeline in a directory.

    Raises:
        OtherConfigurationError: there is none.
        BrokenRunError: it cannot be read.
    """
    path = directory / EXPERIMENT
    if not path.exists():
        raise OtherConfigurationError(
            f"{directory}: this run has no {EXPERIMENT} with its configuration, so `wfairl run` cannot resume it."
            " Choose another directory"
        )
    return asdict(CONFIGURATION.read(path))


def learn_task(task: Task, dataset: Dataset, config: Config, n_jobs: int) -> TaskModel:
    """The automaton of the demonstrations."""
    if config.learner != RATIONAL:
        return find_learner(config.learner).learn(dataset, task, n_jobs=n_jobs)
    settings = find_method(METHOD).make_settings({"seed": config.seed, **config.settings})
    return learn_logic_and_cost(dataset, task, settings, n_jobs=n_jobs).model


def learn_cost(
    task: Task, dataset: Dataset, task_model: TaskModel, config: Config, directory: Path, resume: bool, n_jobs: int
) -> Trained:
    """The cost of the demonstrations."""
    origin: dict[str, Any] = {"successes": config.successes, "failures": config.failures, "seed": config.seed}
    if config.demos:
        origin = {"demonstrations": [Path(name).name for name in config.demos]}
    settings = {"seed": config.seed, **config.settings}
    request = TrainingRequest(task, dataset, directory, settings, task_model, origin, resume, n_jobs)
    return find_method(METHOD).train(request)


def compare(task: Task, directory: Path, config: Config, n_jobs: int) -> tuple[Evaluation, ...]:
    """Evaluate the learned policies and the references in new scenes."""
    policies = {policy.name: policy for policy in references(task, config.temperature)}
    policies |= learned_policies(directory, task, config.temperature)
    learned = find_method(METHOD).learned_cost(directory)
    return tuple(
        replace(evaluate(task, policy, config.test_seeds, n_jobs=n_jobs, learned=learned), policy=name)
        for name, policy in policies.items()
    )


def references(task: Task, temperature: float | None) -> tuple[Policy, ...]:
    """The optimal policy, the demonstrating expert if it is known and not optimal, and the random policy."""
    expert = (expert_policy(task, temperature),) if temperature else ()
    return (expert_policy(task, 0.0), *expert, RandomPolicy())


def learned_policies(directory: Path, task: Task, temperature: float | None) -> dict[str, Policy]:
    """The greedy learned policy and, if the demonstrations have a temperature above 0, the one at that temperature."""
    method = find_method(METHOD)
    temperatures = (0.0, temperature) if temperature else (0.0,)
    return {learned_name(one): method.load(directory, task, one) for one in temperatures}


def learned_name(temperature: float | None) -> str:
    """The name of a learned policy beside the references; without a temperature, its method has chosen one."""
    if temperature is None:
        return "learned"
    return f"learned, at {temperature:g}" if temperature > 0 else "learned, greedy"


def learned_names(modes: Mapping[str, float | None]) -> dict[str, float | None]:
    """The temperatures of a method's policies, by their names beside the references."""
    return {"learned" if mode == CHOSEN else f"learned, {mode}": temperature for mode, temperature in modes.items()}


def read_evaluations(directory: Path) -> dict[str, Evaluation]:
    """The evaluations in a run's directory by policy name; empty if there are none.

    Raises:
        BrokenRunError: the file holds something else.
    """
    path = directory / EVALUATION
    if not path.exists():
        return {}
    try:
        return {name: Evaluation.from_document(one) for name, one in EVALUATIONS.read(path).policies.items()}
    except BrokenEvaluationError as error:
        raise BrokenRunError(f"{path}: {error}; {EVALUATIONS.advice}") from None


def save_evaluations(evaluations: Sequence[Evaluation], directory: Path) -> Path:
    """Write evaluations into a run's directory, replacing those of the same names."""
    path = directory / EVALUATION
    write_evaluations({**read_evaluations(directory), **{one.policy: one for one in evaluations}}, path)
    return path


def write_evaluations(evaluations: Mapping[str, Evaluation], path: Path) -> None:
    """Write evaluations by policy name, replacing all existing ones."""
    EVALUATIONS.write(path, {"policies": {name: one.to_document() for name, one in evaluations.items()}})


@dataclass(frozen=True)
class _Evaluations:
    """The evaluations of a run on disk, by policy name."""

    policies: Annotated[Mapping[str, Mapping[str, Any]], MinLen(1)]


EVALUATIONS = Form(
    "wfairl-evaluations",
    "evaluations of a run",
    2,
    _Evaluations,
    BrokenRunError,
    "`wfairl evaluate` writes them again",
)
