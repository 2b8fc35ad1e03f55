"""Recorded paths as a table in CSV, one place of the robot in each row; `wfairl demos-import` reads it.

The columns are `x`, `y` and optionally `heading`, `seed`, `score` and `episode`. The rows of one episode (or of one
seed, without that column) are consecutive.
"""

import csv
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from wfairl.core.support.errors import BadInputError
from wfairl.core.support.files import read_text

COLUMNS = ("episode", "seed", "x", "y", "heading", "score")


def read_path_table(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The line on which each episode of a table begins, and the episode as an entry of a log.

    Raises:
        BadInputError: names the file, the line and the fault.
    """
    earlier = set()
    for key, together in groupby(_rows(path), key=lambda one: (one[1].get("episode"), one[1].get("seed"))):
        episode = list(together)
        line, first = episode[0]
        if "episode" in first and key in earlier:
            raise BadInputError(f"{path}: line {line}: episode {key[0]} again; its rows must be consecutive")
        earlier.add(key)
        try:
            entry: dict[str, Any] = {"seed": int(first.get("seed") or 0), "path": []}
            if first.get("score"):
                entry["score"] = float(first["score"])
            for at, row in episode:
                line = at
                entry["path"].append([float(row[name]) for name in ("x", "y", "heading") if name in row])
        except ValueError:
            raise BadInputError(f"{path}: line {line}: it holds something that is not a number") from None
        yield episode[0][0], entry


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The number of the line of each row, and the row by its columns."""
    reader = csv.reader(read_text(path).splitlines())
    try:
        columns = next(reader, [])
        if not {"x", "y"} <= set(columns) <= set(COLUMNS) or len(set(columns)) < len(columns):
            raise BadInputError(f"{path}: a table of paths has the columns x and y, and may have {', '.join(COLUMNS)}")
        for row in filter(None, reader):
            if len(row) != len(columns):
                raise BadInputError(
                    f"{path}: line {reader.line_num}: {len(row)} columns where the header has {len(columns)}"
                )
            yield reader.line_num, dict(zip(columns, row, strict=True))
    except csv.Error as error:
        raise BadInputError(f"{path}: line {reader.line_num}: not a table ({error})") from None
