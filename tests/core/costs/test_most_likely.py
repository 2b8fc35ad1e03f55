import math

import numpy as np
import pytest

from wfairl.core.costs.most_likely import most_likely


def test_the_least_of_a_bowl_is_found_round_a_region_where_there_is_none():
    centre = np.array([0.3, -1.2, 2.0])

    def bowl(point):
        if point[0] > 0.5:
            return math.inf, np.zeros(3)
        return float(((point - centre) ** 2 * [1, 5, 0.2]).sum()), 2 * (point - centre) * [1, 5, 0.2]

    assert most_likely(bowl, np.array([-3.0, 4.0, 0.0]), tolerance=1e-12) == pytest.approx(centre, abs=1e-3)


def test_bounds_are_kept_and_the_best_point_is_returned_not_the_last():
    evaluated = []

    def kinked(point):
        evaluated.append((abs(point[0] - 1.0), point[0]))
        return evaluated[-1][0], np.sign(point - 1.0)

    (found,) = most_likely(kinked, np.array([5.0]), bounds=[(0.2, 10.0)])
    assert found == min(evaluated)[1]
    assert all(0.2 <= point <= 10.0 for _, point in evaluated)
