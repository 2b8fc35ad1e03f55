"""Charts: bars are means, whiskers errors, and curves go through their points."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wfairl.core.support.errors import BadInputError
from wfairl.pages.charts import Interval, Series, draw_intervals, draw_lines


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=5))
def test_a_bar_is_as_long_as_its_mean_and_its_whisker_as_wide_as_the_errors(pairs):
    chart = draw_intervals([Interval(f"row {i}", mean, error) for i, (mean, error) in enumerate(pairs)], "means")
    (axes,) = chart.figure.axes
    bars = [bar for bar in axes.patches if bar.get_label().startswith("row")]
    whiskers = [container.lines[2][0].get_segments()[0] for container in axes.containers if hasattr(container, "lines")]
    for bar, whisker, (mean, error) in zip(bars, whiskers, pairs, strict=True):
        assert bar.get_width() == pytest.approx(mean)
        assert whisker[:, 0] == pytest.approx([mean - error, mean + error])
    texts = [text.get_text() for text in axes.texts]
    assert texts == [
        text for i, (mean, error) in enumerate(pairs) for text in (f"row {i}", f"{mean:.3f} ± {error:.3f}")
    ]


def test_a_single_sample_has_no_error():
    chart = draw_intervals([Interval("one", 0.25, None)], "means")
    assert [text.get_text() for text in chart.figure.axes[0].texts] == ["one", "0.250"]


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=60))
def test_a_curve_goes_through_its_points_and_epochs_are_whole_numbers(values):
    points = tuple(enumerate(values))
    chart = draw_lines([Series("loss", points)], "epoch", "loss per step", "")
    (axes,) = chart.figure.axes
    np.testing.assert_array_equal(axes.lines[0].get_xydata(), points)
    assert all(tick == int(tick) for tick in axes.get_xticks())
    assert f"from {values[0]:.4g} to {values[-1]:.4g}" in chart.alt


@pytest.mark.parametrize("x", [0, 9])
def test_a_marked_point_is_where_it_was_and_its_text_stays_inside(x):
    points = tuple((i, float(i)) for i in range(10))
    chart = draw_lines([Series("loss", points)], "epoch", "loss", "", mark=(x, float(x), "here"))
    (axes,) = chart.figure.axes
    (mark,) = [line for line in axes.lines if line.get_label() == "mark"]
    assert mark.get_xydata().tolist() == [[x, x]]
    chart.to_png(50)
    box = axes.texts[0].get_window_extent().transformed(axes.transAxes.inverted())
    assert box.x0 > 0
    assert box.x1 < 1


def test_a_curve_without_finite_points_is_refused():
    for points in ((), ((0, float("nan")),)):
        with pytest.raises(BadInputError, match="the curve 'loss' has no points"):
            Series("loss", points)
