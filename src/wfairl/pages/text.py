"""Text of a page: strings, numbers, code and labels."""

import math
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Number:
    """A number for people and for machines."""

    template: ClassVar[str] = "number"
    value: float  # the exact number, the value of a `<data>` element
    text: str  # the rounded number


@dataclass(frozen=True)
class Code:
    """A command, a file name or a setting."""

    template: ClassVar[str] = "code"
    text: str


@dataclass(frozen=True)
class Chips:
    """A row of small labels, such as a word."""

    template: ClassVar[str] = "chips"
    labels: tuple[str, ...]


Inline = str | Number | Code | Chips
Text = Inline | tuple[Inline, ...]
"""The content of a sentence, a cell or a caption."""


def number(value: float, digits: int = 3) -> Number:
    """A number with some digits after the point; an integer with all of its digits."""
    if isinstance(value, int):
        return Number(value, f"{value:,}".replace(",", "\N{NARROW NO-BREAK SPACE}"))
    if not math.isfinite(value):
        return Number(value, "\N{INFINITY}" if value == math.inf else str(value))
    return Number(value, f"{value:.{digits}f}".replace("-", "\N{MINUS SIGN}"))


def counted(count: int, noun: str, several: str = "") -> str:
    """A number with its noun: 1 scene, 2 scenes; `several` is an irregular plural."""
    return f"{count} {noun}" if count == 1 else f"{count} {several or f'{noun}s'}"


def capitalised(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


def brief_number(value: float) -> Number:
    """A number with four significant digits: 0.001, 1e-12, 75."""
    return Number(value, f"{value:.4g}".replace("-", "\N{MINUS SIGN}"))


def percent(part: float) -> Number:
    """A fraction as a percentage; 100% only if it is exactly 1, and 0% only if it is exactly 0."""
    text = f"{100 * part:.0f}"
    if (text == "100" and part < 1) or (text == "0" and part > 0):
        text = f"{100 * part:.1f}"
    return Number(part, f"{text}%")
