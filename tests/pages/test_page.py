"""Laws of pages: text stays text, nothing is loaded from elsewhere, and every block says what it was given."""

import base64
import hashlib
import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from matplotlib.figure import Figure as MatplotlibFigure
from oracles_report import numbers_in, read_page
from report_blocks import block_html, text_html

from wfairl.core.automata.automaton import Guard
from wfairl.core.automata.finite import FiniteAutomaton
from wfairl.core.automata.guarded import Edge, GuardedAutomaton
from wfairl.pages.automata.layout import TIMES
from wfairl.pages.blocks import (
    MAX_DRAWN_STATES,
    AutomatonDrawing,
    Command,
    Facts,
    Figure,
    KeyFigure,
    KeyFigures,
    figure_of,
    prose,
)
from wfairl.pages.captioned_figure import CaptionedFigure
from wfairl.pages.charts import Interval, IntervalChart, LineChart, Series, ticks
from wfairl.pages.page import Page, Section, page_html, write_page
from wfairl.pages.tables import Column, RaggedTableError, Table, TableCell
from wfairl.pages.text import Chips, Code, Number, number, percent, with_error

NASTY = "</script><script>alert(1)</script> <img src=x onerror=alert(2)> \"'&lt; $title ${style} ]]>"

texts = st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=40) | st.just(NASTY)


def page_of(*blocks, title="a page"):
    return Page(title, "below it", (Section("one", blocks),))


def all_blocks(text):
    label = frozenset({text})
    finite = FiniteAutomaton(
        (label,), np.array([[1], [1]], np.int32), np.array([False, True]), np.ones(2), (None, label)
    )
    guarded = GuardedAutomaton(((Edge(Guard(label), 1),), ()), np.array([False, True]))
    return (
        prose(text, (text, Code(text), Number(1.5, text), Chips((text,)))),
        Facts(((text, text),), text),
        KeyFigures((KeyFigure(text, text, text),)),
        Command(text),
        Figure(f"<svg>{text}</svg>", text, text),
        Table((Column(text),), ((TableCell(text, text),),), text),
        IntervalChart((Interval(text, 0.5, 0.1),), caption=text),
        LineChart((Series(text, ((0, 1), (1, 2))),), text, text, (0, 1, text), text),
        AutomatonDrawing(finite, {(0, label): 3}, text),
        AutomatonDrawing(guarded, None, text),
    )


@given(texts, texts)
def test_text_comes_back_as_it_was_and_is_never_markup(title, text):
    html = page_html(Page(title, text, (Section(text, all_blocks(text)),), text, text))
    root = read_page(html)
    assert root.one("title").text == root.one("h1").text == title
    assert root.one("h2").text == text
    assert root.one("p", class_="subtitle").text == text
    assert root.one("p", class_="kind").text == text
    assert root.one("footer").text.strip() == text.strip()
    assert root.one("pre").text == text
    assert root.one("img").attributes["alt"] == text
    assert [element.tag for element in root.all("script")] == ["script"]
    # Edges of the one that knows its last labels say what changes.
    assert [one.text for one in root.all("text", class_="label")] == [f"+{text}  {TIMES}3", text or "anything"]


def test_only_the_pages_own_script_may_run_and_nothing_may_be_loaded():
    html = page_html(page_of(*all_blocks(NASTY), title=NASTY))
    root = read_page(html)
    policy = root.one("meta", **{"http-equiv": "Content-Security-Policy"}).attributes["content"]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data:"
    digest = base64.b64encode(hashlib.sha256(root.one("script").text.encode()).digest()).decode()
    assert rules["script-src"] == f"'sha256-{digest}'"
    for element in root.all():
        for name, value in element.attributes.items():
            assert not name.startswith("on")
            if name in ("src", "href"):
                assert value.startswith(("data:", "#"))
    assert not re.search(r"@import|url\(", root.one("style").text)


def test_sections_can_be_reached_from_the_contents_even_with_the_same_title():
    sections = tuple(Section(title, (prose("x"),)) for title in ("Same", "Same", "same!", "∅", "∅"))
    root = read_page(page_html(Page("t", "s", sections)))
    targets = [link.attributes["href"][1:] for link in root.one("nav").all("a")]
    assert targets == [section.attributes["id"] for section in root.all("section")]
    assert len(set(targets)) == len(targets)


def test_a_table_keeps_its_cells_alignment_and_highlights():
    table = Table(
        (Column("name"), Column("return", "right")),
        (("ours", TableCell(number(0.123456789), note="paper 0.1", highlighted=True)), ("theirs", number(2))),
        caption="returns",
        highlighted_rows=frozenset({1}),
    )
    root = read_page(block_html(table))
    assert [[cell.text for cell in row.children] for row in root.all("tr")] == [
        ["name", "return"],
        ["ours", "0.123paper 0.1"],
        ["theirs", "2"],
    ]
    assert numbers_in(root) == [0.123456789, 2]
    assert [cell.text for cell in root.all("td", class_="highlighted")] == ["0.123paper 0.1"]
    assert [row.children[0].text for row in root.all("tr", class_="highlighted")] == ["theirs"]
    assert all("right" in cell.attributes["class"] for cell in root.all("td"))
    assert root.one("figcaption").text == "returns"


