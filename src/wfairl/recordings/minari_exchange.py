"""Exchange with Minari, the data set format of Gymnasium; needs the extra `minari`.

Export runs the controls in the real environment and writes its observations, rewards and ends. Import runs them again:
an episode whose observations the environment contradicts is rejected, with the step at which they differ.
"""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from wfairl.core.demonstrations.demonstration import SUCCESS_SCORE, Dataset, Demonstration, replay
from wfairl.core.support.bounds import LARGEST_SEED
from wfairl.core.support.errors import BadInputError, MissingExtraError
from wfairl.core.support.files import check_ends
from wfairl.core.support.progress import track
from wfairl.core.worlds.task import Task
from wfairl.recordings.log import Log, score_by_rule

DATASETS_PATH = "MINARI_DATASETS_PATH"
"""The environment variable from which Minari takes its folder, and from nowhere else."""


def export_minari(dataset: Dataset, task: Task, dataset_id: str, root: Path | None = None) -> None:
    """Write demonstrations of a task as a Minari data set, in its default folder if the root is None.

    An id that Minari refuses, or that exists, is a `BadInputError`.
    """
    minari = _import_minari()
    from gymnasium import spaces
    from minari.data_collector import EpisodeBuffer

    source = _gymnasium_task(task)
    episodes = [
        EpisodeBuffer(
            id=number,
            seed=demonstration.seed,
            actions=np.array(demonstration.controls, np.int64),
            **_run(source, demonstration),
            infos={"score": np.full(len(demonstration) + 1, demonstration.score)},
        )
        for number, demonstration in enumerate(track(dataset, "export"))
    ]
    environment = source.make_environment(seed=0)
    # MiniGrid's own mission space is a function, which Minari cannot store
    observed = {**environment.observation_space.spaces, "mission": spaces.Text(1024)}
    with _datasets_path(root), warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"`\w+` is set to None", UserWarning)  # the user cannot give an author here
        try:
            minari.create_dataset_from_buffers(
                dataset_id,
                buffer=episodes,
                env=environment,
                observation_space=spaces.Dict(observed),
                action_space=environment.action_space,
                algorithm_name=f"wfairl expert at temperature {dataset.temperature}",
                description=f"wfairl demonstrations of {task.name}",
                jpeg_encoding=False,  # observations are symbols, not photographs
            )
        except ValueError as error:
            raise BadInputError(f"Minari refuses {dataset_id!r}: {str(error).splitlines()[0]}") from None


def import_minari(dataset_id: str, task: Task, root: Path | None = None) -> Log:
    """Read a Minari data set of a task's environment, or say in a `BadInputError` why it cannot be read.

    The score of an episode is that of its infos, else 1 for success under the task's rule and 0 for failure.
    """
    minari = _import_minari()
    from minari.storage import get_dataset_path

    source = _gymnasium_task(task)
    with _datasets_path(root):
        try:
            for path in get_dataset_path(dataset_id).glob("data/*"):
                check_ends(path)
            loaded = minari.load_dataset(dataset_id)
            environment_id = loaded.env_spec.id if loaded.env_spec else "no environment"
            if environment_id == source.environment_id:
                return _import(loaded, source)
        except FileNotFoundError:
            raise BadInputError(f"there is no Minari data set {dataset_id!r}") from None
        except Exception as error:  # Minari and HDF5 raise errors of any type for files that they cannot read
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise BadInputError(f"the Minari data set {dataset_id!r} cannot be read ({reason})") from None
    raise BadInputError(
        f"the Minari data set {dataset_id!r} is of {environment_id}, the task {task.name!r} of {source.environment_id}"
    )


def _import(loaded: Any, task: Any) -> Log:
    seeds = [metadata.get("seed") for metadata in loaded.storage.get_episode_metadata(loaded.episode_indices)]
    demonstrations, rejected = [], {}
    episodes = zip(loaded.iterate_episodes(), seeds, strict=True)
    for episode, seed in track(episodes, "import", total=len(seeds)):
        try:
            demonstrations.append(_to_demonstration(episode, seed, task))
        except BadInputError as error:
            rejected[int(episode.id)] = str(error)
    return Log(Dataset(task.name, tuple(demonstrations)), rejected=rejected)


def _gymnasium_task(task: Task) -> Any:
    """The task, if it has a Gymnasium environment: an `environment_id`, and `make_environment(seed)`."""
    if not (hasattr(task, "make_environment") and hasattr(task, "environment_id")):
        raise BadInputError(
            f"the task {task.name!r} has no Gymnasium environment, which Minari's data sets are of;"
            " demonstrations of any task are kept as *.safetensors"
        )
    return task


def _run(task: Any, demonstration: Demonstration) -> dict[str, Any]:
    """Observations, rewards and ends of the real environment along a demonstration.

    An environment that goes elsewhere than the model, as after the end, is a `BadInputError`.
    """
    simulator = task.make_simulator(demonstration.seed)
    world, real = simulator.world, simulator.environment.unwrapped
    states = demonstration.follow(world).states
    shown, rewards, terminations, truncations = [real.gen_obs()], [], [], []
    for step, control in enumerate(demonstration.controls):
        observation, reward, terminated, truncated, _ = real.step(control)
        if world.state_of(real) != states[step + 1]:
            raise BadInputError(f"seed {demonstration.seed}: step {step}: the world goes to another state")
        shown.append(observation)
        rewards.append(float(reward))
        terminations.append(bool(terminated))
        truncations.append(bool(truncated))
    observations = {key: [one[key] for one in shown] for key in shown[0]}
    return {"observations": observations, "rewards": rewards, "terminations": terminations, "truncations": truncations}


def _to_demonstration(episode: Any, seed: Any, task: Any) -> Demonstration:
    if seed is None or not 0 <= int(seed) <= LARGEST_SEED:
        raise BadInputError(f"the episode's seed is {seed}, so its scene cannot be made again")
    controls = np.asarray(episode.actions).reshape(-1).tolist()
    demonstration = replay(task.make_world(int(seed)), controls, SUCCESS_SCORE, int(seed))
    expected = _run(task, demonstration)["observations"]
    for key, observed in episode.observations.items():
        _compare(key, list(observed), expected.get(key, []), demonstration.seed)
    scores = np.asarray((episode.infos or {}).get("score", [])).reshape(-1)
    return replace(demonstration, score=float(scores[0]) if scores.size else score_by_rule(task, demonstration))


def _compare(key: str, observed: list[Any], expected: list[Any], seed: int) -> None:
    if len(observed) != len(expected):
        raise BadInputError(f"seed {seed}: {len(observed)} observations of {key!r} where {len(expected)} belong")
    for step, (one, other) in enumerate(zip(observed, expected, strict=True)):
        if not np.array_equal(one, other):
            when = "at the start" if step == 0 else f"after step {step - 1}"
            raise BadInputError(f"seed {seed}: the observed {key!r} {when} is not what the world shows there")


@contextmanager
def _datasets_path(root: Path | None) -> Iterator[None]:
    """Let Minari use a folder meanwhile, its own default if None."""
    before = os.environ.get(DATASETS_PATH)
    try:
        os.environ |= {} if root is None else {DATASETS_PATH: str(Path(root).resolve())}
        yield
    finally:
        os.environ.pop(DATASETS_PATH, None)
        os.environ |= {} if before is None else {DATASETS_PATH: before}


def _import_minari() -> ModuleType:
    try:
        import minari
    except ImportError:
        raise MissingExtraError("Minari", "minari") from None
    return minari
