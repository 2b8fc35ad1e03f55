"""Kernels compile also where nothing can be kept of it."""

import numba
import pytest

from wfairl.compiling import njit


def test_a_function_without_a_place_for_a_cache_is_compiled_all_the_same():
    found: dict = {}
    exec("def twice(x):\n    return 2 * x", found)  # a function of no file has no place
    with pytest.raises(RuntimeError, match="cannot cache"):
        numba.njit(cache=True)(found["twice"])
    assert njit(cache=True, nogil=True)(found["twice"])(21) == 42
