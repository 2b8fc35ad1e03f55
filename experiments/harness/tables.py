"""Tables of a page, made from data frames."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from wfairl.pages.blocks import Column, PageTable
from wfairl.pages.text import Chips, Text

ABSENT = "-"

INDENT = "\N{EM SPACE}"
"""Before the name of a line that belongs to the one above it."""


def table_of(frame: pd.DataFrame, caption: str, corner: str = "") -> PageTable:
    """A table with the index of a frame as the names of its lines.

    Texts and cells of a table are shown as they are, other numbers with three digits, what is missing as `ABSENT`.
    """
    columns = (Column(corner), *(Column(str(name), "right") for name in frame.columns))
    lines = zip(frame.index, frame.to_numpy(object).tolist(), strict=True)
    return PageTable(columns, tuple((str(name), *map(_shown, line)) for name, line in lines), caption)


def _shown(value: Any) -> Any:
    if value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value)):
        return ABSENT
    return f"{value:.3f}" if isinstance(value, float) else str(value) if isinstance(value, int) else value


def pivot(frame: pd.DataFrame, lines: str, columns: str, values: str) -> pd.DataFrame:
    """A frame with one line and one column per value of two columns, both in the order in which they appear."""
    wide = frame.pivot(index=lines, columns=columns, values=values)
    return wide.reindex(index=frame[lines].unique(), columns=frame[columns].unique())


def mean_table(frame: pd.DataFrame, by: Sequence[str], columns: Sequence[str], caption: str) -> PageTable:
    """The means of columns over all rows with the same values of `by`, which name the line; empty without rows."""
    if frame.empty:
        return table_of(frame, caption)
    means = frame.reindex(columns=[*by, *columns]).groupby(list(by), sort=False).mean()
    means.index = means.index.map(lambda name: ", ".join(map(str, name)) if isinstance(name, tuple) else str(name))
    return table_of(means, caption)


def rows_table(frame: pd.DataFrame, name: str, columns: Sequence[str], caption: str) -> PageTable:
    """Columns of each row, named by the column `name`."""
    shown = frame.reindex(columns=[name, *columns]).convert_dtypes()
    return table_of(shown.set_index(name), caption, name)


def having(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """The rows that have a value in a column."""
    return frame[frame[column].notna()] if column in frame else frame[:0]


def mean_and_spread(values: Sequence[float] | pd.Series, digits: int = 3) -> str:
    """The mean and the standard deviation: `0.187 ± 0.002`; a single value has no deviation."""
    known = np.asarray([value for value in values if not np.isnan(value)])
    if not len(known):
        return ABSENT
    mean = f"{known.mean():.{digits}f}"
    return mean if len(known) == 1 else f"{mean} ± {known.std(ddof=1):.{digits}f}"


def to_texts(table: PageTable) -> list[list[str]]:
    """The head and the lines of a table as plain texts, with the notes of its cells."""
    body = [
        [" ".join(filter(None, (plain_text(one.text), plain_text(one.note)))) for one in line] for line in table.cells
    ]
    return [[plain_text(column.name) for column in table.columns], *body]


def to_markdown(table: PageTable) -> str:
    """A table in Markdown, below its caption."""
    head, *body = to_texts(table)
    lines = [f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *body)]
    return "\n".join([plain_text(table.caption), "", *lines]).replace(INDENT, "&nbsp;&nbsp;")


def plain_text(text: Text) -> str:
    """The text without markup."""
    parts = text if isinstance(text, tuple) else (text,)
    return "".join(
        part if isinstance(part, str) else ", ".join(part.labels) if isinstance(part, Chips) else part.text
        for part in parts
    )
