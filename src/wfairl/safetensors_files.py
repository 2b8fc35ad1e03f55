"""Named arrays with a JSON header in one safetensors file: nothing in it can run code, and damage is noticed.

The only entry of safetensors' metadata, `wfairl`, is JSON with `format`, `version`, `header` and `digest`, the SHA-256
of the header and of every array with its name, type and shape. (One entry, because safetensors writes several in
random order: so the same content gives the same bytes.)
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_bytes

from wfairl.errors import BadInputError
from wfairl.files import NotJsonError, parse_json, read_bytes, seems, write_atomically

ENTRY = "wfairl"

Arrays = Mapping[str, NDArray[Any]]


def write_arrays(path: Path, form: str, version: int, header: dict[str, Any], arrays: Arrays) -> None:
    """Write arrays and a header, atomically."""
    metadata = {"format": form, "version": version, "header": header, "digest": _digest(header, arrays)}
    contiguous = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    write_atomically(path, to_bytes(contiguous, {ENTRY: json.dumps(metadata)}))


def read_arrays(
    path: Path, form: str, versions: Sequence[int], error: type[BadInputError]
) -> tuple[int, dict[str, Any], dict[str, NDArray[Any]]]:
    """The version, the header and the arrays of a file that `write_arrays` wrote.

    Args:
        path: the file.
        form: the format that it must be of.
        versions: the versions of the format that are understood.
        error: what to raise for a file that is cut short, damaged, or of another format or version.
    """
    read_bytes(path)  # a missing or unreadable file is named here
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = parse_json((file.metadata() or {}).get(ENTRY, "{}"))
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
    except (SafetensorError, NotJsonError) as problem:
        raise error(f"{path}: cut short, damaged, or not of the format {form} ({problem}){seems(path)}") from None
    if not isinstance(metadata, dict) or metadata.get("format") != form:
        raise error(f"{path}: not of the format {form}{seems(path)}")
    version = metadata.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version not in versions:
        known = ", ".join(map(str, versions))
        raise error(f"{path}: format version {version}, and this wfairl reads version {known}; update wfairl")
    header = metadata.get("header")
    if not isinstance(header, dict) or _digest(header, arrays) != metadata.get("digest"):
        raise error(f"{path}: damaged: its content does not match its digest")
    return version, header, arrays


def _digest(header: dict[str, Any], arrays: Arrays) -> str:
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
