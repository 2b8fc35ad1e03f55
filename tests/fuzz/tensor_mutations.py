"""Ways to break a safetensors file."""

import json
import random
import struct
from typing import Any

import numpy as np

from fuzz.json_mutations import change_json, change_value, double_key
from fuzz.text_mutations import BYTES, Mutation, change_digit, cut, replace_token


def change_tensor_entry(content: bytes, rng: random.Random, _: tuple[bytes, ...]) -> bytes:
    """A safetensors file whose header says something else of one of its arrays."""
    header, data = split_safetensors(content)
    name = rng.choice([key for key in header if key != "__metadata__"])
    entry = header[name]
    kind = rng.randrange(6)
    if kind == 0:
        entry["dtype"] = rng.choice(
            ("BF16", "F8_E4M3", "F8_E5M2", "F4", "C64", "F16", "F32", "F64", "I64", "U64", "BOOL", "X", "", 3)
        )
    elif kind == 1:
        entry["shape"] = rng.choice(([-1], [2**62, 4], [], [0], [1] * 40, None, entry["shape"][::-1], [10**30], ["x"]))
    elif kind == 2:
        entry["data_offsets"] = rng.choice(([-8, 0], [0, 10**18], [8, 0], [0, 0], [], [1, 2, 3], None, [0.5, 1]))
    elif kind == 3:
        header[name] = dict(rng.choice([value for key, value in header.items() if key != "__metadata__"]))
    elif kind == 4:
        header[rng.choice(("extra", "", "__metadata__", "a.b.c"))] = header.pop(name)
    else:
        header = change_value(header, rng)
    return join_safetensors(header, data)


def move_tensors(content: bytes, rng: random.Random, _: tuple[bytes, ...]) -> bytes:
    """A safetensors file whose arrays overlap, leave gaps, or lie elsewhere; or with bytes that no array claims."""
    header, data = split_safetensors(content)
    entries = [entry for key, entry in header.items() if key != "__metadata__"]
    one, other = rng.choice(entries), rng.choice(entries)
    kind = rng.randrange(6)
    if kind == 0:
        one["data_offsets"] = list(other["data_offsets"])
    elif kind == 1:
        one["data_offsets"], other["data_offsets"] = other["data_offsets"], one["data_offsets"]
    elif kind == 2:
        shift = rng.choice((-8, -1, 1, 8))
        one["data_offsets"] = [offset + shift for offset in one["data_offsets"]]
    elif kind == 3:
        data = rng.choice((data + bytes(8), data[8:], data[:-1], bytes(8) + data))
    elif kind == 4:
        one["shape"] = rng.choice(([*one["shape"], 1], [1, *one["shape"]], [0, *one["shape"]], one["shape"][1:]))
    else:
        one["dtype"] = {"F64": "I64", "I64": "F64", "F32": "I32", "U16": "F16", "U8": "BOOL"}.get(one["dtype"], "C64")
    return join_safetensors(header, data)


def change_header_length(content: bytes, rng: random.Random, _: tuple[bytes, ...]) -> bytes:
    (length,) = struct.unpack("<Q", content[:8])
    lie = rng.choice((0, 1, length - 1, length + 1, length + 8, 2**31, 2**40, 2**63, 2**64 - 1))
    return struct.pack("<Q", lie) + content[8:]


def change_metadata(content: bytes, rng: random.Random, others: tuple[bytes, ...]) -> bytes:
    """Another header of ours within the one of safetensors, with the digest of before."""
    header, data = split_safetensors(content)
    own = header["__metadata__"]["wfairl"].encode()
    changed = rng.choice((change_json, double_key, replace_token, cut, change_digit))(own, rng, others)
    header["__metadata__"]["wfairl"] = changed.decode(errors="replace")
    return join_safetensors(header, data)


def change_array(arrays: dict[str, Any], rng: random.Random) -> None:
    """One array of some, as another type, of another shape, with other values, elsewhere or missing."""
    name, other = rng.choice(list(arrays)), rng.choice(list(arrays))
    array = arrays[name]
    kind = rng.randrange(6)
    if kind == 0:
        types = (np.float16, np.float32, np.float64, np.int8, np.int64, np.uint8, np.uint64, np.bool_)
        with np.errstate(all="ignore"):
            arrays[name] = array.astype(rng.choice(types))
    elif kind == 1:
        flat = array.reshape(-1)
        shapes = [array[None], array[..., None], array.T, flat[:-1], flat[:0], flat[:1].sum()]
        shapes.append(np.append(flat, flat[:1]))
        arrays[name] = np.asarray(rng.choice(shapes)).astype(array.dtype)
    elif kind == 2 and array.ndim:
        rows = np.array([rng.randrange(len(array)) for _ in range(len(array))] if len(array) else [], np.int64)
        arrays[name] = rng.choice((array[::-1], array[rows], array[1:], np.concatenate([array, array[:1]])))
    elif kind == 3:
        arrays[name], arrays[other] = arrays[other], arrays[name]
    elif kind == 4:
        moved = arrays.pop(name)
        if rng.random() < 0.7:
            arrays[rng.choice(("other", "model.x", "0.y", "", name + " ", name.upper()))] = moved
    else:
        changed = array.copy().reshape(-1)
        if not changed.size:
            return
        place = rng.choice((slice(None), rng.randrange(changed.size)))
        there = changed[place]
        if array.dtype == np.bool_:
            values = [~there]
        else:
            ends: Any = np.finfo(array.dtype) if array.dtype.kind == "f" else np.iinfo(array.dtype)
            values = [there + 1, there - 1, there * 0, ends.max, ends.min]
            values += [np.nan, np.inf, -0.0, 5e-324] if array.dtype.kind == "f" else []
        changed[place] = values[rng.randrange(len(values))]
        arrays[name] = changed.reshape(array.shape)


SAFETENSORS: tuple[Mutation, ...] = (
    *BYTES, change_tensor_entry, change_tensor_entry, move_tensors, change_header_length, change_metadata,
    change_metadata,
)  # fmt: skip


def split_safetensors(content: bytes) -> tuple[dict[str, Any], bytes]:
    (length,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def join_safetensors(header: Any, data: bytes) -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data
