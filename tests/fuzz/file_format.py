"""A format that wfairl reads: a whole file of it, what the commands read it with, and how to break it."""

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from fuzz import json_mutations, tensor_mutations
from fuzz.json_mutations import change_value, rearrange
from fuzz.tensor_mutations import change_array, split_safetensors
from fuzz.text_mutations import Mutation
from wfairl.core.costs.cost_model import CostModel
from wfairl.core.support.documents import DIGEST, Form
from wfairl.core.support.safetensors_files import ENTRY, write_arrays

Read = Callable[[Path], Any]

A, B, NOTHING = frozenset("a"), frozenset("b"), frozenset()

WORDS = [(NOTHING, A, B), (A, NOTHING, A, B), (NOTHING, B, A), (B,), (A,), (NOTHING,)]

SCORES = [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]


@dataclass(frozen=True)
class FileFormat:
    """A format.

    Attributes:
        name: for people.
        file: what a file of it is called.
        write: makes a good file, and what must stand beside it.
        read: what the commands make of such a file.
        mutations: ways to break it.
        is_sealed: whether a digest is in it, so that what is read is what was written or nothing.
        disguise: changes the contents and puts the right digest on it, as an enemy would.
    """

    name: str
    file: str
    write: Callable[[Path], None]
    read: Read
    mutations: tuple[Mutation, ...]
    is_sealed: bool = False
    disguise: Mutation | None = field(default=None)


def sealed(name: str, file: str, write: Callable[[Path], None], read: Read, form: Form[Any]) -> FileFormat:
    """A document with a digest, which an enemy computes anew."""

    def disguise(content: bytes, rng: random.Random, _: tuple[bytes, ...]) -> bytes:
        document = {
            key: value for key, value in json.loads(content).items() if key not in ("format", "version", DIGEST)
        }
        changed = rng.choice((change_value, rearrange))(document, rng)
        text = json.dumps(changed, sort_keys=True, separators=(",", ":"))
        if not isinstance(changed, dict):
            return text.encode()
        return json.dumps(
            {"format": form.name, "version": form.version, **changed, DIGEST: form._digest(text)}
        ).encode()

    return FileFormat(name, file, write, read, json_mutations.JSON, is_sealed=True, disguise=disguise)


def tensors(name: str, file: str, write: Callable[[Path], None], read: Read) -> FileFormat:
    """A safetensors file."""

    def disguise(content: bytes, rng: random.Random, _: tuple[bytes, ...]) -> bytes:
        import tempfile

        from safetensors.numpy import load as load_bytes

        header = json.loads(split_safetensors(content)[0]["__metadata__"][ENTRY])
        arrays = dict(load_bytes(content))
        if rng.random() < 0.6:
            header["header"] = rng.choice((change_value, rearrange))(header["header"], rng)
        else:
            change_array(arrays, rng)
        if not isinstance(header["header"], dict):
            return b""
        with tempfile.TemporaryDirectory() as place:
            path = Path(place, "file.safetensors")
            write_arrays(path, header["format"], header["version"], header["header"], arrays)
            return path.read_bytes()

    return FileFormat(name, file, write, read, tensor_mutations.SAFETENSORS, is_sealed=True, disguise=disguise)


def text(content: str) -> Callable[[Path], None]:
    return lambda path: path.write_text(content, encoding="utf-8")  # type: ignore[return-value]


def plain(value: Any) -> Any:
    """A value as plain data that can be compared, whatever it is made of."""
    if is_dataclass(value) and not isinstance(value, type):
        return [(one.name, plain(getattr(value, one.name))) for one in fields(value) if one.compare and one.repr]
    if isinstance(value, CostModel):
        return plain([value.settings, value.arrays])
    if isinstance(value, torch.nn.Module):
        return plain(value.state_dict())
    if isinstance(value, torch.Tensor):
        return plain(value.detach().numpy())
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.tolist()
    if isinstance(value, Mapping):
        return sorted(((repr(key), plain(one)) for key, one in value.items()), key=lambda pair: pair[0])
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return sorted(value) if isinstance(value, frozenset) else value
