"""Recorded episodes: frames, probabilities of controls, and automaton states.

Most of a frame is the same in all frames, so a recording stores each different tile once, and a frame as the numbers of
its tiles: an episode of eighty steps takes a few kilobytes, and its frames are sharp at any size.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Automaton
from wfairl.core.automata.words import Word, compress
from wfairl.core.planning.policies import Policy
from wfairl.core.planning.rollout import Trajectory, roll_out
from wfairl.core.runs.evaluation import Episode
from wfairl.core.worlds.graph import state_name
from wfairl.core.worlds.rendering import Rendering
from wfairl.core.worlds.task import Task
from wfairl.pages.tiles import TileSet
from wfairl.pages.world_drawing import rendering_of

LONGEST_STATE = 200
"""Characters of a state shown as text."""


@dataclass(frozen=True, eq=False)
class TiledFilm:
    """Frames made of tiles.

    Attributes:
        tiles: the different tiles, shape [tiles, TILE, TILE, 3] of uint8.
        frames: the tiles of each frame, shape [frames, rows, columns].
    """

    tiles: NDArray[np.uint8] = field(repr=False)
    frames: NDArray[np.int64] = field(repr=False)


@dataclass(frozen=True, eq=False)
class Recording:
    """An episode of T controls, from its beginning to its end: T + 1 moments.

    Attributes:
        task: the name of the task.
        policy: the name of the policy.
        horizon: the maximum number of controls.
        episode: its outcome.
        trajectory: its states, controls and labels.
        automaton: of the policy; None for a policy without one.
        automaton_states: at each moment, T + 1 of them; None for a policy without an automaton.
        film: a frame for each moment; None if the world has no renderer.
    """

    task: str
    policy: str
    horizon: int
    episode: Episode
    trajectory: Trajectory
    automaton: Automaton | None
    automaton_states: tuple[int, ...] | None
    film: TiledFilm | None

    def word_at(self, moment: int) -> Word:
        """The word so far, without repeats of the same label."""
        return compress(self.trajectory.labels[:moment])

    def state_text(self, moment: int) -> str:
        """The world state as text, for worlds without renderer."""
        world, state = self.trajectory.world, self.trajectory.states[moment]
        text = str(state_name(world, state))
        return text if len(text) <= LONGEST_STATE else f"{text[:LONGEST_STATE]}…"


def record_episode(task: Task, policy: Policy, seed: int, rng: np.random.Generator) -> Recording:
    """Roll out a policy in a scene and record it.

    With the generator that `evaluate` uses for a scene, this is the episode that was evaluated.
    """
    return record_trajectory(task, policy, roll_out(task, policy, seed, rng))


def record_trajectory(task: Task, policy: Policy, trajectory: Trajectory) -> Recording:
    """Record a trajectory of a policy."""
    automaton, rendering = automaton_of(policy), rendering_of(trajectory.world)
    return Recording(
        task=task.name,
        policy=policy.name,
        horizon=task.horizon,
        episode=Episode.of(trajectory, task),
        trajectory=trajectory,
        automaton=automaton,
        automaton_states=None if automaton is None else tuple(automaton.run(trajectory.labels)),
        film=None if rendering is None else film_states(rendering, trajectory.states),
    )


def automaton_of(policy: Policy) -> Automaton | None:
    """The attribute `automaton` of a policy; None if it has none."""
    automaton = getattr(policy, "automaton", None)
    return automaton if isinstance(automaton, Automaton) else None


def film_states(rendering: Rendering, states: tuple[Any, ...]) -> TiledFilm:
    """The frames of states, each different state rendered once."""
    tiles = TileSet()
    frames = {state: tiles.frame(rendering, state) for state in dict.fromkeys(states)}
    return TiledFilm(np.array(tiles.tiles), np.array([frames[state] for state in states]))
