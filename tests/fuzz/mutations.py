"""Ways to break a file: seeded, so that a case is known by its format and its number."""

import bz2
import copy
import gzip
import json
import lzma
import random
import re
import struct
import unicodedata
from collections.abc import Callable
from typing import Any

import numpy as np

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

NUMBERS = (
    "-0", "-0.0", "5e-324", "-5e-324", "2.2250738585072014e-308", "1.7976931348623157e308", "-1.7976931348623157e308",
    "1e309", "1e-5000", "0.30000000000000004", "NaN", "nan", "-Infinity", "inf", "+1", ".5", "1.", "01", "1E5", "1e0",
    "1.0", "2147483647", "2147483648", "-2147483649", "4294967296", "9007199254740993", "9223372036854775807",
    "9223372036854775808", "18446744073709551616", "1,5", "1 000", "\u00bd", "\uff11", "1j", "1/3", "0b1", "65535",
    "65536", "255", "256", "-128",
)  # fmt: skip
"""Numbers at the ends of types, and spellings that some programs have."""

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


def tear(content: bytes, rng: random.Random, _: tuple[bytes, ...]) -> bytes:
    """Blocks that never reached the disk, are out of order, or come from nowhere."""
    size = rng.choice((1, 8, 64, 512))
    start = rng.randrange(len(content)) // size * size
    block = content[start : start + size]
    kind = rng.randrange(3)
    if kind == 0:
        return content[:start] + bytes(len(block)) + content[start + size :]
    if kind == 1:
        return content[:start] + content[start + size :] + block
    return content + rng.choice((bytes(size), block, b"\n" * size, b" " * 100_000))


def splice(content: bytes, rng: random.Random, others: tuple[bytes, ...]) -> bytes:
    """The beginning of one file and the end of another."""
    other = rng.choice(others)
    return content[: rng.randrange(len(content) + 1)] + other[rng.randrange(len(other) + 1) :]


def write_as_others_do(content: bytes, rng: random.Random, _: tuple[bytes, ...]) -> bytes:
    """Line ends and encodings of other systems."""
    text = content.decode("latin-1")
    return rng.choice(
        (
            content.replace(b"\n", b"\r\n"),
            content.replace(b"\n", b"\r"),
            b"\xef\xbb\xbf" + content,
            text.encode("utf-16"),
            text.encode("utf-16-le"),
            text.encode("utf-32"),
            text.replace("\n", "\u2028").encode(),
            text.replace("a", "\u00e9").encode("latin-1", "replace"),
            text.swapcase().encode("latin-1", "replace"),
        )
    )


def exchange_numbers(content: bytes, rng: random.Random, _: tuple[bytes, ...]) -> bytes:
    """Two figures, each in the other's place."""
    found = list(re.finditer(rb"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", content))
    if len(found) < 2:
        return content
    one, other = sorted(rng.sample(found, 2), key=lambda match: match.start())
    between = content[one.end() : other.start()]
    return content[: one.start()] + other[0] + between + one[0] + content[other.end() :]


def put_strange_characters(content: bytes, rng: random.Random, _: tuple[bytes, ...]) -> bytes:
    """In the place of a letter: halves of characters, escapes, controls, digits of other scripts."""
    letters = [match.start() for match in re.finditer(rb"[A-Za-z0-9]", content)]
    if not letters:
        return content
    place = rng.choice(letters)
    strange = rng.choice(
        (
            "\\ud800",
            "\\udc00\\ud800",
            "\\u0000",
            "\\ud83d\\ude00",
            "\x00",
            "\x1b[2J",
            "\u202e",
            "\u0663",
            "\u2028",
            "\\",
            '"',
        )
    )
    return content[:place] + strange.encode() + content[place + 1 :]


def pack(content: bytes, rng: random.Random, _: tuple[bytes, ...]) -> bytes:
    """The file as programs that save space keep it."""
    return rng.choice((lambda one: gzip.compress(one, mtime=0), bz2.compress, lzma.compress))(content)


def rearrange_lines(content: bytes, rng: random.Random, _: tuple[bytes, ...]) -> bytes:
    """All lines, in another order or some of them several times."""
    lines = content.splitlines(keepends=True)
    kind = rng.randrange(4)
    if kind == 0:
        rng.shuffle(lines)
    elif kind == 1:
        one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        lines[one], lines[other] = lines[other], lines[one]
    elif kind == 2:
        chosen = rng.randrange(len(lines))
        lines[chosen:chosen] = [lines[rng.randrange(len(lines))]] * rng.choice((1, 2, 300))
    else:
        lines *= 2
    return b"".join(lines)


def write_number_strangely(content: bytes, rng: random.Random, _: tuple[bytes, ...]) -> bytes:
    """The largest and smallest of numbers, and spellings that some programs read."""
    found = list(re.finditer(rb"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", content))
    if not found:
        return content
    match = rng.choice(found)
    return content[: match.start()] + rng.choice(NUMBERS).encode() + content[match.end() :]


def write_name_strangely(content: bytes, rng: random.Random, _: tuple[bytes, ...]) -> bytes:
    """Look-alikes of letters, names without end, and spaces that are not seen."""
    found = list(re.finditer(rb"[A-Za-z][A-Za-z_-]+", content))
    if not found:
        return content
    match = rng.choice(found)
    name = match[0].decode()
    look_alike = name.translate(str.maketrans("aceopsxyi", "\u0430\u0441\u0435\u043e\u0440\u0455\u0445\u0443\u0456"))
    strange = rng.choice(
        (
            look_alike,
            unicodedata.normalize("NFD", name + "\u00e9"),
            "".join(chr(ord(letter) + 0xFEE0) for letter in name),
            name + "\u200b",
            "\ufeff" + name,
            name + " ",
            name * rng.choice((1_000, 100_000)),
            name.upper(),
            "__proto__",
            "\U0001f600" * 50,
        )
    )
    return content[: match.start()] + strange.encode() + content[match.end() :]


