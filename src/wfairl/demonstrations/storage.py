"""Data sets on disk: one safetensors file of arrays with a JSON header; see `array_files`.

Version 1. The header holds `task`, `temperature` and `propositions`. For N demonstrations with T_n controls each, the
arrays are

    lengths   [N] of int64            T_n
    seeds     [N] of int64
    scores    [N] of float64
    controls  [sum T_n] of uint8
    labels    [sum T_n] of uint16     bit i of a label stands for propositions[i]
    states    [sum (T_n + 1), words] of uint64    packed states, the least significant word first
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.array_files import read_arrays, write_arrays
from wfairl.demonstrations.demonstration import BadDemonstrationError, Dataset, Demonstration
from wfairl.errors import BadInputError
from wfairl.worlds.world import to_label, to_mask

FORMAT = "wfairl-demonstrations"
VERSION = 1
ARRAYS = {
    "lengths": np.int64,
    "seeds": np.int64,
    "scores": np.float64,
    "controls": np.uint8,
    "labels": np.uint16,
    "states": np.uint64,
}


class BrokenDatasetError(BadInputError):
    """A file that is not a data set that this version can read."""


def save(dataset: Dataset, path: Path) -> None:
    """Write a data set, atomically.

    Raises:
        BadInputError: a state is not an integer; keep the controls of such a world in a log and replay them.
    """
    propositions = sorted({name for item in dataset for label in item.labels for name in label})
    header = {"task": dataset.task, "temperature": _to_json(dataset.temperature), "propositions": propositions}
    write_arrays(path, FORMAT, VERSION, header, _to_arrays(dataset, propositions))


def load(path: Path, task: str | None = None) -> Dataset:
    """Read a data set.

    Args:
        path: the file.
        task: if given, the task that the data set must be of.

    Raises:
        BrokenDatasetError: names the file and what is wrong with it.
    """
    header, arrays = read_arrays(path, FORMAT, VERSION, BrokenDatasetError)
    header = _check_header(path, header)
    _check_arrays(path, arrays)
    if task is not None and header["task"] != task:
        raise BrokenDatasetError(f"{path}: demonstrations of the task {header['task']!r}, not of {task!r}")
    try:
        return _to_dataset(header, arrays)
    except BadDemonstrationError as error:
        raise BrokenDatasetError(f"{path}: {error}") from None


def _to_arrays(dataset: Dataset, propositions: list[str]) -> dict[str, NDArray[Any]]:
    states = [state for item in dataset for state in item.states]
    if not all(isinstance(state, int) and state >= 0 for state in states):
        raise BadInputError(
            "only states that are integers can be stored; keep a log of controls and replay it in the world"
        )
    words = max(1, *(-(-state.bit_length() // 64) for state in states)) if states else 1  # type: ignore[attr-defined]
    packed = b"".join(state.to_bytes(8 * words, "little") for state in states)  # type: ignore[attr-defined]
    values: dict[str, Any] = {
        "lengths": [len(item) for item in dataset],
        "seeds": [item.seed for item in dataset],
        "scores": [item.score for item in dataset],
        "controls": [control for item in dataset for control in item.controls],
        "labels": [to_mask(label, propositions) for item in dataset for label in item.labels],
        "states": np.frombuffer(packed, np.uint64).reshape(-1, words),
    }
    return {name: np.asarray(values[name], kind) for name, kind in ARRAYS.items()}


def _to_dataset(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Dataset:
    propositions = header["propositions"]
    states = [int.from_bytes(words.tobytes(), "little") for words in arrays["states"]]
    labels = [to_label(int(mask), propositions) for mask in arrays["labels"]]
    controls = arrays["controls"].tolist()
    demonstrations = []
    end = 0
    for number, length in enumerate(arrays["lengths"].tolist()):
        start, end = end, end + length
        demonstrations.append(
            Demonstration(
                states=tuple(states[start + number : end + number + 1]),
                controls=tuple(controls[start:end]),
                labels=tuple(labels[start:end]),
                score=float(arrays["scores"][number]),
                seed=int(arrays["seeds"][number]),
            )
        )
    return Dataset(header["task"], tuple(demonstrations), header["temperature"])


def _check_header(path: Path, header: dict[str, Any]) -> dict[str, Any]:
    """A digest says that a file is whole, not that it was written by us."""
    try:
        names = [str(name) for name in header["propositions"]]
        return {"task": str(header["task"]), "temperature": _from_json(header["temperature"]), "propositions": names}
    except (KeyError, TypeError, ValueError):
        raise BrokenDatasetError(f"{path}: its header is not that of a data set") from None


def _check_arrays(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    for name, kind in ARRAYS.items():
        if name not in arrays or arrays[name].dtype != kind:
            raise BrokenDatasetError(f"{path}: the array {name!r} is missing or of the wrong type")
    count, total = arrays["lengths"].size, int(arrays["lengths"].sum())
    shapes = {"seeds": (count,), "scores": (count,), "controls": (total,), "labels": (total,)}
    fit = all(arrays[name].shape == shape for name, shape in shapes.items()) and (arrays["lengths"] >= 0).all()
    if not fit or arrays["states"].ndim != 2 or len(arrays["states"]) != total + count:
        raise BrokenDatasetError(f"{path}: its arrays do not fit each other")


def _to_json(temperature: float | None) -> float | str | None:
    return "inf" if temperature == np.inf else temperature


def _from_json(temperature: float | str | None) -> float | None:
    return None if temperature is None else float(temperature)
