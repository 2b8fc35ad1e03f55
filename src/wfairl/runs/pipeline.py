"""The whole pipeline for one task: demonstrations -> automaton -> cost -> agents in new scenes."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from wfairl.core.automata.task_model import TaskModel
from wfairl.core.costs.training import OtherConfigurationError
from wfairl.core.demonstrations import Dataset
from wfairl.core.demonstrations.answers import Answer
from wfairl.core.demonstrations.learners import RATIONAL, find_learner
from wfairl.core.planning.product import states_alone
from wfairl.core.rational.logic_with_cost import learn_logic_and_cost
from wfairl.core.support.bounds import AtLeastOne, Count, check_bounds
from wfairl.core.support.documents import Form
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.task import Task
from wfairl.runs.collection import FIRST_TEST_SEED, FIRST_TRAINING_SEED, collect
from wfairl.runs.data_sets import load, save
from wfairl.runs.evaluation import Evaluation, evaluate, save_evaluations
from wfairl.runs.held_directory import hold
from wfairl.runs.methods import Trained, TrainingRequest, find_method, tested_policies
from wfairl.runs.run_directory import CONFIG, BrokenRunError, check_resumable, check_temperature
from wfairl.runs.task_registry import find_task

EXPERIMENT, DEMONSTRATIONS = "experiment.json", "demonstrations.safetensors"

METHOD = "wfa-irl"
"""The method of the pipeline."""


@dataclass(frozen=True)
class PipelineConfig:
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
        find_method(METHOD).make_settings(self.settings)
        find_learner(self.learner)
        check_temperature(self.temperature)


CONFIGURATION = Form(
    "wfairl-experiment",
    "the configuration of an experiment",
    4,
    PipelineConfig,
    BrokenRunError,
    "`wfairl run` writes one",
)


@dataclass(frozen=True, eq=False)
class PipelineResult:
    """The trained method, and one evaluation per policy, references first."""

    trained: Trained
    evaluations: tuple[Evaluation, ...]


def run_pipeline(
    config: PipelineConfig,
    directory: Path,
    resume: bool = False,
    n_jobs: int = 2,
    answers: Sequence[Answer] | None = None,
    demonstrations: Dataset | None = None,
) -> PipelineResult:
    """Run the pipeline in a directory; its contents depend only on the arguments other than `n_jobs`.

    Args:
        config: the settings.
        directory: of the run.
        resume: continue an interrupted run of the same configuration.
        n_jobs: scenes to process in parallel; it does not change the result.
        answers: to questions about this task, stored with the demonstrations; None for those already stored.
        demonstrations: given ones, with a configuration from `PipelineConfig.for_dataset`; None to collect them.

    Raises:
        RunExistsError: a run exists, and `resume` is off.
        OtherConfigurationError: the existing run has another configuration, other demonstrations or other answers.
        BadInputError: the cost cannot be learned in the worlds of this task, or demonstrations are in test scenes.
    """
    pipeline = _Pipeline(find_task(config.task), config, directory, resume, n_jobs)
    pipeline.check_cost()
    if demonstrations is not None:
        pipeline.check_scenes(demonstrations)
        demonstrations = replace(demonstrations, answers=(*demonstrations.answers, *(answers or ())))
    with hold(directory):
        dataset = pipeline.gather(answers, demonstrations)
        task_model = pipeline.learn_task(dataset)
        trained = pipeline.learn_cost(dataset, task_model)
        evaluations = pipeline.evaluate_policies()
        save_evaluations(evaluations, directory)
    return PipelineResult(trained, evaluations)


def read_experiment(directory: Path) -> dict[str, Any]:
    """The configuration of the pipeline in a directory; an `OtherConfigurationError` if there is none."""
    path = directory / EXPERIMENT
    if not path.exists():
        raise OtherConfigurationError(
            f"{directory}: this run has no {EXPERIMENT} with its configuration, so `wfairl run` cannot resume it."
            " Choose another directory"
        )
    return asdict(CONFIGURATION.read(path))


@dataclass(frozen=True)
class _Pipeline:
    """The steps of `run_pipeline`; the attributes are its arguments."""

    task: Task
    config: PipelineConfig
    directory: Path
    resume: bool
    n_jobs: int

    @property
    def settings(self) -> dict[str, Any]:
        """How to learn the cost."""
        return {"seed": self.config.seed, **self.config.settings}

    def check_cost(self) -> None:
        """Refuse a cost model that does not fit the task's worlds, before anything is collected."""
        settings = find_method(METHOD).make_settings(self.settings).complete(self.task.default_cost)
        world = self.task.make_world(seed=0)
        settings.make_model([states_alone(world, [world.initial_state])])

    def check_scenes(self, dataset: Dataset) -> None:
        """Refuse a demonstration in a scene that the agent would be tested in."""
        seeds = self.config.test_seeds
        tested = sorted(dataset.seeds.intersection(seeds))
        if tested:
            raise BadInputError(
                f"a demonstration is in the scene {tested[0]}, but the agent is tested in the scenes {seeds[0]} to"
                f" {seeds[-1]}, which it must not have seen; number the scenes of your demonstrations from"
                f" {FIRST_TRAINING_SEED} on"
            )

    def gather(self, answers: Sequence[Answer] | None, given: Dataset | None) -> Dataset:
        """The demonstrations, with answers; read from the directory if an interrupted run has stored them."""
        directory, config, path = self.directory, self.config, self.directory / DEMONSTRATIONS
        check_resumable(
            directory, (DEMONSTRATIONS, CONFIG), self.resume, lambda: read_experiment(directory), asdict(config)
        )
        if path.exists():
            stored = load(path, self.task.name)
            if given is not None and given.demonstrations != stored.demonstrations:
                raise OtherConfigurationError(f"{directory}: a run with other demonstrations. Choose another directory")
            expected = answers if given is None else given.answers
            if expected is not None and tuple(expected) != stored.answers:
                raise OtherConfigurationError(f"{directory}: a run with other answers. Choose another directory")
            return stored
        if given is None:
            assert config.temperature is not None
            numbers = config.successes, config.failures, config.temperature, config.seed
            given = replace(collect(self.task, *numbers, n_jobs=self.n_jobs), answers=tuple(answers or ()))
        # The configuration first: a run without demonstrations may still be started with another one.
        CONFIGURATION.write(directory / EXPERIMENT, asdict(config))
        save(given, path)
        return given

    def learn_task(self, dataset: Dataset) -> TaskModel:
        """The automaton of the demonstrations."""
        if self.config.learner != RATIONAL:
            return find_learner(self.config.learner).learn(dataset, self.task, n_jobs=self.n_jobs)
        settings = find_method(METHOD).make_settings(self.settings)
        return learn_logic_and_cost(dataset, self.task, settings, n_jobs=self.n_jobs).model

    def learn_cost(self, dataset: Dataset, task_model: TaskModel) -> Trained:
        """The cost of the demonstrations."""
        config = self.config
        origin: dict[str, Any] = {"successes": config.successes, "failures": config.failures, "seed": config.seed}
        if config.demos:
            origin = {"demonstrations": [Path(name).name for name in config.demos]}
        request = TrainingRequest(
            self.task, dataset, self.directory, self.settings, task_model, origin, self.resume, self.n_jobs
        )
        return find_method(METHOD).train(request)

    def evaluate_policies(self) -> tuple[Evaluation, ...]:
        """In new scenes; see `tested_policies`."""
        method, seeds = find_method(METHOD), self.config.test_seeds
        policies = tested_policies(method, self.directory, self.task, self.config.temperature)
        learned = method.learned_cost(self.directory)
        return tuple(
            replace(evaluate(self.task, policy, seeds, n_jobs=self.n_jobs, learned=learned), policy=name)
            for name, policy in policies.items()
        )
