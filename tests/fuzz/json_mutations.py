"""Ways to break a document."""

import copy
import json
import random
import re
from typing import Any

from fuzz.text_mutations import (
    TEXT,
    Mutation,
)

HOSTILE: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, -(2**31), 2**31, 2**53 + 1, 2**63, -(2**63), 10**30, 10**400, 0.5, -0.5, 1e-320, 1e308,
    float("nan"), float("inf"), "", "x", "1", "NaN", "\ud800", "\x00",
    "a" * 5_000, [], [[]], {}, {"": None}, [None], [1e308] * 9,
)  # fmt: skip
"""Values that a reader may not expect where they stand."""


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
