import io
import string
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot
from PIL import Image

from wfairl.pages.automata.label_differences import MINUS, format_difference
from wfairl.pages.captioned_figure import MARGIN, CaptionedFigure
from wfairl.pages.style import PALETTE, new_figure, place, plain_axes, print_figure, write

DOTS_PER_INCH = 300


def _draw(title: str = "a $10 & <b> task") -> CaptionedFigure:
    figure = new_figure(3, 2)
    plain_axes(place(figure, 0.8, 0.2, 2.0, 1.2), "demonstrations", title)
    return CaptionedFigure("demonstrations", figure, "a caption", "what it shows")


def _png(drawn: CaptionedFigure) -> bytes:
    return print_figure(drawn.figure, "png", DOTS_PER_INCH, MARGIN)


def test_the_same_figure_has_the_same_bytes():
    assert _draw().to_svg() == _draw().to_svg()
    assert _png(_draw()) == _png(_draw())


def test_another_figure_has_other_bytes():
    other = _draw("another task")
    assert other.to_svg() != _draw().to_svg()
    assert _png(other) != _png(_draw())


def test_drawing_leaves_nothing_behind_in_matplotlib():
    before, figure = dict(matplotlib.rcParams), _draw()
    figure.to_svg(), _png(figure)
    assert dict(matplotlib.rcParams) == before
    assert pyplot.get_fignums() == []


def test_images_open_and_have_the_size_of_the_figure_and_a_margin():
    figure = _draw()
    width, height = figure.figure.get_size_inches() + 2 * MARGIN
    svg = ElementTree.fromstring(figure.to_svg())
    assert float(svg.attrib["width"].removesuffix("pt")) == pytest.approx(72 * width)
    assert b"date" not in figure.to_svg().lower()
    with Image.open(io.BytesIO(_png(figure))) as image:
        assert image.size == (round(DOTS_PER_INCH * width), round(DOTS_PER_INCH * height))


def test_nothing_touches_the_edge_of_a_file():
    pixels = np.asarray(Image.open(io.BytesIO(_png(_draw()))).convert("RGB"))
    for edge in (pixels[:4], pixels[-4:], pixels[:, :4], pixels[:, -4:]):
        assert (edge == 255).all()


def test_text_is_never_read_as_mathematics():
    figure = new_figure(1, 1)
    write(figure, 0.1, 0.5, "$x_1$ and $ and \\")
    content = _png(CaptionedFigure("text", figure, "", ""))
    assert Image.open(io.BytesIO(content)).size == (round(DOTS_PER_INCH * (1 + 2 * MARGIN)),) * 2


def test_colours_differ_in_lightness_from_paper():
    # What is told by colour is told in words too; but even without colour no line may vanish on white.
    for colour in PALETTE:
        red, green, blue = matplotlib.colors.to_rgb(colour)
        assert 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.75


_labels = st.frozensets(st.text(string.ascii_lowercase, min_size=1, max_size=3), max_size=4)


@given(_labels, _labels)
def test_a_difference_says_what_the_next_label_is(before, label):
    difference = format_difference(before, label)
    after = set(before)
    for sign in difference.split() if before != label else []:
        if sign.startswith(MINUS):
            after.remove(sign[1:])
        else:
            assert sign[0] == "+"
            assert sign[1:] not in after
            after.add(sign[1:])
    assert after == label
