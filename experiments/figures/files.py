"""Figures as files: NAME.svg, NAME.png, and the captions of all in one."""

from collections.abc import Sequence
from pathlib import Path

from wfairl.core.support.errors import BadInputError
from wfairl.core.support.files import write_atomically, write_json
from wfairl.pages.captioned_figure import CaptionedFigure

CAPTIONS = "captions.json"


def write_figures(figures: Sequence[CaptionedFigure], directory: Path) -> tuple[Path, ...]:
    """Write every figure as SVG and as PNG, and all captions as JSON.

    Returns:
        The files, those of the first figure first; the captions last.

    Raises:
        BadInputError: two figures have the same name, or a file cannot be written.
    """
    names = [figure.name for figure in figures]
    duplicates = sorted({name for name in names if names.count(name) > 1})
    if duplicates:
        raise BadInputError(f"two figures are called {duplicates[0]!r}: one would replace the other")
    directory = Path(directory)
    written = []
    for figure in figures:
        for suffix, content in ((".svg", figure.to_svg()), (".png", figure.to_png())):
            written.append(directory / f"{figure.name}{suffix}")
            write_atomically(written[-1], content)
    written.append(directory / CAPTIONS)
    write_json(written[-1], {figure.name: {"caption": figure.caption, "alt": figure.alt} for figure in figures})
    return tuple(written)