def test_a_ragged_table_is_refused():
    with pytest.raises(RaggedTableError, match="a row has 1 cells where the table has 2 columns"):
        Table((Column("a"), Column("b")), (("x",),))


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 6))
def test_a_number_keeps_all_of_its_digits(value, digits):
    assert numbers_in(read_page(text_html(number(value, digits)))) == [value]


@given(st.floats(0, 1))
def test_only_all_is_100_percent_and_only_nothing_is_0(part):
    text = percent(part).text
    assert abs(float(text[:-1]) / 100 - part) <= 0.005 + 1e-12
    assert (text == "100%") == (part == 1)
    assert (text == "0%") == (part == 0)


def test_pictures_stand_in_the_page_byte_for_byte():
    png = bytes(range(256))
    svg = '<svg xmlns="http://www.w3.org/2000/svg"/>'
    root = read_page(page_html(page_of(Figure(png, "p", "a"), Figure(svg, "s", "b"))))
    sources = [image.attributes["src"] for image in root.all("img")]
    assert [base64.b64decode(source.partition(",")[2]) for source in sources] == [png, svg.encode()]
    assert [source.partition(";")[0] for source in sources] == ["data:image/png", "data:image/svg+xml"]


def test_a_captioned_figure_keeps_its_texts():
    drawn = MatplotlibFigure()
    drawn.add_subplot().plot([1, 2, 3])
    figure = figure_of(CaptionedFigure("name", drawn, "what is seen", "what it shows"))
    assert "<svg" in figure.image
    assert (figure.caption, figure.alt) == ("what is seen", "what it shows")


def test_an_automaton_of_very_many_states_is_counted_and_not_drawn():
    states = MAX_DRAWN_STATES + 1
    label = frozenset({"a"})
    chain = np.array([[min(state + 1, states - 1)] for state in range(states)], np.int32)
    automaton = FiniteAutomaton((label,), chain, np.arange(states) == states - 1, np.ones(states), (None,) * states)
    html = block_html(AutomatonDrawing(automaton))
    assert "<svg" not in html
    assert f"{states} states" in html


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=5))
def test_a_bar_is_as_long_as_its_mean_and_its_whisker_as_wide_as_the_errors(pairs):
    chart = IntervalChart(tuple(Interval(str(i), mean, error) for i, (mean, error) in enumerate(pairs)))
    rows = read_page(block_html(chart)).all("li")
    for row, (mean, error) in zip(rows, pairs, strict=True):
        width = float(row.one("rect", class_="value").attributes["width"][:-1])
        whisker = row.all("line")[0].attributes
        low, high = (float(whisker[name][:-1]) for name in ("x1", "x2"))
        assert width == pytest.approx(100 * mean, abs=1e-3)
        assert low == pytest.approx(100 * max(mean - error, 0), abs=1e-3)
        assert high == pytest.approx(100 * min(mean + error, 1), abs=1e-3)
        assert numbers_in(row) == [mean, error]


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6))
@example(0.0, 0.0)
@example(0.0, 5e-324)
@example(131072.0, 1e-10)
def test_ticks_are_few_at_equal_distances_and_hold_the_range_between_them(low, width):
    high = low + width
    found = ticks(low, high)
    assert 2 <= len(found) <= 8
    slack = 1e-7 * max(abs(low), abs(high))
    assert found[0] <= low + slack
    assert found[-1] >= high - slack
    distances = np.diff(found)
    assert (distances > 0).all()
    assert np.ptp(distances) <= 1e-3 * distances.min()
    assert len({f"{tick:.10g}" for tick in found}) == len(found)


@given(st.integers(0, 300), st.integers(0, 300))
def test_whole_ticks_are_whole_and_hold_the_range_between_them(low, width):
    found = ticks(low, low + width, whole=True)
    assert all(tick == int(tick) for tick in found)
    assert found[0] <= low <= low + width <= found[-1]
    assert 2 <= len(set(found)) == len(found) <= 8


def test_nothing_is_written_between_two_epochs():
    chart = LineChart((Series("loss", ((0.0, 1.0), (1.0, 0.5), (2.0, 0.25))),), "epoch", "loss")
    axis = read_page(block_html(chart)).one("svg", class_="x-axis")
    assert [text.text for text in axis.all("text")] == ["0", "1", "2"]


def test_a_curve_runs_from_one_end_of_the_plot_to_the_other():
    chart = LineChart((Series("loss", ((0, 10), (5, 0), (10, 5))),), "epoch", "loss")
    points = read_page(block_html(chart)).one("polyline").attributes["points"].split()
    assert [tuple(map(float, point.split(","))) for point in points] == [(0, 0), (50, 100), (100, 50)]


def test_a_mean_is_written_with_its_error():
    assert [part if isinstance(part, str) else part.text for part in with_error(0.79512, 0.0049)] == [
        "0.795",
        " ± ",
        "0.005",
    ]


def test_a_page_is_written_whole(tmp_path):
    path = tmp_path / "new" / "report.html"
    write_page(page_of(prose("é ∅")), path)
    assert path.read_text("utf-8") == page_html(page_of(prose("é ∅")))
    assert [file.name for file in path.parent.iterdir()] == ["report.html"]
