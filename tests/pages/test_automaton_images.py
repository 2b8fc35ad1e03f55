"""Laws of drawings: nothing is lost, nothing overlaps, and other tools can read them."""

import re
from io import BytesIO
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import FancyArrowPatch
from PIL import Image

from wfairl.core.automata.automaton import DEAD
from wfairl.core.automata.finite import FiniteAutomaton
from wfairl.core.automata.rules import all_of, avoid, visit_all, visit_in_order
from wfairl.core.automata.words import format_label
from wfairl.core.spectral.task_learner import SpectralTaskLearner
from wfairl.pages.automata.dot import to_dot
from wfairl.pages.automata.figures import draw_layout, draw_side_by_side, sentences_picture
from wfairl.pages.automata.images import LOST, automaton_svg
from wfairl.pages.automata.layout import CHARACTER_WIDTH, LINE_HEIGHT, RADIUS, TIMES, WIDEST, lay_out, points_on
from wfairl.pages.style import new_figure, print_figure
from wfairl.specifications.formats import FORMATS

NOTHING, KEY = frozenset(), frozenset({"key"})
KEY_DOOR, ALL = frozenset({"key", "door"}), frozenset({"key", "door", "goal"})

CHAIN = SpectralTaskLearner().fit([(NOTHING, KEY, KEY_DOOR, ALL)] * 3, [1.0] * 3).model
BRANCHES = (
    SpectralTaskLearner()
    .fit(
        [(NOTHING, KEY, KEY_DOOR, ALL), (NOTHING, KEY, NOTHING, KEY, KEY_DOOR, ALL), (NOTHING, KEY_DOOR, ALL)],
        [1.0] * 3,
    )
    .model
)
STEPS = [f"T{i:02d} check the {name} request of the applicant" for i, name in enumerate(["first", "second", "third"])]
OTHERS = [f"T{i:02d} write a letter" for i in range(3, 13)]
PROCESS = FiniteAutomaton(  # the three steps in their order, and everything else at any time
    tuple(frozenset({name}) for name in (*STEPS, *OTHERS)),
    np.array([[q + 1 if i == q else DEAD for i in range(3)] + [q] * 10 for q in range(4)], np.int32),
    np.arange(4) == 3, (np.arange(4) == 3).astype(float), (None,) * 4, keep_repeats=True,
)  # fmt: skip
PAPERS = ("form", "plan", "map", "list", "bill", "note", "sheet", "page", "card", "book", "file")
STAGES = [frozenset({f"look at the {name}"}) for name in PAPERS]
LONG = (  # longer than a screen is wide: words that share their ends, and a short cut
    SpectralTaskLearner()
    .fit([STAGES, [*STAGES[:4], *STAGES[6:]], [*STAGES[:7], STAGES[8], STAGES[7], *STAGES[9:]]], [1.0] * 3)
    .model.finite
)
RULE = visit_in_order("key", "door", "goal")
AVOIDING = all_of(visit_all("key", "door"), avoid("lava"))
AUTOMATA = [CHAIN.finite, BRANCHES.finite, RULE, AVOIDING, PROCESS, LONG]


def boxes(layout):
    texts = [
        (
            edge.label_centre[0] - max(map(len, edge.lines)) * CHARACTER_WIDTH / 2,
            edge.label_centre[1] - len(edge.lines) * LINE_HEIGHT / 2,
            edge.label_centre[0] + max(map(len, edge.lines)) * CHARACTER_WIDTH / 2,
            edge.label_centre[1] + len(edge.lines) * LINE_HEIGHT / 2,
        )
        for edge in layout.edges
    ]
    states = [(x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS) for x, y in layout.centres]
    return states, texts


def overlap(a, b):
    return min(a[2], b[2]) > max(a[0], b[0]) and min(a[3], b[3]) > max(a[1], b[1])


@pytest.mark.parametrize("automaton", AUTOMATA)
def test_states_and_texts_do_not_overlap_and_lie_on_the_page(automaton):
    layout = lay_out(automaton)
    states, texts = boxes(layout)
    everything = states + texts
    for i, first in enumerate(everything):
        assert first[0] >= 0
        assert first[1] >= 0
        assert first[2] <= layout.width
        assert first[3] <= layout.height
        assert not any(overlap(first, second) for second in everything[i + 1 :])


