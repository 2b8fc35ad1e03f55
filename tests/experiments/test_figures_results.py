"""Figures of what was learned: the automaton, returns, curves."""

import pandas as pd
import pytest
from matplotlib.patches import FancyArrowPatch

from experiments.figures.automata import draw_automaton
from experiments.figures.results import draw_curves, draw_returns
from wfairl.core.demonstrations.learners import Reading
from wfairl.core.spectral.task_learner import SpectralTaskLearner
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.task_registry import find_task
from wfairl.pages.automata.layout import TIMES
from wfairl.pages.automata.layout_drawing import THICK_LINE, THIN_LINE

DOORKEY = find_task("doorkey")
SEED = 5_003
CELL = 32

# --- the automaton


def _label(text: str) -> frozenset[str]:
    return frozenset(text.split())


OFTEN = tuple(map(_label, ("", "key", "key door", "key door goal")))
SELDOM = tuple(map(_label, ("", "key", "", "key", "key door", "key door goal")))


@pytest.fixture(scope="module")
def model():
    words = [OFTEN] * 6 + [SELDOM] * 2 + [OFTEN[:n] for n in (1, 2, 3)] + [SELDOM[:3]]
    return SpectralTaskLearner().fit(words, [1.0] * 8 + [0.0] * 4, Reading(optional_start=True)).model


def test_the_drawn_automaton_has_every_edge_as_thick_as_it_was_often_taken(model):
    axes = draw_automaton(model).figure.axes[0]
    arrows = {patch.get_label(): patch for patch in axes.patches if isinstance(patch, FancyArrowPatch)}
    texts = [text.get_text() for text in axes.texts]
    counts = {}
    for source, label, target in model.finite.edges():
        times = model.edge_counts.get((source, label), 0)
        counts[source, target] = counts.get((source, target), 0) + times
        before, now = model.finite.last_labels[source] or frozenset(), label
        for name in now - before:
            assert any(f"+{name}" in text and (f"{TIMES}{times}" in text) == (times > 0) for text in texts)
    assert {name for name in arrows if name} == {f"edge-{source}-{target}" for source, target in counts}
    unit = arrows[""].get_linewidth()  # of the arrow into the initial state
    for (source, target), times in counts.items():
        arrow = arrows[f"edge-{source}-{target}"]
        assert arrow.get_linewidth() / unit == pytest.approx(1 + (THICK_LINE / THIN_LINE - 1) * times / 8)
        assert (arrow.get_linestyle() == "-") == (times > 0)
    assert sum(text.isdigit() for text in texts) == model.finite.states


def test_one_word_is_not_called_words():
    words = [OFTEN, OFTEN[:1], OFTEN[:2], OFTEN[:3]]
    drawn = draw_automaton(SpectralTaskLearner().fit(words, [1.0, 0.0, 0.0, 0.0], Reading(optional_start=True)).model)
    assert "(1 word)" in drawn.alt
    assert "(1 words)" not in drawn.alt


# --- returns

COLUMNS = ["task", "data", "method", "mean_return", "standard_error", "published"]

ROWS = pd.DataFrame(
    [
        ("t1", "D1", "ours", 0.7, 0.02, 0.8),
        ("t1", "D1", "theirs", 0.3, 0.05, 0.5),
        ("t1", "D2", "ours", 0.6, 0.03, None),
        ("t2", "D1", "ours", 0.5, 0.01, 0.55),
        ("t1", "", "optimal", 0.9, 0.004, 0.9),
    ],
    columns=COLUMNS,
)
METHODS = ["ours", "theirs", "optimal"]


def test_dots_are_the_rows_and_references_stand_in_every_panel_of_their_task():
    drawn = draw_returns(ROWS)

    def shown(axes):
        lines = [axes.get_legend_handles_labels()[0][0], axes.containers[0][0]]  # of the paper, and ours
        points = [dict(zip(line.get_ydata(), line.get_xdata(), strict=True)) for line in lines]
        return [{METHODS[y]: x for y, x in line.items() if not pd.isna(x)} for line in points]

    assert list(map(shown, drawn.figure.axes)) == [  # D1: t1, t2; D2: t1, t2
        [{"ours": 0.8, "theirs": 0.5, "optimal": 0.9}, {"ours": 0.7, "theirs": 0.3, "optimal": 0.9}],
        [{"ours": 0.55}, {"ours": 0.5}],
        [{"optimal": 0.9}, {"ours": 0.6, "optimal": 0.9}],
        [{}, {}],
    ]
    assert [text.get_text() for text in drawn.figure.axes[0].get_yticklabels()] == METHODS
    assert "theirs on t1 D1: 0.300 here, 0.500 in the paper" in drawn.caption


def test_error_bars_are_one_standard_error_to_each_side():
    axes = draw_returns(ROWS).figure.axes[0]
    reach = [segment for collection in axes.collections for segment in collection.get_segments()]
    ends = sorted((round(float(segment[0, 0]), 9), round(float(segment[1, 0]), 9)) for segment in reach)
    assert ends == [(0.25, 0.35), (0.68, 0.72), (0.896, 0.904)]


def test_what_was_trained_or_tested_less_is_not_held_against_the_paper():
    caption = draw_returns(ROWS, comparable=False).caption
    assert "difference" not in caption
    assert "trained or tested differently" in caption


def test_returns_of_nothing_are_refused():
    with pytest.raises(BadInputError, match="no returns"):
        draw_returns(ROWS[:0])


def test_a_curve_goes_through_its_points_in_order():
    points = [("ours", 8, 0.6, 0.1), ("theirs", 2, 0.1, 0.1), ("ours", 1, 0.2, 0.1)]
    frame = pd.DataFrame(points, columns=["method", "number", "mean", "error"])
    axes = draw_curves("curve", frame, {"optimal": 0.8}, "demonstrations", "return", "").figure.axes[0]
    lines = {one.get_label(): one[0].get_data() for one in axes.containers}
    assert [list(values) for values in lines["ours"]] == [[1, 8], [0.2, 0.6]]
    assert [list(values) for values in lines["theirs"]] == [[2], [0.1]]
    (level,) = [line for line in axes.lines if line.get_label() == "_optimal"]
    assert set(level.get_ydata()) == {0.8}
