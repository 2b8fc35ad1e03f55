"""Figures of what was learned: the automaton, curves, returns."""

import pytest
from matplotlib.patches import FancyArrowPatch

from experiments.figures.automata import draw_automaton
from experiments.figures.curves import draw_curves, read_history
from experiments.figures.returns import Point, ReturnRow, draw_demonstration_curve, draw_returns
from wfairl.core.costs.checkpoint import BrokenMetricsError
from wfairl.core.demonstrations.learners import Reading
from wfairl.core.spectral.task_learner import SpectralTaskLearner
from wfairl.core.support.documents import write_lines
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


# --- curves

METRICS = [
    {"epoch": 0, "learning_rate": 0.0, "train_loss": None, "held_out_loss": 0.9},
    {"epoch": 1, "train_loss": 0.7, "held_out_loss": 0.5, "something_else": "new"},
    {"epoch": 2, "train_loss": 0.4, "held_out_loss": 0.6},
]


def test_curves_are_the_metrics_of_the_runs(tmp_path):
    write_lines(tmp_path / "metrics.jsonl", METRICS)
    histories = {"a": read_history(tmp_path), "b": read_history(tmp_path)}
    figure = draw_curves(histories).figure
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["a", "b"]
    for axes in figure.axes:
        lines = {line.get_label(): [list(values) for values in line.get_data()] for line in axes.lines}
        assert lines == {
            "training": [[1, 2], [0.7, 0.4]],
            "held out": [[0, 1, 2], [0.9, 0.5, 0.6]],
            "selected": [[1], [0.5]],
        }
    assert len({axes.get_ylim() for axes in figure.axes}) == 1


@pytest.mark.parametrize("epochs", [1, 2, 5, 10, 50, 150])
def test_epochs_are_whole_numbers(tmp_path, epochs):
    lines = [{"epoch": epoch, "train_loss": 0.5, "held_out_loss": 0.5} for epoch in range(epochs + 1)]
    write_lines(tmp_path / "metrics.jsonl", lines)
    (axes,) = draw_curves({"a": read_history(tmp_path)}).figure.axes
    assert [float(tick) % 1 for tick in axes.get_xticks()] == [0] * len(axes.get_xticks())
    shown = [tick for tick in axes.get_xticks() if 0 <= tick <= epochs]
    assert len(shown) >= 2


def test_a_run_of_several_networks_has_a_training_for_each(tmp_path):
    lines = [{"network": network, **line} for network in range(3) for line in METRICS]
    write_lines(tmp_path / "metrics.jsonl", lines)
    history = read_history(tmp_path)
    assert [training.epochs for training in history.trainings] == [(0, 1, 2)] * 3
    axes = draw_curves({"a": history}).figure.axes[0]
    assert [line.get_label() for line in axes.lines] == ["training", "held out", "selected"] * 3


def test_where_errors_are_counted_they_choose_the_epoch(tmp_path):
    lines = [{**line, "held_out_errors": errors} for line, errors in zip(METRICS, (0.5, 0.2, 0.1), strict=True)]
    write_lines(tmp_path / "metrics.jsonl", lines)
    drawn = draw_curves({"a": read_history(tmp_path)})
    assert [list(values) for values in drawn.figure.axes[0].lines[-1].get_data()] == [[2], [0.6]]
    assert "fewest held-out errors" in drawn.caption


def test_a_run_with_nothing_held_out_has_one_curve_and_no_epoch_that_is_kept(tmp_path):
    lines = [{**line, "held_out_loss": None} for line in METRICS]
    write_lines(tmp_path / "metrics.jsonl", lines)
    drawn = draw_curves({"a": read_history(tmp_path)})
    assert [line.get_label() for line in drawn.figure.axes[0].lines] == ["training"]
    assert "Dots" not in drawn.caption


@pytest.mark.parametrize(
    ("text", "says"),
    [("", "no epoch"), ('{"epoch": 0}\nnot json\n', "line 2"), ("[1]\n", "line 1")],
)
def test_broken_metrics_are_named_with_their_line(tmp_path, text, says):
    (tmp_path / "metrics.jsonl").write_text(text)
    with pytest.raises(BrokenMetricsError, match=says):
        read_history(tmp_path)


def test_metrics_without_an_epoch_are_named_with_their_line(tmp_path):
    write_lines(tmp_path / "metrics.jsonl", [{"train_loss": 1}])
    with pytest.raises(BrokenMetricsError, match="line 1"):
        read_history(tmp_path)


def test_a_history_without_any_loss_is_still_drawn(tmp_path):
    write_lines(tmp_path / "metrics.jsonl", [{"epoch": 0}, {"epoch": 1, "train_loss": float("nan")}])
    drawn = draw_curves({"other method": read_history(tmp_path)})
    assert list(drawn.figure.axes[0].lines) == []
    assert drawn.to_png()


# --- returns

ROWS = [
    ReturnRow("t1", "D1", "ours", 0.7, 0.02, 0.8),
    ReturnRow("t1", "D1", "theirs", 0.3, 0.05, 0.5),
    ReturnRow("t1", "D2", "ours", 0.6, 0.03, None),
    ReturnRow("t2", "D1", "ours", 0.5, 0.01, 0.55),
    ReturnRow("t1", "", "optimal", 0.9, 0.004, 0.9),
]


def test_dots_are_the_rows_and_references_stand_in_every_panel_of_their_task():
    drawn = draw_returns(ROWS)
    panels = drawn.figure.axes[:4]  # D1: t1, t2; D2: t1, t2
    shown = [
        {
            line.get_label(): line.get_xdata()[0]
            for line in axes.lines
            if str(line.get_label()).startswith(("ours", "paper"))
        }
        for axes in panels
    ]
    assert shown == [
        {"ours-ours": 0.7, "paper-ours": 0.8, "ours-theirs": 0.3, "paper-theirs": 0.5, "ours-optimal": 0.9,
         "paper-optimal": 0.9},
        {"ours-ours": 0.5, "paper-ours": 0.55},
        {"ours-ours": 0.6, "ours-optimal": 0.9, "paper-optimal": 0.9},
        {},
    ]  # fmt: skip
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
        draw_returns([])


def test_the_curve_over_demonstrations_goes_through_its_points_in_order():
    points = [Point("ours", 8, 0.6, 0.1), Point("theirs", 2, 0.1, 0.1), Point("ours", 1, 0.2, 0.1)]
    drawn = draw_demonstration_curve(points, optimal=0.8, expert=0.7, title="T1")
    assert drawn.caption.startswith("Mean return on T1 over the number of demonstrations")
    axes = drawn.figure.axes[0]
    lines = {line.get_label(): line for line in axes.lines}
    assert [list(values) for values in lines["method-ours"].get_data()] == [[1, 8], [0.2, 0.6]]
    assert [list(values) for values in lines["method-theirs"].get_data()] == [[2], [0.1]]
    assert set(lines["optimal"].get_ydata()) == {0.8}
    assert set(lines["expert"].get_ydata()) == {0.7}


def test_panels_are_called_as_the_paper_calls_its_tasks_whichever_are_there():
    figure = draw_returns([ReturnRow(task, "D1", "ours", 0.5, 0.1, None) for task in ("multiroom", "my own")]).figure
    assert [axes.get_title(loc="left") for axes in figure.axes[:2]] == ["T2 multiroom", "my own"]
