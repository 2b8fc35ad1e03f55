"""Figures with captions, as SVG and as PNG: the same bytes for the same figure."""

import base64
import io
from dataclasses import dataclass
from typing import Any, ClassVar

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

DOTS_PER_INCH = 300

PIXELS_PER_INCH = 200
"""Of the pixels in an SVG."""

MARGIN = 0.06
"""Inches of white around the drawing."""

_SVG_SETTINGS = {
    "svg.hashsalt": "wfairl",  # identifiers follow from the content, not from chance
    "svg.fonttype": "path",  # letters as paths: the same on a machine without the font
}


@dataclass(frozen=True, eq=False)
class CaptionedFigure:
    """A figure and its texts; a block of a page, on a white card, since its colours are for white paper.

    Attributes:
        name: of its files, without a suffix.
        figure: the drawing.
        caption: for the reader.
        alt: a description, for readers who do not see it.
    """

    template: ClassVar[str] = "figure"
    name: str
    figure: Figure
    caption: str
    alt: str

    @property
    def source(self) -> str:
        """The figure as a data URI for an `<img>`, in which an SVG can neither run scripts nor load anything."""
        return f"data:image/svg+xml;base64,{base64.b64encode(self.to_svg()).decode()}"

    def to_svg(self) -> bytes:
        """The figure as SVG, without a date."""
        with matplotlib.rc_context(_SVG_SETTINGS):  # the writer has no other settings
            return self._print(FigureCanvasSVG(self.figure), "svg", {"Date": None, "Creator": None}, PIXELS_PER_INCH)

    def to_png(self, dots_per_inch: float = DOTS_PER_INCH) -> bytes:
        """The figure as PNG."""
        return self._print(FigureCanvasAgg(self.figure), "png", {"Software": None}, dots_per_inch)

    def _print(self, canvas: Any, kind: str, metadata: dict[str, None], dots_per_inch: float) -> bytes:
        stream = io.BytesIO()
        paper = self.figure.bbox_inches.padded(MARGIN)
        canvas.print_figure(stream, format=kind, dpi=dots_per_inch, bbox_inches=paper, metadata=metadata)
        return stream.getvalue()
