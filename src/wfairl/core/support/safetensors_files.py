"""Named arrays with a JSON header in one safetensors file, which runs no code and detects damage.

The only entry of safetensors' metadata, `wfairl`, is JSON with `format`, `version`, `header` and `digest`, the SHA-256
of the header and of every array with its name, type and shape. (There is only one entry because safetensors writes
several in random order, and equal content should give equal bytes.)
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_bytes

from wfairl.core.support.errors import BadInputError
from wfairl.core.support.files import NotJsonError, parse_json, read_bytes, seems, write_atomically

ENTRY = "wfairl"

DTYPES = frozenset({"BOOL", "U8", "I8", "U16", "I16", "U32", "I32", "U64", "I64", "F16", "F32", "F64"})
"""The types that NumPy supports, too."""

Arrays = Mapping[str, NDArray[Any]]


def write_arrays(path: Path, form: str, version: int, header: dict[str, Any], arrays: Arrays) -> None:
    """Write arrays and a header, atomically."""
    metadata = {"format": form, "version": version, "header": header, "digest": _digest(header, arrays)}
    contiguous = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    write_atomically(path, to_bytes(contiguous, {ENTRY: json.dumps(metadata)}))


def read_arrays(
    path: Path, form: str, version: int, error: type[BadInputError]
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and the arrays of a file that `write_arrays` wrote.

    A file that is truncated, damaged, or of another format or version raises `error`.
    """
    read_bytes(path)  # raises an error with the name of a missing or unreadable file
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = parse_json((file.metadata() or {}).get(ENTRY, "{}"))
            for name in file.keys():  # noqa: SIM118 - not a mapping
                dtype = file.get_slice(name).get_dtype()
                if dtype not in DTYPES:
                    raise error(f"{path}: {name} has the type {dtype}, which the format {form} does not use")
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, NotJsonError) as problem:
        raise error(f"{path}: truncated, damaged, or not of the format {form} ({problem}){seems(path)}") from None
    if not isinstance(metadata, dict) or metadata.get("format") != form:
        raise error(f"{path}: not of the format {form}{seems(path)}")
    if metadata.get("version") != version or metadata["version"] is True:
        given = metadata.get("version")
        raise error(f"{path}: format version {given}, but this wfairl reads version {version}; update wfairl")
    header = metadata.get("header")
    if not isinstance(header, dict) or _digest(header, arrays) != metadata.get("digest"):
        raise error(f"{path}: damaged: its content does not match its digest")
    return header, arrays


def _digest(header: dict[str, Any], arrays: Arrays) -> str:
    try:
        digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    except RecursionError:
        return "none, since it is nested too deeply"
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
