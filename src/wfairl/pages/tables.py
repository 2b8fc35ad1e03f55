"""Tables of a page; on a narrow screen they scroll in a box of their own."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from wfairl.core.support.errors import BadInputError
from wfairl.pages.text import Text

Alignment = Literal["left", "right", "center"]


class RaggedTableError(BadInputError):
    """A row of a table has a different number of cells than the header."""


@dataclass(frozen=True)
class Column:
    """The name of a column and the alignment of its cells."""

    name: Text
    alignment: Alignment = "left"


@dataclass(frozen=True)
class TableCell:
    """A cell with a note or a highlight.

    Attributes:
        text: its content.
        note: smaller, below the text.
        highlighted: whether it is highlighted.
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
        caption: above it.
        highlighted_rows: indices of the highlighted rows.
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
        """The rows, with every content as a cell."""
        return [
            [content if isinstance(content, TableCell) else TableCell(content) for content in row] for row in self.rows
        ]
