"""Figures with captions."""

import base64
from dataclasses import dataclass
from typing import ClassVar

from matplotlib.figure import Figure

from wfairl.pages import style

MARGIN = 0.06
"""Inches of white around the drawing."""

DARK = {
    style.INK: "#e7e9ea",
    style.GREY: "#9aa4ac",
    style.PAPER: "#1b1f23",
    "#14735a": "#5fcfa6",
    "#b4552d": "#e58f66",
    "#eeece7": "#2a3036",
}
"""The colours of figures, each with its counterpart on a dark page."""


@dataclass(frozen=True, eq=False)
class CaptionedFigure:
    """A figure and its texts; a block of a page."""

    template: ClassVar[str] = "figure"
    name: str  # of its files, without a suffix
    figure: Figure  # the drawing
    caption: str  # for the reader
    alt: str  # a description, for readers who do not see it

    @property
    def source(self) -> str:
        """The figure as a data URI for an `<img>`, in which an SVG can neither run scripts nor load anything.

        It has no background. Its colours are those of the page, light or dark, and its text is text.
        """
        svg = self.to_svg("none").decode().replace(f"'{style.FONT}'", f"'{style.FONT}', sans-serif")
        for number, light in enumerate(DARK):
            svg = svg.replace(light, f"var(--c{number},{light})")
        dark = "".join(f"--c{number}:{colour};" for number, colour in enumerate(DARK.values()))
        own = f"@media(prefers-color-scheme:dark){{svg{{{dark}}}}}#patch_1{{display:none}}"
        svg = svg.replace("<defs>", f"<style>{own}</style><defs>", 1)
        return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"

    def to_svg(self, text: str = "path") -> bytes:
        """The figure as SVG; see `print_figure` for the text."""
        return style.print_figure(self.figure, "svg", 200, MARGIN, text)
