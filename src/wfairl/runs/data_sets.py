"""Data sets on disk: one safetensors file of arrays with a JSON header; see `safetensors_files`.

The header holds `task`, `temperature` and `labels`, the distinct labels as lists of propositions; and
`answers` where there are any. For N demonstrations with T_n controls each, the arrays are

    lengths      [N] of int64            T_n
    seeds        [N] of int64
    scores       [N] of float64
    controls     [sum T_n] of uint16
    label_index  [sum T_n] of uint16     which of the header's labels held after each control
    effects      [sum T_n] of int32      what happened, with surprises below zero; only where it differs from controls

States are not stored: they follow from the controls in the world of the seed, or from the effects where it slips.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.words import sort_labels
from wfairl.core.demonstrations.answers import Answer, BrokenAnswersError
from wfairl.core.demonstrations.demonstration import BadDemonstrationError, Dataset, Demonstration
from wfairl.core.support.documents import parse
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.safetensors_files import read_arrays, write_arrays

FORMAT = "wfairl-demonstrations"
VERSION = 2
_PER_DEMONSTRATION: dict[str, Any] = {"lengths": np.int64, "seeds": np.int64, "scores": np.float64}
_PER_STEP: dict[str, Any] = {"controls": np.uint16, "label_index": np.uint16}
ARRAYS = _PER_DEMONSTRATION | _PER_STEP
"""The arrays of a file, and their types."""

EFFECTS = "effects"
"""An array that only some files have."""


class BrokenDatasetError(BadInputError):
    """A file that is not a data set that this version can read."""


@dataclass(frozen=True)
class _Header:
    """The header of a file."""

    task: str
    temperature: float | Literal["inf"] | None
    labels: tuple[Label, ...]
    answers: tuple[dict[str, Any], ...] = ()


def save(dataset: Dataset, path: Path) -> None:
    """Write a data set, atomically."""
    labels = sort_labels(label for item in dataset for label in item.labels)
    header: dict[str, Any] = {
        "task": dataset.task,
        "temperature": "inf" if dataset.temperature == np.inf else dataset.temperature,
        "labels": [sorted(label) for label in labels],
    }
    if dataset.answers:
        header["answers"] = [answer.to_document() for answer in dataset.answers]
    write_arrays(path, FORMAT, VERSION, header, _to_arrays(dataset, labels))


def load(path: Path, task: str | None = None) -> Dataset:
    """Read a data set, which must be of `task` if one is given; a `BrokenDatasetError` names the file and the fault."""
    header, arrays = read_arrays(path, FORMAT, VERSION, BrokenDatasetError)
    stored = _parse_header(path, header)
    _check_arrays(path, arrays)
    if task is not None and stored.task != task:
        raise BrokenDatasetError(f"{path}: demonstrations of the task {stored.task!r}, not of {task!r}")
    temperature = None if stored.temperature is None else float(stored.temperature)
    try:
        answers = tuple(map(Answer.from_document, stored.answers))
        return Dataset(stored.task, tuple(_demonstrations(arrays, stored.labels)), temperature, answers)
    except (BadDemonstrationError, BrokenAnswersError) as error:
        raise BrokenDatasetError(f"{path}: {error}") from None
    except IndexError:
        raise BrokenDatasetError(
            f"{path}: its arrays do not fit the {len(stored.labels)} labels of its header"
        ) from None


def _to_arrays(dataset: Dataset, labels: tuple[Label, ...]) -> dict[str, NDArray[Any]]:
    number = {label: i for i, label in enumerate(labels)}
    values: dict[str, Any] = {
        "lengths": [len(item) for item in dataset],
        "seeds": [item.seed for item in dataset],
        "scores": [item.score for item in dataset],
        "controls": [control for item in dataset for control in item.controls],
        "label_index": [number[label] for item in dataset for label in item.labels],
    }
    arrays = {name: np.asarray(values[name], kind) for name, kind in ARRAYS.items()}
    if any(item.effects for item in dataset):
        arrays[EFFECTS] = np.array([effect for item in dataset for effect in item.happened], np.int32)
    return arrays


def _demonstrations(arrays: dict[str, NDArray[Any]], labels: tuple[Label, ...]) -> Iterator[Demonstration]:
    controls, word = arrays["controls"].tolist(), [labels[i] for i in arrays["label_index"].tolist()]
    effects = arrays[EFFECTS].tolist() if EFFECTS in arrays else []
    end = 0
    for length, score, seed in zip(*(arrays[name].tolist() for name in ("lengths", "scores", "seeds")), strict=True):
        start, end = end, end + length
        steps = slice(start, end)
        yield Demonstration(tuple(controls[steps]), tuple(word[steps]), score, seed, tuple(effects[steps]))


def _parse_header(path: Path, header: dict[str, Any]) -> _Header:
    """The header, checked: a digest proves that a file is whole, not that this package wrote it."""
    try:
        return cast(_Header, parse(_Header, header))
    except BadInputError as error:
        raise BrokenDatasetError(f"{path}: its header is not that of a data set ({error})") from None


def _check_arrays(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    """Refuse arrays of other types, or whose shapes do not fit each other."""
    per_step = _PER_STEP | ({EFFECTS: np.int32} if EFFECTS in arrays else {})
    for name, kind in (_PER_DEMONSTRATION | per_step).items():
        if name not in arrays or arrays[name].dtype != kind:
            raise BrokenDatasetError(f"{path}: the array {name!r} is missing or of the wrong type")
    lengths = arrays["lengths"]
    shapes = dict.fromkeys(_PER_DEMONSTRATION, (lengths.size,)) | dict.fromkeys(per_step, (int(lengths.sum()),))
    if any(arrays[name].shape != shape for name, shape in shapes.items()) or (lengths < 0).any():
        raise BrokenDatasetError(f"{path}: its arrays do not fit each other")
