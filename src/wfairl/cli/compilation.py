"""The line that says why a first command takes longer."""

import os
import sys
from pathlib import Path

from wfairl.cli.console import warn

PACKAGE = Path(__file__).parents[1]

KERNELS = "shortest_path.*.nbi"
"""Compiled code that every planner leaves in the cache; see `core.support.compiling`."""

COMPILED = ("run", "demos", "learn-task", "ask", "train", "evaluate", "studio")
"""The commands that compile something; a first plan is interpreted where the world is small."""


def announce_compilation(command: str) -> None:
    """Say in a terminal that a command has to compile first, if nothing has been compiled yet."""
    if command in COMPILED and sys.stderr.isatty() and not _is_warm():
        warn("compiling for this processor first, once; some 10 s")


def _is_warm() -> bool:
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    beside, of_user = PACKAGE / "core" / "planning" / "__pycache__", Path.home() / ".cache" / "numba"
    places = [Path(chosen)] if chosen else [beside, of_user]
    return any(next(place.rglob(KERNELS), None) is not None for place in places)
