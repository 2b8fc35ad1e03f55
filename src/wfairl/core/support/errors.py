"""The two kinds of errors, each with its exit code on the command line.

Every error of the package derives from one of them. Its message says what happened and, if possible, what to do.
"""

import sysconfig
from collections.abc import Iterable
from pathlib import Path
from traceback import extract_tb


class WfairlError(Exception):
    """The base class of all errors of this package; never raised itself."""

    exit_code = 1


class BadInputError(WfairlError, ValueError):
    """The input cannot be used: a file, a setting, a name, a world."""

    exit_code = 2


class MissingExtraError(BadInputError):
    """An optional dependency is not installed."""

    def __init__(self, what: str, extra: str):
        super().__init__(f"{what} is not installed: pip install 'wfairl[{extra}]'")


class FailedRunError(WfairlError, RuntimeError):
    """The input was valid, but the computation failed."""


def one_line(error: BaseException) -> str:
    """An exception of a user's own code in one line: its type, its message, and the place in their file."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    frames = [frame for frame in extract_tb(error.__traceback__) if _is_of_user(Path(frame.filename))]
    return f"{text}, in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else text


def _is_of_user(source: Path) -> bool:
    foreign = (Path(__file__).parents[2], Path(sysconfig.get_path("stdlib")), Path(sysconfig.get_path("purelib")))
    return source.is_file() and not any(source.is_relative_to(directory) for directory in foreign)


NO_MEMORY = "out of memory; try fewer parallel jobs (--jobs 1), fewer demonstrations or a smaller world"


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error means that no memory is left; neither torch nor a thread has a class for such an error."""
    return isinstance(error, MemoryError) or any(said in str(error) for said in ("allocate memory", "start new thread"))


def did_you_mean(name: str, known: Iterable[str], similarity: float = 0.6) -> str:
    """A question about the known name that is nearest to a given one, in brackets; empty if none is near."""
    from difflib import get_close_matches  # only for a message

    near = get_close_matches(name, list(known), n=1, cutoff=similarity)
    return f" (did you mean {near[0]!r}?)" if near else ""
