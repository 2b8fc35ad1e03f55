"""Text of a page: plain strings, which are escaped, and the few things inside a sentence that are more than that."""

import math
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Number:
    """A number as people read it, with all of its digits beside it for machines.

    Attributes:
        value: the exact number; it stands in the page as the value of a `<data>` element.
        text: what is shown.
    """

    value: float
    text: str

    def html(self) -> str:
        """The number as an element."""
        return f'<data value="{self.value!r}">{escape(self.text)}</data>'


@dataclass(frozen=True)
class Code:
    """Something that a computer reads: a command, a file name, a setting."""

    text: str

    def html(self) -> str:
        """The code as an element."""
        return f"<code>{escape(self.text)}</code>"


@dataclass(frozen=True)
class Chips:
    """A row of small labels, such as a word of an automaton."""

    labels: tuple[str, ...]

    def html(self) -> str:
        """The labels as a list."""
        return f'<ol class="word">{"".join(f"<li>{escape(label)}</li>" for label in self.labels)}</ol>'


Inline = str | Number | Code | Chips
Text = Inline | tuple[Inline, ...]
"""What may stand in a sentence, a cell or a caption."""


def html_of(text: Text) -> str:
    """A text as HTML, with everything in it escaped."""
    if isinstance(text, tuple):
        return "".join(map(html_of, text))
    return escape(text) if isinstance(text, str) else text.html()


def number(value: float, digits: int = 3) -> Number:
    """A number with so many digits after the point; an integer with all of its digits."""
    if isinstance(value, int):
        return Number(value, f"{value:,}".replace(",", "\N{NARROW NO-BREAK SPACE}"))
    if not math.isfinite(value):
        return Number(value, "\N{INFINITY}" if value == math.inf else str(value))
    return Number(value, f"{value:.{digits}f}".replace("-", "\N{MINUS SIGN}"))


def counted(count: int, noun: str, several: str = "") -> str:
    """A number with what it counts: 1 scene, 2 scenes; `several` for a noun that takes no s."""
    return f"{count} {noun}" if count == 1 else f"{count} {several or f'{noun}s'}"


def brief_number(value: float) -> Number:
    """A number of any size in as few characters as say it: 0.001, 1e-12, 75."""
    return Number(value, f"{value:.4g}".replace("-", "\N{MINUS SIGN}"))


def percent(part: float) -> Number:
    """A part of one as a percentage; 100% only if it is all of it, and 0% only if it is nothing."""
    text = f"{100 * part:.0f}"
    if (text == "100" and part < 1) or (text == "0" and part > 0):
        text = f"{100 * part:.1f}"
    return Number(part, f"{text}%")


def with_error(mean: float, error: float, digits: int = 3) -> tuple[Inline, ...]:
    """A mean and its standard error."""
    return (number(mean, digits), " ± ", number(error, digits))
