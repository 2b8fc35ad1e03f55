"""An episode as it can be looked at: what the environment showed, what the policy thought, what the automaton read.

A frame of MiniGrid is a grid of tiles, few of which are different, so a recording keeps each different tile once and
a frame as their numbers: an episode of eighty steps takes a few kilobytes, and its frames are sharp at any size.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import Label
from wfairl.automata.finite import FiniteAutomaton
from wfairl.automata.words import Word, compress
from wfairl.evaluation.evaluate import Episode, run_episode
from wfairl.evaluation.policies import Actor, Policy
from wfairl.planning.agent import Status
from wfairl.worlds.task import Task
from wfairl.worlds.world import World

TILE = 40
"""Pixels of a tile's side."""


@dataclass(frozen=True, eq=False)
class Recording:
    """An episode of T controls, from its beginning to its end: T + 1 moments.

    Attributes:
        task: the name of the task.
        policy: the name of the policy.
        horizon: the most controls that an episode may take.
        control_names: of the world.
        episode: what was done and how it ended.
        labels: what held after each control; T of them.
        probabilities: of the controls at each moment but the last, shape [T, controls].
        automaton: what the policy plans with; None for a policy without one.
        automaton_states: at each moment, T + 1 of them; None for a policy without an automaton.
        tiles: the different tiles, shape [tiles, TILE, TILE, 3] of uint8.
        frames: the tiles of each frame, shape [T + 1, rows, columns].
    """

    task: str
    policy: str
    horizon: int
    control_names: tuple[str, ...]
    episode: Episode
    labels: tuple[Label, ...]
    probabilities: NDArray[np.float64]
    automaton: FiniteAutomaton | None
    automaton_states: tuple[int, ...] | None
    tiles: NDArray[np.uint8] = field(repr=False)
    frames: NDArray[np.int64] = field(repr=False)

    def word_at(self, moment: int) -> Word:
        """The word so far, consecutive equal labels once."""
        return compress(self.labels[:moment])


def record_episode(task: Task, policy: Policy, seed: int, rng: np.random.Generator) -> Recording:
    """Run a policy in the real environment, as `run_episode` does, and record it.

    With the generator that `evaluate` uses for a scene, this is the episode that was evaluated.
    """
    watched = _WatchedPolicy(policy)
    episode = run_episode(task, watched, seed, rng)
    labels, pictures, control_names = _replay(task, seed, episode.controls)
    tiles, frames = _cut_into_tiles(_crop(pictures))
    automaton = automaton_of(policy)
    return Recording(
        task=task.name,
        policy=policy.name,
        horizon=task.horizon,
        control_names=control_names,
        episode=episode,
        labels=labels,
        probabilities=np.reshape(watched.probabilities, (len(labels), len(control_names))),
        automaton=automaton,
        automaton_states=None if automaton is None else tuple(automaton.run(labels)),
        tiles=tiles,
        frames=frames,
    )


def automaton_of(policy: Policy) -> FiniteAutomaton | None:
    """The automaton that a policy plans with, which is its attribute of that name; None if it has none."""
    automaton = getattr(policy, "automaton", None)
    return automaton if isinstance(automaton, FiniteAutomaton) else None


@dataclass(frozen=True)
class _WatchedPolicy:
    """A policy that notes what its actor thinks each time that it chooses."""

    policy: Policy
    probabilities: list[NDArray[np.float64]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.policy.name

    def actor(self, world: World[Any], rng: np.random.Generator) -> Actor:
        return _WatchedActor(self.policy.actor(world, rng), self.probabilities)


@dataclass(frozen=True)
class _WatchedActor:
    actor: Actor
    seen: list[NDArray[np.float64]]

    def choose(self) -> int:
        self.seen.append(self.actor.probabilities())
        return self.actor.choose()

    def probabilities(self) -> NDArray[np.float64]:
        return self.actor.probabilities()

    def observe(self, state: Any, label: Label) -> Status:
        return self.actor.observe(state, label)


def _replay(
    task: Task, seed: int, controls: tuple[int, ...]
) -> tuple[tuple[Label, ...], list[NDArray[np.uint8]], tuple[str, ...]]:
    """The labels and the pictures along the controls, [rows, columns, TILE, TILE, 3] each."""
    environment = task.make_environment(seed)
    world = task.world_of(environment)
    state, labels, pictures = world.initial_state, [], [_picture(environment)]
    for control in controls:
        environment.step(control)
        next_state = world.state_of(environment)
        labels.append(world.label(state, control, next_state))
        pictures.append(_picture(environment))
        state = next_state
    return tuple(labels), pictures, tuple(world.controls)


def _picture(environment: Any) -> NDArray[np.uint8]:
    # Without MiniGrid's mark of what the agent sees: a policy of ours looks at all of the scene.
    pixels = environment.unwrapped.get_frame(highlight=False, tile_size=TILE)
    rows, columns = pixels.shape[0] // TILE, pixels.shape[1] // TILE
    return pixels.reshape(rows, TILE, columns, TILE, 3).swapaxes(1, 2)


def _crop(pictures: list[NDArray[np.uint8]]) -> list[NDArray[np.uint8]]:
    """The part within one cell of anything; scenes of rooms may lie in a large empty grid."""
    first = pictures[0]
    is_busy = (first != first[0, 0]).any(axis=(2, 3, 4))
    rows, columns = (np.flatnonzero(is_busy.any(axis=axis)) for axis in (1, 0))  # the agent is somewhere
    window = np.s_[max(0, rows[0] - 1) : rows[-1] + 2, max(0, columns[0] - 1) : columns[-1] + 2]
    return [picture[window] for picture in pictures]


def _cut_into_tiles(pictures: list[NDArray[np.uint8]]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The different tiles, and each picture as their numbers."""
    numbers: dict[bytes, int] = {}
    tiles: list[NDArray[np.uint8]] = []
    frames = np.empty((len(pictures), *pictures[0].shape[:2]), np.int64)
    for moment, picture in enumerate(pictures):
        for cell in np.ndindex(picture.shape[:2]):
            key = picture[cell].tobytes()
            if key not in numbers:
                numbers[key] = len(tiles)
                tiles.append(picture[cell].copy())
            frames[moment, *cell] = numbers[key]
    return np.array(tiles), frames