@pytest.mark.parametrize("automaton", AUTOMATA)
def test_edges_run_from_rim_to_rim_and_through_no_other_state(automaton):
    layout = lay_out(automaton)
    for edge in layout.edges:
        for end, state in ((0, edge.source), (3, edge.target)):
            assert np.linalg.norm(edge.curve[end] - layout.centres[state]) == pytest.approx(RADIUS)
        for point in points_on(edge.curve, 21):
            distances = np.linalg.norm(layout.centres - point, axis=1)
            distances[[edge.source, edge.target]] = np.inf
            assert distances.min() > RADIUS


def test_a_chain_reads_from_left_to_right():
    layout = lay_out(CHAIN.finite, CHAIN.edge_counts)
    assert (np.diff(layout.centres[:, 0]) > 0).all()
    assert np.ptp(layout.centres[:, 1]) == 0
    assert [edge.lines[0].split("  ")[0] for edge in sorted(layout.edges, key=lambda e: e.source)] == [
        "-",
        "key",
        "door & key",
        "door & goal & key",
    ]
    assert all(edge.lines[0].endswith(f"  {TIMES}3") for edge in layout.edges)


def test_long_names_are_written_in_several_lines_and_a_loop_of_many_is_counted():
    layout = lay_out(PROCESS)
    texts = {(edge.source, edge.target): " ".join(edge.lines) for edge in layout.edges}
    assert texts == {(i, i + 1): step for i, step in enumerate(STEPS)} | {(i, i): "any of 10 others" for i in range(4)}
    assert max(len(line) for edge in layout.edges for line in edge.lines) <= WIDEST
    assert layout.width < 1_200


def test_a_long_automaton_winds_back_and_forth_within_the_width_of_a_screen():
    layout = lay_out(LONG)
    assert layout.width < 1_700
    across = np.diff(layout.centres[LONG.run(tuple(STAGES))], axis=0)
    there, back = across[:, 0] > 1, across[:, 0] < -1
    assert there.argmin() < back.argmax()
    assert np.abs(across[there | back, 1]).max() < across[~(there | back), 1].min()


def test_svg_is_well_formed_and_shows_every_state_and_label():
    root = ElementTree.fromstring(automaton_svg(BRANCHES.finite))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert [str(state) for state in range(BRANCHES.finite.states)] == [text for text in texts if text.isdigit()]
    for _, label, _ in BRANCHES.finite.edges():
        assert format_label(label) in texts


def test_a_page_finds_every_state_and_edge_of_a_drawing():
    root = ElementTree.fromstring(automaton_svg(BRANCHES.finite))
    groups = list(root.iter("{http://www.w3.org/2000/svg}g"))
    states = {int(group.get("data-state")) for group in groups if group.get("data-state")}
    assert states == set(range(BRANCHES.finite.states))
    ends = {(int(g.get("data-source")), int(g.get("data-target"))) for g in groups if g.get("data-source")}
    assert ends == {(source, target) for source, _, target in BRANCHES.finite.edges()}
    accepting = {int(g.get("data-state")) for g in groups if g.get("class") == "state accepting"}
    assert accepting == set(np.flatnonzero(BRANCHES.finite.accepting).tolist())


def test_names_from_a_file_cannot_break_out_of_svg_or_dot():
    nasty = frozenset({'<script>"&\\\n'})
    automaton = FiniteAutomaton(
        (nasty,), np.array([[1], [DEAD]], np.int32), np.array([False, True]), np.array([0.0, 1.0]), (None, nasty)
    )
    svg = automaton_svg(automaton)
    assert "<script>" not in svg
    ElementTree.fromstring(svg)
    assert r'[label="<script>\"&\\ "]' in to_dot(automaton)


def test_png_is_a_picture_twice_the_size_of_the_layout_that_fits_on_a_screen(tmp_path):
    (tmp_path / "task.png").write_bytes(FORMATS["png"].write(BRANCHES.finite, {}))
    layout = lay_out(BRANCHES.finite)
    with Image.open(tmp_path / "task.png") as picture:
        zoom = min(2, 1920 / layout.width, 1080 / layout.height)
        assert picture.size == pytest.approx((zoom * layout.width, zoom * layout.height), abs=2)
        assert len(picture.convert("RGB").getcolors(10**7)) > 10


