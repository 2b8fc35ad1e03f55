"""Data sets on disk: one safetensors file, which holds arrays and a JSON header and can run no code.

Version 1. For N demonstrations with T_n controls each, the arrays are

    lengths   [N] of int64            T_n
    seeds     [N] of int64
    scores    [N] of float64
    controls  [sum T_n] of uint8
    labels    [sum T_n] of uint16     bit i of a label stands for propositions[i]
    states    [sum (T_n + 1), words] of uint64    packed states, the least significant word first

and the only entry of the metadata, `wfairl`, is JSON: `format`, `version`, `header` (JSON again: task, temperature,
propositions) and `digest`, the SHA-256 of the header and the arrays in this order, so that a file that was damaged
anywhere is noticed. (One entry, because safetensors writes several in random order: the same data, the same bytes.)
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_bytes

from wfairl.demonstrations.demonstration import BadDemonstrationError, Dataset, Demonstration
from wfairl.errors import BadInputError
from wfairl.files import parse_json, read_bytes, write_atomically
from wfairl.worlds.world import to_label, to_mask

FORMAT = "wfairl-demonstrations"
VERSION = 1
ENTRY = "wfairl"
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
    header = json.dumps(
        {"task": dataset.task, "temperature": _to_json(dataset.temperature), "propositions": propositions}
    )
    arrays = _to_arrays(dataset, propositions)
    metadata = {"format": FORMAT, "version": VERSION, "header": header, "digest": _digest(header, arrays)}
    write_atomically(path, to_bytes(arrays, {ENTRY: json.dumps(metadata)}))


def load(path: Path, task: str | None = None) -> Dataset:
    """Read a data set.

    Args:
        path: the file.
        task: if given, the task that the data set must be of.

    Raises:
        BrokenDatasetError: names the file and what is wrong with it.
    """
    read_bytes(path)  # a missing or unreadable file is named here
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = _read_metadata(path, file.metadata() or {})
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
    except SafetensorError as error:
        raise BrokenDatasetError(f"{path}: cut short, damaged, or not a data set ({error})") from None
    _check_arrays(path, metadata, arrays)
    header = _read_header(path, str(metadata["header"]))
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


def _read_metadata(path: Path, entries: dict[str, str]) -> dict[str, Any]:
    try:
        metadata = parse_json(entries.get(ENTRY, "{}"))
    except BadInputError:
        metadata = None
    if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
        raise BrokenDatasetError(f"{path}: not a data set of demonstrations")
    if metadata.get("version") != VERSION:
        raise BrokenDatasetError(
            f"{path}: format version {metadata.get('version')}, and this wfairl reads version {VERSION}; update wfairl"
        )
    return metadata


def _read_header(path: Path, text: str) -> dict[str, Any]:
    """A digest says that a file is whole, not that it was written by us."""
    try:
        header = parse_json(text)
        names = [str(name) for name in header["propositions"]]
        return {"task": str(header["task"]), "temperature": _from_json(header["temperature"]), "propositions": names}
    except (BadInputError, KeyError, TypeError, ValueError):
        raise BrokenDatasetError(f"{path}: its header is not that of a data set") from None


def _check_arrays(path: Path, metadata: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    for name, kind in ARRAYS.items():
        if name not in arrays or arrays[name].dtype != kind:
            raise BrokenDatasetError(f"{path}: the array {name!r} is missing or of the wrong type")
    if _digest(str(metadata.get("header")), arrays) != metadata.get("digest"):
        raise BrokenDatasetError(f"{path}: damaged: its content does not match its digest")
    count, total = arrays["lengths"].size, int(arrays["lengths"].sum())
    shapes = {"seeds": (count,), "scores": (count,), "controls": (total,), "labels": (total,)}
    fit = all(arrays[name].shape == shape for name, shape in shapes.items()) and (arrays["lengths"] >= 0).all()
    if not fit or arrays["states"].ndim != 2 or len(arrays["states"]) != total + count:
        raise BrokenDatasetError(f"{path}: its arrays do not fit each other")


def _digest(header: str, arrays: dict[str, NDArray[Any]]) -> str:
    digest = hashlib.sha256(header.encode())
    for name in ARRAYS:
        digest.update(str(arrays[name].shape).encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()


def _to_json(temperature: float | None) -> float | str | None:
    return "inf" if temperature == np.inf else temperature


def _from_json(temperature: float | str | None) -> float | None:
    return None if temperature is None else float(temperature)
