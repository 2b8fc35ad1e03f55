"""Tables of a page: a header, cells that may be highlighted, and a box of its own to scroll in on a narrow screen."""

from dataclasses import dataclass
from typing import Literal

from wfairl.errors import BadInputError
from wfairl.report.text import Text, html_of

Alignment = Literal["left", "right", "center"]


class RaggedTableError(BadInputError):
    """A row of a table has not as many cells as the header."""


@dataclass(frozen=True)
class Column:
    """The head of a column and how its cells are set."""

    name: Text
    alignment: Alignment = "left"


@dataclass(frozen=True)
class Cell:
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
        rows: as many cells each as there are columns.
        caption: what the table shows; it stands above it.
        highlighted_rows: numbers of the rows that stand out.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell | Text, ...], ...]
    caption: Text = ""
    highlighted_rows: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise RaggedTableError(f"a row has {len(row)} cells where the table has {len(self.columns)} columns")

    def html(self) -> str:
        """The table as an element."""
        # The caption stands outside of what scrolls, so that all of it can be read on a phone.
        caption = f"<figcaption>{html_of(self.caption)}</figcaption>" if self.caption else ""
        head = "".join(f'<th scope="col" class="{c.alignment}">{html_of(c.name)}</th>' for c in self.columns)
        body = "".join(self._row(number) for number in range(len(self.rows)))
        return (
            f'<figure class="table">{caption}<div class="scroll" tabindex="0" role="region" aria-label="table">'
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></figure>"
        )

    def _row(self, number: int) -> str:
        marked = ' class="highlighted"' if number in self.highlighted_rows else ""
        cells = []
        for i, (column, content) in enumerate(zip(self.columns, self.rows[number], strict=True)):
            cell = content if isinstance(content, Cell) else Cell(content)
            tag, scope = ("th", ' scope="row"') if i == 0 else ("td", "")
            classes = f"{column.alignment} highlighted" if cell.highlighted else column.alignment
            note = f'<span class="note">{html_of(cell.note)}</span>' if cell.note else ""
            cells.append(f'<{tag}{scope} class="{classes}">{html_of(cell.text)}{note}</{tag}>')
        return f"<tr{marked}>{''.join(cells)}</tr>"