BYTES: tuple[Mutation, ...] = (
    cut, flip_bits, flip_bits, insert_bytes, repeat_part, empty, another_file, tear, splice, pack,
)  # fmt: skip
TEXT: tuple[Mutation, ...] = (
    *BYTES, cut_lines, replace_token, replace_token, change_digit, change_digit, nest_deeply, write_as_others_do,
    exchange_numbers, put_strange_characters, rearrange_lines, write_number_strangely, write_name_strangely,
)  # fmt: skip


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


def rearrange(document: Any, rng: random.Random) -> Any:
    """The document with its values in other places: nothing in it is strange in itself."""
    kind = rng.randrange(8)
    lists = [one for one in _parts(document) if isinstance(one, list)]
    if kind <= 1 or not lists:
        return _exchange(document, rng)
    chosen = rng.choice(lists)
    tables = [one for one in lists if one and all(isinstance(row, list) for row in one)]
    if kind == 2:
        rng.shuffle(chosen)
    elif kind == 3 and chosen:
        chosen.insert(rng.randrange(len(chosen) + 1), copy.deepcopy(rng.choice(chosen)))
    elif kind == 4 and chosen:
        del chosen[rng.randrange(len(chosen))]
    elif kind == 5:
        chosen.clear()
    elif kind == 6 and tables:
        table = rng.choice(tables)
        table[:] = rng.choice(
            (
                [[*column] for column in zip(*table, strict=False)],
                [value for row in table for value in row],
                [[*row, *row[-1:]] for row in table],
                [row[:-1] for row in table],
                [table[:]],
            )
        )
    else:
        return _shift_number(document, rng)
    return document


def _exchange(document: Any, rng: random.Random) -> Any:
    """Two values in each other's place, neither within the other."""
    one, other = _any_path(document, rng), _any_path(document, rng)
    if not one or not other or one == other[: len(one)] or other == one[: len(other)]:
        return document
    (here, i), (there, j) = ((_at(document, path[:-1]), path[-1]) for path in (one, other))
    here[i], there[j] = there[j], here[i]
    return document


def _shift_number(document: Any, rng: random.Random) -> Any:
    """A whole number that may be an index or a length: one less, one more, or as large as some list is long."""
    places = [
        (part, key)
        for part in _parts(document)
        for key in (part if isinstance(part, dict) else range(len(part)))
        if type(part[key]) in (int, float)
    ]
    if not places:
        return document
    part, key = rng.choice(places)
    lengths = [len(one) for one in _parts(document)]
    part[key] = rng.choice((part[key] + 1, part[key] - 1, -part[key], rng.choice(lengths), -0.0, 5e-324, 1.7e308))
    return document


def _parts(document: Any) -> list[Any]:
    """All objects and lists within a document, itself included."""
    if not isinstance(document, dict | list):
        return []
    inner = document.values() if isinstance(document, dict) else document
    return [document, *(part for one in inner for part in _parts(one))]


def _at(document: Any, path: list[Any]) -> Any:
    for step in path:
        document = document[step]
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


def rearrange_json(content: bytes, rng: random.Random, _: tuple[bytes, ...]) -> bytes:
    document = json.loads(content)
    for _number in range(rng.choice((1, 1, 2))):
        document = rearrange(document, rng)
    return json.dumps(document).encode()


def graft(content: bytes, rng: random.Random, others: tuple[bytes, ...]) -> bytes:
    """A value of another document in the place of one of this document, under the same key if there is one."""
    document, other = json.loads(content), None
    for candidate in rng.sample(others, min(5, len(others))):
        try:
            other = json.loads(candidate)
            break
        except ValueError:
            continue
    path = _any_path(document, rng)
    if other is None or not path:
        return content
    same = [one[path[-1]] for one in _parts(other) if isinstance(one, dict) and path[-1] in one]
    _at(document, path[:-1])[path[-1]] = rng.choice(same) if same else other
    return json.dumps(document).encode()


def double_key(content: bytes, rng: random.Random, _: tuple[bytes, ...]) -> bytes:
    """A key of an object, at any depth, twice: with another value or the same."""
    text = json.dumps(json.loads(content))
    entries = list(re.finditer(r'("[^"\\\\]*"): ', text))
    if not entries:
        return content
    entry = rng.choice(entries)
    value = rng.choice((json.dumps(rng.choice(HOSTILE)), "null", "0"))
    return (text[: entry.start()] + f"{entry[1]}: {value}, " + text[entry.start() :]).encode()


def change_json_line(content: bytes, rng: random.Random, others: tuple[bytes, ...]) -> bytes:
    lines = content.splitlines()
    chosen = rng.randrange(len(lines))
    lines[chosen] = rng.choice((change_json, rearrange_json, double_key))(lines[chosen], rng, others)
    return b"\n".join(lines) + b"\n"


JSON: tuple[Mutation, ...] = (
    *TEXT, change_json, change_json, change_json, change_json, rearrange_json, rearrange_json, graft, double_key,
)  # fmt: skip
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


def bomb(_content: bytes, rng: random.Random, _: tuple[bytes, ...]) -> bytes:
    """A packed file that is a thousand times as large when it is unpacked, and perhaps packed several times."""
    content = bytes(rng.choice((1 << 20, 1 << 26)))
    for _number in range(rng.choice((1, 1, 2))):
        content = gzip.compress(content, 9, mtime=0)
    return content * rng.choice((1, 8))


PACKED: tuple[Mutation, ...] = (*BYTES, bomb)

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
