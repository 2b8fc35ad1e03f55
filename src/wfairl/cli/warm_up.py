"""`wfairl warm-up`, and the line that says why a first command takes longer."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from wfairl.cli.console import out, warn
from wfairl.core.support.errors import FailedRunError

PACKAGE = Path(__file__).parents[1]

COMPILED = ("run", "demos", "learn-task", "ask", "train", "evaluate", "studio")
"""The commands that compile something; a first plan is interpreted where the world is small."""

COMMANDS = (
    ("plan", "doorkey", "-o", "plan.png"),
    ("run", "coffee-and-mail", "--successes", "4", "--failures", "0", "--test-scenes", "2", "-o", "run"),
)
"""Two commands that use most of the compiled code between them."""


def warm_up() -> None:
    """Compile for this processor what the other commands would compile when they first need it: about half a minute.

    The result is kept beside the package, or in the cache directory of the user. Without this command nothing is
    missing: the first learned rule just takes some seconds longer. Example:

        wfairl warm-up
    """
    out.print("compiling for this processor, once; this takes about half a minute")
    # The command line, which compiles every kernel instead of interpreting it at first.
    eager = "from wfairl.core.support import compiling; compiling.PATIENCE = -1.0; from wfairl.cli import main; main()"
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", eager]
        running = [
            subprocess.Popen([*command, *one], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            for one in COMMANDS
        ]
        for one, process in zip(COMMANDS, running, strict=True):
            _, errors = process.communicate()
            if process.returncode:
                raise FailedRunError(f"`wfairl {' '.join(one)}` failed: {errors.strip()}")
    out.print("done")


def announce_compilation(command: str) -> None:
    """Say in a terminal that a command has to compile first, if nothing has been compiled yet."""
    if command in COMPILED and sys.stderr.isatty() and not _is_warm():
        warn("compiling for this processor first, once; some 10 s. `wfairl warm-up` does it for all commands")


def _is_warm() -> bool:
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    beside, of_user = PACKAGE / "core" / "planning" / "__pycache__", Path.home() / ".cache" / "numba"
    places = [Path(chosen)] if chosen else [beside, of_user]
    kernels = "shortest_path.*.nbi"  # every planner leaves them in the cache; see `core.support.compiling`
    return any(next(place.rglob(kernels), None) is not None for place in places)
