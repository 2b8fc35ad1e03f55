"""Tables of a page: a header, cells that may be highlighted, and a box of its own to scroll in on a narrow screen."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from wfairl.errors import BadInputError
from wfairl.report.text import Text

Alignment = Literal["left", "right", "center"]


class RaggedTableError(BadInputError):
    """A row of a table has a different number of cells than the header."""


@dataclass(frozen=True)
class Column:
    """The head of a column and how its cells are set."""

    name: Text
    alignment: Alignment = "left"


@dataclass(frozen=True)
class TableCell:
    """A cell that is more than its text.

    Attributes:
        text: what is shown.
        note: smaller, below the text.
        highlighted: whether it stands out from the others.
    """

    text: Text
    note: Text = ""
    highlighted: bool = False


@dataclass(frozen=True)
class Table:
    """Rows of cells; the first cell of a row is its name.

    Attributes:
        columns: the header.
        rows: one cell per column each.
        caption: what the table shows; it stands above it.
        highlighted_rows: numbers of the rows that stand out.
    """

    template: ClassVar[str] = "table"
    columns: tuple[Column, ...]
    rows: tuple[tuple[TableCell | Text, ...], ...]
    caption: Text = ""
    highlighted_rows: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise RaggedTableError(f"a row has {len(row)} cells where the table has {len(self.columns)} columns")

    @property
    def cells(self) -> list[list[TableCell]]:
        """The rows, every content as a cell."""
        return [
            [content if isinstance(content, TableCell) else TableCell(content) for content in row] for row in self.rows
        ]
