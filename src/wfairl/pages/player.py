"""The episode player: recorded episodes as a block of a page, with the data for its script.

    EpisodePlayer((record_episode(...), ...))

The different tiles of all frames are in one image, a frame is stored as its changes from the one before, and everything
is compressed: hundreds of episodes take a few hundred kilobytes, and frames are sharp at any size. States of a world
without renderer are shown as text.
"""

import base64
import json
import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Automaton
from wfairl.core.automata.words import compress, format_label
from wfairl.core.planning.policies import Policy
from wfairl.core.planning.rollout import Trajectory, roll_out
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.task import Task
from wfairl.pages.blocks import AutomatonDrawing
from wfairl.pages.tiles import TILE, TileSet, data_uri
from wfairl.pages.world_drawing import rendering_of, state_text
from wfairl.runs.evaluation import Episode


@dataclass(frozen=True, eq=False)
class RecordedEpisode:
    """An episode of T controls of a policy, which has T + 1 moments; `automaton` is None for a policy without one."""

    task: Task
    policy: str
    trajectory: Trajectory
    automaton: Automaton | None

    @cached_property
    def episode(self) -> Episode:
        """The outcome of the episode."""
        return Episode.of(self.trajectory, self.task)

    @cached_property
    def automaton_states(self) -> tuple[int, ...] | None:
        """The automaton state at each moment, T + 1 of them; None for a policy without an automaton."""
        return None if self.automaton is None else tuple(self.automaton.run(self.trajectory.labels))


def record_episode(task: Task, policy: Policy, seed: int, rng: np.random.Generator) -> RecordedEpisode:
    """Roll out a policy in a scene and record it.

    With the generator that `evaluate` uses for a scene, this is the episode that was evaluated.
    """
    automaton = getattr(policy, "automaton", None)
    trajectory = roll_out(task, policy, seed, rng)
    return RecordedEpisode(task, policy.name, trajectory, automaton if isinstance(automaton, Automaton) else None)


@dataclass(frozen=True, eq=False)
class EpisodePlayer:
    """Episodes to step through; the reader chooses one by its policy and scene."""

    template: ClassVar[str] = "player"
    recordings: tuple[RecordedEpisode, ...]

    def __post_init__(self) -> None:
        if not self.recordings:
            raise BadInputError("an episode player needs at least one recording")

    @property
    def drawings(self) -> tuple[AutomatonDrawing, ...]:
        """The different automata of the policies; an episode refers to its own by index."""
        return tuple(self._drawings.values())

    @property
    def packed(self) -> str:
        """The document as JSON, compressed by zlib, in base64."""
        text = json.dumps(self.document, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
        return base64.b64encode(zlib.compress(text.encode(), 9)).decode()

    @cached_property
    def document(self) -> dict[str, Any]:
        """The data for the script."""
        tiles = TileSet()
        looks = [rendering_of(one.trajectory.world) for one in self.recordings]
        films = [
            None if look is None else tiles.film(look, one.trajectory.states)
            for one, look in zip(self.recordings, looks, strict=True)
        ]
        indices = {key: number for number, key in enumerate(self._drawings)}
        automata = [indices.get(_key(one.automaton)) for one in self.recordings]
        episodes = map(_episode, self.recordings, films, automata)
        return {"episodes": list(episodes), "atlas": _atlas(tiles.tiles)}

    @cached_property
    def _drawings(self) -> dict[str, AutomatonDrawing]:
        automata = (one.automaton for one in self.recordings)
        return {_key(one): AutomatonDrawing(one) for one in automata if one is not None}


def _key(automaton: Automaton | None) -> str:
    """What is the same for automata that are the same; empty for none."""
    return "" if automaton is None else str(automaton.to_document())


def _episode(recording: RecordedEpisode, frames: NDArray[np.int64] | None, automaton: int | None) -> dict[str, Any]:
    episode, trajectory, states = recording.episode, recording.trajectory, recording.automaton_states
    last, probabilities = len(trajectory), trajectory.probabilities
    moments = [
        {
            "control": trajectory.controls[moment] if moment < last else None,
            "probabilities": [round(float(p), 6) for p in probabilities[moment]] if moment < last else None,
            "label": format_label(trajectory.labels[moment - 1]) if moment else None,
            "read": len(compress(trajectory.labels[:moment])),
            "state": None if states is None else states[moment],
            **_frame_changes(recording, frames, moment),
        }
        for moment in range(last + 1)
    ]
    grid = {} if frames is None else {"rows": frames.shape[1], "columns": frames.shape[2]}
    return {
        "task": recording.task.name,
        "policy": recording.policy,
        "seed": episode.seed,
        "outcome": episode.outcome,
        "success": episode.success,
        "return": episode.episode_return,
        "horizon": recording.task.horizon,
        "control_names": list(trajectory.world.controls),
        "automaton": automaton,
        "word": [format_label(label) for label in episode.word],
        **grid,
        "frame": None if frames is None else frames[0].ravel().tolist(),
        "moments": moments,
    }


def _frame_changes(recording: RecordedEpisode, frames: NDArray[np.int64] | None, moment: int) -> dict[str, Any]:
    """[cell, tile] of each cell that changed; the state as text if there are no frames."""
    if frames is None:
        return {"world_state": state_text(recording.trajectory.world, recording.trajectory.states[moment])}
    before, after = frames[max(0, moment - 1)], frames[moment]
    cells = np.flatnonzero(before != after)
    return {"changes": np.stack([cells, after.ravel()[cells]], axis=1).tolist()}


def _atlas(tiles: Sequence[NDArray[np.uint8]]) -> dict[str, Any] | None:
    """All tiles in one image; None if there are none."""
    if not tiles:
        return None
    columns = min(16, len(tiles))
    rows = math.ceil(len(tiles) / columns)
    image = np.zeros((rows, TILE, columns, TILE, 3), np.uint8)
    for number, tile in enumerate(tiles):
        image[number // columns, :, number % columns] = tile
    pixels = image.reshape(rows * TILE, columns * TILE, 3)
    return {"image": data_uri(pixels, optimize=True), "tile": TILE, "columns": columns}
