"""Curves go through their points."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wfairl.pages.run_training import draw_losses
from wfairl.pages.style import print_figure


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=60))
def test_a_curve_goes_through_its_points_and_epochs_are_whole_numbers(values):
    chart = draw_losses({"loss": dict(enumerate(values))})
    (axes,) = chart.figure.axes
    np.testing.assert_array_equal(axes.lines[0].get_xydata(), tuple(enumerate(values)))
    assert all(tick == int(tick) for tick in axes.get_xticks())
    assert f"from {values[0]:.4g} to {values[-1]:.4g}" in chart.alt


@pytest.mark.parametrize("epoch", [0, 9])
def test_the_selected_epoch_is_marked_and_its_text_stays_inside(epoch):
    chart = draw_losses({"loss": {i: float(i) for i in range(10)}}, epoch)
    (axes,) = chart.figure.axes
    (mark,) = [line for line in axes.lines if line.get_label() == "mark"]
    assert mark.get_xydata().tolist() == [[epoch, epoch]]
    print_figure(chart.figure, "png", 50)
    box = axes.texts[0].get_window_extent().transformed(axes.transAxes.inverted())
    assert box.x0 > 0
    assert box.x1 < 1
