"""Mice in a labyrinth (Rosenberg et al. 2021), as Ashwood et al. (2022) cut them into trajectories.

The world is a binary tree of 127 nodes with home at its root and water in one leaf. Controls: left and right to the
children, reverse to the parent, and stay; one without a target stays too. Trajectories are padded with stay at home.

The authors' files are pickles, which can run any code when they are read. So they are read either as plain arrays
(`restricted.npz` and `unrestricted.npz` with `states`, `controls`, `train` and `validation`), or through
`plain_unpickle`, which rebuilds NumPy's arrays and nothing else.
"""

import hashlib
import io
import pickle
import re
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.public_data.source import PublicSource, WrongSourceError
from experiments.public_data.trajectories import BrokenTrajectoriesError, TrajectorySet, transition_table
from wfairl.core.support.files import read_bytes
from wfairl.core.worlds.transitions import TransitionTable

NODES, INNER = 127, 63
"""Nodes of the tree, and how many of them have children."""

HOME, WATER = 0, 100

CONTROLS = ("left", "right", "reverse", "stay")
LEFT, RIGHT, REVERSE, STAY = range(4)

MICE = ("restricted", "unrestricted")
"""Mice that were kept thirsty, and mice that were not."""

CONTENT = {
    "restricted": "941775238b92e85864e1ee2ab27ad78d25ec79e9dababf1f865789f12482a410",
    "unrestricted": "ce41ca3b97c23ebf96ed033b297f3d61c9cec2d34702e2e9feff3d79e666d2c1",
}
"""SHA-256 of the values behind the published figures, as `_digest` computes it, whatever file holds them."""


def read_labyrinth(directory: Path) -> TrajectorySet:
    """The trajectories of all mice, with the authors' split into training and validation."""
    return trajectories_of({mice: read_mice(directory, mice) for mice in MICE})


Mice = dict[str, NDArray[np.int64]]
"""`states` and `controls`, shape [trajectories, steps]; `train` and `validation`, numbers of trajectories."""


def trajectories_of(arrays: dict[str, Mice]) -> TrajectorySet:
    """Trajectories in the labyrinth from plain arrays, by the name of the mice."""
    states, controls, splits = [], [], {}
    lengths: list[int] = []
    for mice, one in arrays.items():
        for part in ("train", "validation"):
            splits[f"{mice} {part}"] = one[part] + len(lengths)
        states.append(one["states"].reshape(-1))
        controls.append(one["controls"].reshape(-1))
        lengths += [one["states"].shape[1]] * len(one["states"])
    first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    marks = {HOME: frozenset({"home"}), WATER: frozenset({"water"})}
    return TrajectorySet(
        "labyrinth", labyrinth_table(), first, np.concatenate(states), np.concatenate(controls), splits, marks
    )


