"""Laws of pages: text stays text, nothing is loaded from elsewhere, and every block says what it was given."""

import base64
import hashlib
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure as MatplotlibFigure
from oracles_report import numbers_in, read_page
from report_blocks import block_html, text_html

from wfairl.core.automata.automaton import Guard
from wfairl.core.automata.finite import FiniteAutomaton
from wfairl.core.automata.guarded import Edge, GuardedAutomaton
from wfairl.core.support.errors import BadInputError
from wfairl.pages.automata.layout import TIMES
from wfairl.pages.blocks import (
    MAX_DRAWN_STATES,
    AutomatonDrawing,
    Column,
    Command,
    Facts,
    PageTable,
    TableCell,
    prose,
)
from wfairl.pages.captioned_figure import CaptionedFigure
from wfairl.pages.page import Page, Section, page_html, write_page
from wfairl.pages.text import Chips, Code, Number, number, percent

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
        Command(text),
        CaptionedFigure("name", MatplotlibFigure(), text, text),
        PageTable((Column(text),), ((TableCell(text, text),),), text),
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
    # Edges of the one that knows its last labels say what changes. A long text is in several lines.
    drawn = "".join(one.text for one in root.all("text", class_="label"))
    assert "".join(drawn.split()) == "".join(f"+{text}{TIMES}3{text or 'anything'}".split())


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
    table = PageTable(
        (Column("name"), Column("return", "right")),
        (("ours", TableCell(number(0.123456789), note="paper 0.1")), ("theirs", number(2))),
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
    assert [row.children[0].text for row in root.all("tr", class_="highlighted")] == ["theirs"]
    assert all("right" in cell.attributes["class"] for cell in root.all("td"))
    assert root.one("figcaption").text == "returns"


def test_a_ragged_table_is_refused():
    with pytest.raises(BadInputError, match="a row has 1 cells where the table has 2 columns"):
        PageTable((Column("a"), Column("b")), (("x",),))


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 6))
def test_a_number_keeps_all_of_its_digits(value, digits):
    assert numbers_in(read_page(text_html(number(value, digits)))) == [value]


@given(st.floats(0, 1))
def test_only_all_is_100_percent_and_only_nothing_is_0(part):
    text = percent(part).text
    assert abs(float(text[:-1]) / 100 - part) <= 0.005 + 1e-12
    assert (text == "100%") == (part == 1)
    assert (text == "0%") == (part == 0)


def test_a_figure_stands_in_the_page_with_its_texts():
    drawn = MatplotlibFigure()
    drawn.add_subplot().set_title("the title")
    figure = CaptionedFigure("name", drawn, "what is seen", "what it shows")
    root = read_page(page_html(page_of(figure)))
    image = root.one("img").attributes
    kind, _, data = image["src"].partition(",")
    assert kind == "data:image/svg+xml;base64"
    assert "the title</text>" in base64.b64decode(data).decode()
    assert (root.one("figcaption").text, image["alt"]) == ("what is seen", "what it shows")


def test_an_automaton_of_very_many_states_is_counted_and_not_drawn():
    states = MAX_DRAWN_STATES + 1
    label = frozenset({"a"})
    chain = np.array([[min(state + 1, states - 1)] for state in range(states)], np.int32)
    automaton = FiniteAutomaton((label,), chain, np.arange(states) == states - 1, np.ones(states), (None,) * states)
    html = block_html(AutomatonDrawing(automaton))
    assert "<svg" not in html
    assert f"{states} states" in html


def test_a_page_is_written_whole(tmp_path):
    path = tmp_path / "new" / "report.html"
    write_page(page_of(prose("é ∅")), path)
    assert path.read_text("utf-8") == page_html(page_of(prose("é ∅")))
    assert [file.name for file in path.parent.iterdir()] == ["report.html"]
