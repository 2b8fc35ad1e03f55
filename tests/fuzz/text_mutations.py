"""Ways to break any file, text and packed files: seeded, so that a case is known by its format and its number."""

import bz2
import gzip
import lzma
import random
import re
import unicodedata
from collections.abc import Callable

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


def bomb(_content: bytes, rng: random.Random, _: tuple[bytes, ...]) -> bytes:
    """A packed file that is a thousand times as large when it is unpacked, and perhaps packed several times."""
    content = bytes(rng.choice((1 << 20, 1 << 26)))
    for _number in range(rng.choice((1, 1, 2))):
        content = gzip.compress(content, 9, mtime=0)
    return content * rng.choice((1, 8))


PACKED: tuple[Mutation, ...] = (*BYTES, bomb)