def test_dot_holds_every_edge_once():
    text = to_dot(BRANCHES.finite, BRANCHES.edge_counts)
    drawn = set(re.findall(r"^  (\d+) -> (\d+) ", text, re.MULTILINE))
    assert drawn == {(str(source), str(target)) for source, _, target in BRANCHES.finite.edges()}
    assert text.count("doublecircle") == int(BRANCHES.finite.accepting.sum())


def test_a_drawing_of_guards_shows_what_is_waited_for_and_what_loses_the_task():
    texts = {arrow.text for arrow in AVOIDING.arrows()}
    root = ElementTree.fromstring(automaton_svg(AVOIDING))
    groups = list(root.iter("{http://www.w3.org/2000/svg}g"))
    lost = [group for group in groups if group.get("class") == "lost"]
    assert {group.get("data-state") for group in lost} == {str(DEAD)}
    shown = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert texts - {"lava"} <= shown
    assert "never lava" in shown  # in every state, so that it is no edge
    dot = to_dot(AVOIDING)
    assert all(text in dot for text in texts)
    assert len(re.findall(r"^  lost \[", dot, re.MULTILINE)) == 1


def test_an_arrow_counts_the_words_that_took_it():
    label, other = frozenset({"key"}), frozenset({"key", "door"})
    counts = {(0, label): 3, (0, other): 2}
    by_target = {arrow.target: arrow.count(counts) for arrow in AVOIDING.arrows() if arrow.source == 0}
    assert by_target == {target: times for target, times in by_target.items() if target == DEAD or times in (0, 2, 3)}
    assert by_target[AVOIDING.read(0, label)] == 3
    assert by_target[AVOIDING.read(0, other)] == 2
    assert by_target[DEAD] == 0


def test_marked_edges_and_no_others_have_another_colour():
    figure = new_figure(4, 4)
    draw_layout(figure, lay_out(RULE), 0, 0, marked={(0, 1), (2, 3)})
    arrows = [patch for patch in figure.axes[0].patches if isinstance(patch, FancyArrowPatch)]
    marked = {arrow.get_label() for arrow in arrows if to_hex(arrow.get_edgecolor()) == LOST}
    assert marked == {"edge-0-1", "edge-2-3"}


def test_a_picture_of_two_shows_both_automata_and_the_words_as_text():
    automata = visit_in_order("<b>", "&"), visit_in_order("&")
    figure = draw_side_by_side(("<script>", "b.json"), automata, (frozenset("&"),), ("These differ:",))
    assert [text.get_text() for text in figure.texts] == ["<script>", "b.json", "These differ:"]
    states = [text.get_text() for axes in figure.axes for text in axes.texts if text.get_text().isdigit()]
    assert states == ["0", "1", "2", "0", "1"]
    arrows = [patch for axes in figure.axes for patch in axes.patches if isinstance(patch, FancyArrowPatch)]
    marked = [arrow for arrow in arrows if to_hex(arrow.get_edgecolor()) == LOST]
    assert [arrow.get_label() for arrow in marked] == ["edge-0-1"]  # '&' moves the second automaton alone
    assert marked[0] in figure.axes[1].patches


def test_a_picture_of_two_can_be_read_as_svg_and_as_pixels():
    drawn = draw_side_by_side(("one", "other"), (RULE, AVOIDING), (ALL, KEY), ("These differ:",))
    assert ElementTree.fromstring(print_figure(drawn, "svg", 144)).tag.endswith("svg")
    with Image.open(BytesIO(print_figure(drawn, "png", 144))) as picture:
        colours = {colour for _, colour in picture.convert("RGB").getcolors(10**7)}
    assert tuple(bytes.fromhex(LOST[1:])) in colours


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_a_picture_of_sentences_has_the_same_bytes_again(kind):
    one, again = (sentences_picture(["first a", "never b after a"], kind) for _ in range(2))
    assert one == again