def labyrinth_table() -> TransitionTable:
    """The binary tree."""
    node = np.arange(NODES)
    child = np.where(node < INNER, 2 * node + 1, node)
    successors = np.stack([child, np.where(node < INNER, child + 1, node), np.maximum((node - 1) // 2, 0), node], 1)
    features = np.ones((successors.size, 1))
    return transition_table(CONTROLS, successors.astype(np.int32), features, ("step",))


def read_mice(directory: Path, mice: str) -> Mice:
    """The arrays of some mice, from `MICE.npz` or from the authors' files; errors as in `read_labyrinth`."""
    plain, pickled = directory / f"{mice}.npz", directory / f"water_{mice}_mice_trajs.pickle"
    if plain.is_file():
        path, arrays = plain, _from_npz(plain)
    elif pickled.is_file():
        path, arrays = pickled, _from_authors(directory, mice, pickled)
    else:
        raise WrongSourceError(f"{pickled}: missing, and so is {plain.name}. {LABYRINTH.title}: {LABYRINTH.where}")
    if _digest(arrays) != CONTENT[mice]:
        raise WrongSourceError(f"{path}: other values than published figures are of; those are of {LABYRINTH.where}")
    return arrays


def _from_npz(path: Path) -> Mice:
    names = ("states", "controls", "train", "validation")
    try:
        with np.load(io.BytesIO(read_bytes(path)), allow_pickle=False) as file:
            return {name: _integers(file[name], path) for name in names}
    except (ValueError, KeyError, EOFError, OSError, NotImplementedError, zipfile.BadZipFile, zlib.error) as error:
        raise BrokenTrajectoriesError(
            f"{path}: cut short, or not plain arrays of {', '.join(names)} ({error})"
        ) from None


def _from_authors(directory: Path, mice: str, path: Path) -> Mice:
    trajectories = plain_unpickle(read_bytes(path), path)
    try:
        arrays = {
            name: _integers(np.array([one[key] for one in trajectories]), path)
            for name, key in (("states", "states"), ("controls", "actions"))
        }
    except (TypeError, KeyError, ValueError, IndexError):
        raise BrokenTrajectoriesError(f"{path}: not a list of trajectories with states and actions") from None
    for part, suffix in (("train", "train"), ("validation", "val")):
        numbers = directory / f"{mice}_{suffix}_indices.npy"
        try:
            arrays[part] = _integers(np.load(io.BytesIO(read_bytes(numbers)), allow_pickle=False), numbers)
        except (ValueError, EOFError) as error:
            raise BrokenTrajectoriesError(f"{numbers}: cut short, or not an array of numbers ({error})") from None
    return arrays


def plain_unpickle(content: bytes, path: Path) -> Any:
    """The content of a pickle of NumPy's arrays and numbers, lists and dictionaries.

    A pickle is a program; this one can call nothing but the stand-ins below, which rebuild arrays of plain numbers.
    NumPy's own are not safe: an array of objects over bytes of the pickle's choice points anywhere.
    """
    try:
        return _arrays_in(_ArrayUnpickler(io.BytesIO(content)).load())
    except BrokenTrajectoriesError as error:
        raise BrokenTrajectoriesError(f"{path}: {error}") from None
    except Exception as error:  # a broken pickle fails in any way
        reason = " ".join(str(error).split())
        raise BrokenTrajectoriesError(f"{path}: cut short, or not a pickle of arrays ({reason})") from None


class _Dtype:
    """Stands for `numpy.dtype`: plain numbers alone, whatever else a pickle asks for."""

    def __init__(self, code: str, *_: object):
        if not re.fullmatch(r"[biuf][1248]", code):
            raise BrokenTrajectoriesError(f"a pickle of {code!r}, not of plain numbers; refused")
        self.code = np.dtype(code)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.code = self.code.newbyteorder(">" if state[1] == ">" else "<")


class _Array:
    """Stands for `numpy.ndarray`, which a pickle creates first and fills then."""

    value: NDArray[Any]

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, dtype, is_fortran, content = state
        self.value = _array(content, dtype, shape, "F" if is_fortran else "C")


def _array(content: bytes, dtype: _Dtype, shape: tuple[int, ...] = (), order: Any = "C") -> NDArray[Any]:
    return np.frombuffer(content, dtype.code).reshape(shape, order=order)


STAND_INS: dict[str, Any] = {
    "multiarray._reconstruct": lambda *_: _Array(),
    "multiarray.scalar": lambda dtype, content: _array(content, dtype)[()],
    "numeric._frombuffer": _array,
    "ndarray": _Array,
    "dtype": _Dtype,
}
"""For the functions and classes that NumPy's pickles of arrays and numbers name."""


class _ArrayUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("_codecs", "encode"):  # bytes, in old pickles
            return lambda text, _: text.encode("latin1")
        stand_in = STAND_INS.get(re.sub(r"^numpy(\._?core)?\.", "", f"{module}.{name}"))
        if stand_in is None:
            raise BrokenTrajectoriesError(
                f"a pickle that asks for {module}.{name}, not only for NumPy's arrays; refused"
            )
        return stand_in


def _arrays_in(content: Any) -> Any:
    """The same with arrays in place of their stand-ins."""
    if isinstance(content, _Array):
        return content.value
    if isinstance(content, dict):
        return {key: _arrays_in(value) for key, value in content.items()}
    return type(content)(map(_arrays_in, content)) if isinstance(content, list | tuple) else content


def _integers(array: NDArray[Any], path: Path) -> NDArray[np.int64]:
    numbers = np.asarray(array)
    if numbers.dtype == object or not (numbers == np.floor(numbers)).all():
        raise BrokenTrajectoriesError(f"{path}: not an array of whole numbers")
    return numbers.astype(np.int64)


def _digest(arrays: Mice) -> str:
    parts = (f"{name} {array.shape}".encode() + array.astype("<i8").tobytes() for name, array in arrays.items())
    return hashlib.sha256(b"".join(parts)).hexdigest()


LABYRINTH = PublicSource(
    title="Mice in a labyrinth",
    where="data/mouse_data/ of github.com/97aditi/dynamic_irl, commit 58b7225",
    files=(),  # checked by their values: `CONTENT`
    read=read_labyrinth,
    licence="none stated (the raw data, Rosenberg-2021-Repository, are MIT): measure on it, do not pass it on",
)
