"""The episode player: recordings as one block of a page, with the data that its script draws from.

    EpisodePlayer((record_episode(...), ...))

The tiles of all recordings stand in one picture, and a frame is written as what changed since the one before.
"""

import base64
import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from wfairl.automata.finite import FiniteAutomaton
from wfairl.automata.words import format_label
from wfairl.errors import BadInputError
from wfairl.report.blocks import drawing_html
from wfairl.report.page import template
from wfairl.report.recording import TILE, Recording

ATLAS_COLUMNS = 16
DIGITS = 6
"""Of a probability: more than a bar can show."""


class NothingToPlayError(BadInputError):
    """A player was given no recordings."""


@dataclass(frozen=True, eq=False)
class EpisodePlayer:
    """Episodes to step through.

    Attributes:
        recordings: one is chosen by its policy and its scene.
        first: number of the one that is shown at the beginning.
    """

    recordings: tuple[Recording, ...]
    first: int = 0

    def __post_init__(self) -> None:
        if not self.recordings:
            raise NothingToPlayError("an episode player needs at least one recording")

    def html(self) -> str:
        """The player as an element, with its data inside."""
        automata, of_recording = _different_automata(self.recordings)
        drawings = "".join(
            f'<div class="choice" data-automaton="{i}" hidden>{drawing_html(automaton)}</div>'
            for i, automaton in enumerate(automata)
        )
        return template("player.html").substitute(
            drawings=drawings, data=json_for_html(_document(self.recordings, self.first, of_recording))
        )


def json_for_html(document: Any) -> str:
    """JSON that can stand in a script element: nothing in it ends the element or opens a comment."""
    text = json.dumps(document, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _document(recordings: Sequence[Recording], first: int, automata: Sequence[int | None]) -> dict[str, Any]:
    tiles, numbers = _merge_tiles(recordings)
    return {
        "first": first,
        "atlas": {"image": _atlas(tiles), "tile": TILE, "columns": min(ATLAS_COLUMNS, len(tiles))},
        "episodes": [
            _episode(recording, numbering, automaton)
            for recording, numbering, automaton in zip(recordings, numbers, automata, strict=True)
        ],
    }


def _episode(recording: Recording, numbering: NDArray[np.int64], automaton: int | None) -> dict[str, Any]:
    frames = numbering[recording.frames]
    episode, states = recording.episode, recording.automaton_states
    return {
        "task": recording.task,
        "policy": recording.policy,
        "seed": episode.seed,
        "outcome": episode.outcome,
        "success": episode.success,
        "return": episode.episode_return,
        "horizon": recording.horizon,
        "control_names": recording.control_names,
        "automaton": automaton,
        "word": [format_label(label) for label in episode.word],
        "rows": frames.shape[1],
        "columns": frames.shape[2],
        "frame": frames[0].ravel().tolist(),
        "moments": [
            {
                "changes": _changes(frames[moment - 1], frames[moment]) if moment else [],
                "control": episode.controls[moment] if moment < episode.steps else None,
                "probabilities": (
                    [round(float(p), DIGITS) for p in recording.probabilities[moment]]
                    if moment < episode.steps
                    else None
                ),
                "label": format_label(recording.labels[moment - 1]) if moment else None,
                "read": len(recording.word_at(moment)),
                "state": None if states is None else states[moment],
            }
            for moment in range(episode.steps + 1)
        ],
    }


def _changes(before: NDArray[np.int64], after: NDArray[np.int64]) -> list[list[int]]:
    """[cell, tile] of each cell that looks different."""
    cells = np.flatnonzero(before != after)
    return np.stack([cells, after.ravel()[cells]], axis=1).tolist()


def _merge_tiles(recordings: Sequence[Recording]) -> tuple[list[NDArray[np.uint8]], list[NDArray[np.int64]]]:
    """The different tiles of all recordings, and for each of these the new numbers of its own."""
    known: dict[bytes, int] = {}
    tiles: list[NDArray[np.uint8]] = []
    numbers = []
    for recording in recordings:
        own = []
        for tile in recording.tiles:
            key = tile.tobytes()
            if key not in known:
                known[key] = len(tiles)
                tiles.append(tile)
            own.append(known[key])
        numbers.append(np.array(own))
    return tiles, numbers


def _atlas(tiles: Sequence[NDArray[np.uint8]]) -> str:
    """All tiles in one picture, row after row, as the address of an image."""
    columns = min(ATLAS_COLUMNS, len(tiles))
    rows = math.ceil(len(tiles) / columns)
    picture = np.zeros((rows, TILE, columns, TILE, 3), np.uint8)
    for number, tile in enumerate(tiles):
        picture[number // columns, :, number % columns] = tile
    stream = io.BytesIO()
    _with_palette(picture.reshape(rows * TILE, columns * TILE, 3)).save(stream, "PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(stream.getvalue()).decode()}"


def _with_palette(pixels: NDArray[np.uint8]) -> Image.Image:
    """The same picture with a byte a pixel, if it has no more colours than that takes."""
    colours, numbers = np.unique(pixels.reshape(-1, 3), axis=0, return_inverse=True)
    if len(colours) > 256:
        return Image.fromarray(pixels)
    image = Image.fromarray(numbers.reshape(pixels.shape[:2]).astype(np.uint8), "L")
    image.putpalette(colours.ravel().tolist())
    return image


def _different_automata(recordings: Sequence[Recording]) -> tuple[list[FiniteAutomaton], list[int | None]]:
    """Each automaton once, and for each recording the number of its own."""
    known: dict[Any, int] = {}
    automata: list[FiniteAutomaton] = []
    numbers: list[int | None] = []
    for recording in recordings:
        automaton = recording.automaton
        if automaton is None:
            numbers.append(None)
            continue
        key = (automaton.alphabet, automaton.transitions.tobytes(), automaton.accepting.tobytes())
        if key not in known:
            known[key] = len(automata)
            automata.append(automaton)
        numbers.append(known[key])
    return automata, numbers
