"""The command line: each command is one call into the package, whose result it prints.

An error is one line on standard error, with an exit code.
"""

import atexit
import gc
import os
import signal
import sys
from pkgutil import resolve_name
from types import FrameType
from typing import NoReturn

from wfairl.core.support.errors import NO_MEMORY, BadInputError, WfairlError, is_out_of_memory

__all__ = ["main"]

INTERRUPTED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM
"""The exit codes of a command that was stopped with Ctrl-C, or with `kill`."""

STOPPED = {INTERRUPTED: "interrupted", TERMINATED: "terminated"}


def main(application: str = "wfairl.cli.app:app") -> None:
    """Be the process of a command of an application, "module:NAME"."""
    exit_code = 1

    def leave() -> None:
        """Skip the dismantling of the interpreter: 0.4 s of processor with Numba loaded. All else has been closed."""
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(exit_code)

    atexit.register(leave)
    gc.set_threshold(50_000, 20, 20)  # the imports of a command make many objects and no garbage
    signal.signal(signal.SIGTERM, _terminate)
    sys.unraisablehook = _raise_again
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # until here: see `wfairl/__init__.py`
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        run_command(application)
    except SystemExit as ended:
        exit_code = int(ended.code or 0)
        raise


def run_command(application: str = "wfairl.cli.app:app") -> None:
    """Run the command of `sys.argv`; it ends with a `SystemExit`."""
    try:
        _run(application)
    except KeyboardInterrupt:  # while the end of the command was handled
        _end(STOPPED[INTERRUPTED] + _advice(application), INTERRUPTED)


def _run(application: str) -> None:
    try:
        app = resolve_name(application)  # imported here, so that Ctrl-C works during the tenth of a second it takes
        try:
            app()
        finally:
            sys.stdout.flush()  # a full disk is an error of the command
    except BaseException as error:
        code = _code_of_signal(error)
        if code is not None:
            _end(STOPPED[code] + _advice(application), code)
        if isinstance(error, WfairlError):
            _end(str(error), error.exit_code)
        if is_out_of_memory(error):
            _end(NO_MEMORY, BadInputError.exit_code)
        if not isinstance(error, OSError):
            raise
        # Errors that no reader or writer of a file has turned into one that names the file.
        if error.filename is None:  # a full disk under standard output, which Python flushes again at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        _end(f"{error.filename or 'standard output'}: {error.strerror or error}", BadInputError.exit_code)


def _advice(application: str) -> str:
    """How to go on, for a command that can."""
    if not application.startswith("wfairl."):
        return "; the same command continues an experiment"
    arguments = iter(sys.argv[1:])
    command = next((one for one in arguments if not (one == "--tasks" and next(arguments, "")) and one[0] != "-"), "")
    return "; continue it with --resume" if command in ("run", "train") else ""


def _code_of_signal(error: BaseException | None) -> int | None:
    """The exit code if a signal stopped the command, else None.

    For a signal that arrives while a class is created, Python 3.11 raises a `RuntimeError` with the signal as cause.
    """
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return INTERRUPTED
        if isinstance(error, SystemExit) and error.code in STOPPED:
            return int(error.code)
        error = error.__cause__
    return None


def _terminate(_signal: int, _frame: FrameType | None) -> NoReturn:
    """Unwind as for Ctrl-C, so that unfinished files and worker processes are cleaned up."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit(TERMINATED)


def _raise_again(lost: "sys.UnraisableHookArgs") -> None:
    """Raise again, a moment later, a signal's exception that was lost in a callback from C, such as a compiler's."""
    error = lost.exc_value
    if isinstance(error, KeyboardInterrupt) or (isinstance(error, SystemExit) and error.code == TERMINATED):

        def raise_it(_signal: int, _frame: FrameType | None) -> NoReturn:
            raise error

        signal.signal(signal.SIGALRM, raise_it)
        signal.setitimer(signal.ITIMER_REAL, 0.01)
    else:
        sys.__unraisablehook__(lost)


def _end(message: str, exit_code: int) -> NoReturn:
    sys.stderr.write(f"wfairl: {' '.join(message.split())}\n")
    sys.exit(exit_code)
