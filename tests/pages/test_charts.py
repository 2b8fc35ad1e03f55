"""Curves go through their points."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wfairl.pages.charts import draw_lines


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=60))
def test_a_curve_goes_through_its_points_and_epochs_are_whole_numbers(values):
    points = tuple(enumerate(values))
    chart = draw_lines({"loss": points}, "epoch", "loss per step", "")
    (axes,) = chart.figure.axes
    np.testing.assert_array_equal(axes.lines[0].get_xydata(), points)
    assert all(tick == int(tick) for tick in axes.get_xticks())
    assert f"from {values[0]:.4g} to {values[-1]:.4g}" in chart.alt


@pytest.mark.parametrize("x", [0, 9])
def test_a_marked_point_is_where_it_was_and_its_text_stays_inside(x):
    points = tuple((i, float(i)) for i in range(10))
    chart = draw_lines({"loss": points}, "epoch", "loss", "", mark=(x, float(x), "here"))
    (axes,) = chart.figure.axes
    (mark,) = [line for line in axes.lines if line.get_label() == "mark"]
    assert mark.get_xydata().tolist() == [[x, x]]
    chart.to_png(50)
    box = axes.texts[0].get_window_extent().transformed(axes.transAxes.inverted())
    assert box.x0 > 0
    assert box.x1 < 1
