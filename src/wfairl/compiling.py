"""Numba's compiler, with a cache where one can be kept."""

from collections.abc import Callable
from typing import Any

import numba


def njit(*, cache: bool, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """`numba.njit`, which refuses `cache` where neither the package nor the home of the user can be written.

    There, every process compiles anew.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(cache=cache, **options)(function)
        except RuntimeError:
            return numba.njit(**options)(function)

    return compiled
