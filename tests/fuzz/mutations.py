"""Ways to break a file: seeded, so that a case is known by its format and its number."""

import copy
import json
import random
import re
import struct
from collections.abc import Callable
from typing import Any

HOSTILE: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, -(2**31), 2**31, 2**53 + 1, 2**63, -(2**63), 10**30, 10**400, 0.5, -0.5, 1e-320, 1e308,
    float("nan"), float("inf"), "", "x", "1", "NaN", "\ud800", "\x00",
    "a" * 5_000, [], [[]], {}, {"": None}, [None], [1e308] * 9,
)  # fmt: skip
"""Values that a reader may not expect where they stand."""

TOKENS = (
    "-1", "1e400", "-1e400", "NaN", "Infinity", "0", "1", "2.5", "9" * 30, "9" * 5_000, "true", "null", '"x"', "[]",
    "{}", "1e-400", "-0", "0x10", "1_000", "[" * 3_000, "[" * 100_000, '{"a":' * 3_000, "\u0661", "", " ", "\n", "\x00",
)  # fmt: skip
"""Texts in the place of a number or a name."""

Mutation = Callable[[bytes, random.Random, tuple[bytes, ...]], bytes]


def cut(content: bytes, rng: random.Random, _: tuple[bytes, ...]) -> bytes:
    start, end = sorted((rng.randrange(len(content) + 1), rng.randrange(len(content) + 1)))
    return rng.choice((content[:end], content[start:], content[:start] + content[end:]))


def cut_lines(content: bytes, rng: random.Random, _: tuple[bytes, ...]) -> bytes:
    lines = content.splitlines(keepends=True)
    chosen = rng.randrange(len(lines))
    return b"".join(rng.choice((lines[:chosen], lines[chosen:], lines[:chosen] + lines[chosen + 1 :], lines[::-1])))


def flip_bits(content: bytes, rng: random.Random, _: tuple[bytes, ...]) -> bytes:
    changed = bytearray(content)
    for _number in range(rng.choice((1, 1, 1, 2, 8))):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def insert_bytes(content: bytes, rng: random.Random, _: tuple[bytes, ...]) -> bytes:
    place = rng.randrange(len(content) + 1)
    return content[:place] + rng.randbytes(rng.choice((1, 1, 4, 64))) + content[place:]


def repeat_part(content: bytes, rng: random.Random, _: tuple[bytes, ...]) -> bytes:
    start, end = sorted((rng.randrange(len(content) + 1), rng.randrange(len(content) + 1)))
    return content[:end] + content[start:]


def replace_token(content: bytes, rng: random.Random, _: tuple[bytes, ...]) -> bytes:
    """Another number or word in the place of one."""
    found = list(re.finditer(rb"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|true|false|null|[A-Za-z_]+", content))
    if not found:
        return content
    match = rng.choice(found)
    return content[: match.start()] + rng.choice(TOKENS).encode() + content[match.end() :]


def change_digit(content: bytes, rng: random.Random, _: tuple[bytes, ...]) -> bytes:
    """A figure that is believable, and another one."""
    digits = [match.start() for match in re.finditer(rb"\d", content)]
    if not digits:
        return content
    place = rng.choice(digits)
    return content[:place] + rng.choice("0123456789").encode() + content[place + 1 :]


def empty(_content: bytes, rng: random.Random, _: tuple[bytes, ...]) -> bytes:
    return rng.choice(
        (b"", b"\n", b" ", b"\x00", b"\xef\xbb\xbf", b"null", b"[]", b"{}", b"3", b'"x"', b"\xff\xfe\x00")
    )


def another_file(_content: bytes, rng: random.Random, others: tuple[bytes, ...]) -> bytes:
    return rng.choice(others)


def nest_deeply(content: bytes, rng: random.Random, _: tuple[bytes, ...]) -> bytes:
    depth = rng.choice((50, 900, 2_000, 100_000))
    return b"[" * depth + content + b"]" * depth


BYTES: tuple[Mutation, ...] = (
    cut, flip_bits, flip_bits, insert_bytes, repeat_part, empty, another_file,
)  # fmt: skip
TEXT: tuple[Mutation, ...] = (*BYTES, cut_lines, replace_token, replace_token, change_digit, change_digit, nest_deeply)


def change_value(document: Any, rng: random.Random) -> Any:
    """The document with one of its values, at any depth, replaced, left out, renamed, doubled or exchanged."""
    path = _any_path(document, rng)
    if not path:
        return copy.deepcopy(rng.choice(HOSTILE))
    *above, last = path
    parent = document
    for step in above:
        parent = parent[step]
    kind = rng.randrange(7)
    if kind == 0:
        del parent[last]
    elif kind == 1 and isinstance(parent, dict):
        parent[rng.choice((f"{last}s", str(last).upper(), "", "digest", "format", "a" * 1_000))] = parent.pop(last)
    elif kind == 2 and isinstance(parent, list):
        parent[last:last] = [parent[last]] * rng.choice((1, 2, 50))
    elif kind == 3:
        other = _any_path(document, rng)
        value: Any = document
        for step in other:
            value = value[step]
        parent[last] = json.loads(json.dumps(value))
    elif kind == 4 and isinstance(parent[last], int | float) and not isinstance(parent[last], bool):
        parent[last] = rng.choice((-parent[last], parent[last] + 1, parent[last] * 1000, 10**15, -1, 0.5))
    else:
        parent[last] = copy.deepcopy(rng.choice(HOSTILE))
    return document


def _any_path(document: Any, rng: random.Random) -> list[Any]:
    """The way to a random value; each step goes on with a probability, so that all depths are met."""
    path: list[Any] = []
    here = document
    while isinstance(here, dict | list) and len(here) and (not path or rng.random() < 0.8):
        step = rng.choice(list(here)) if isinstance(here, dict) else rng.randrange(len(here))
        path.append(step)
        here = here[step]
    return path


def change_json(content: bytes, rng: random.Random, _: tuple[bytes, ...]) -> bytes:
    document = json.loads(content)
    for _number in range(rng.choice((1, 1, 1, 2, 4))):
        document = change_value(document, rng)
    return json.dumps(document).encode()


def double_key(content: bytes, rng: random.Random, _: tuple[bytes, ...]) -> bytes:
    """A key of the outermost object twice, with another value."""
    document = json.loads(content)
    key, value = rng.choice(list(document)), json.dumps(rng.choice(HOSTILE))
    inner = json.dumps(document)[1:-1]
    entry = f"{json.dumps(key)}: {value}"
    return (f"{{{entry}, {inner}}}" if rng.random() < 0.5 else f"{{{inner}, {entry}}}").encode()


def change_json_line(content: bytes, rng: random.Random, others: tuple[bytes, ...]) -> bytes:
    lines = content.splitlines()
    chosen = rng.randrange(len(lines))
    lines[chosen] = rng.choice((change_json, double_key))(lines[chosen], rng, others)
    return b"\n".join(lines) + b"\n"


JSON: tuple[Mutation, ...] = (*TEXT, change_json, change_json, change_json, change_json, double_key)
JSON_LINES: tuple[Mutation, ...] = (*TEXT, change_json_line, change_json_line, change_json_line)


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


SAFETENSORS: tuple[Mutation, ...] = (
    *BYTES, change_tensor_entry, change_tensor_entry, change_header_length, change_metadata, change_metadata,
)  # fmt: skip


def split_safetensors(content: bytes) -> tuple[dict[str, Any], bytes]:
    (length,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def join_safetensors(header: Any, data: bytes) -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data
