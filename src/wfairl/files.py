"""Files that are either whole or absent: every write goes to a temporary file, then a rename.

A directory in which a long computation keeps its state is held by one process at a time.
"""

import fcntl
import glob
import json
import os
import re
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from wfairl.errors import BadInputError

PARTIAL = ".partial"
"""The end of the name of a file that is being written."""


def write_atomically(path: Path, content: bytes | str) -> None:
    """Write `content` to `path` so that a reader, or a crash, sees the old file or the new one.

    Raises:
        BadInputError: nothing can be written there.
    """
    path = Path(path)
    data = content.encode() if isinstance(content, str) else content
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _sweep(path.parent.glob(f".{glob.escape(path.name)}.*{PARTIAL}"))
        descriptor, temporary = _begin(path)
    except OSError as error:
        raise BadInputError(f"{path}: cannot be written ({error.strerror})") from None
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
            temporary.chmod(0o644)
            temporary.replace(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise BadInputError(f"{path}: cannot be written ({error.strerror or error})") from None
        raise


def _begin(path: Path) -> tuple[int, Path]:
    """A temporary file beside a path, open and locked: by the lock others see that its writer lives."""
    while True:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=PARTIAL)
        _lock(descriptor)
        if os.fstat(descriptor).st_nlink:
            return descriptor, Path(name)
        os.close(descriptor)  # another process swept it before it was locked


def _sweep(partial: Iterable[Path]) -> None:
    """Remove temporary files whose writers were killed."""
    for path in partial:
        with suppress(OSError), path.open("rb") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()


def _lock(descriptor: int) -> bool:
    """Take the operating system's lock on what is open; False if another process has it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass  # a disk without locks, as some of clusters are: better no lock than no work
    return True


@contextmanager
def hold(directory: Path) -> Iterator[None]:
    """Be the only process that writes in a directory, which is made if there is none.

    What a killed process left half-written there is removed. The lock is the operating system's, on the directory
    itself: nothing is left of it when its process ends, however that ends.

    Raises:
        BadInputError: another process works there, or the directory cannot be made.
    """
    check_directory(directory)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(directory, os.O_RDONLY)
    except OSError as error:
        raise BadInputError(f"{directory}: cannot be written ({error.strerror})") from None
    try:
        if not _lock(descriptor):
            raise BadInputError(f"{directory}: another process works there; wait for it, or stop it")
        _sweep(directory.rglob(f".*{PARTIAL}"))
        try:
            yield
        finally:
            _sweep(directory.rglob(f".*{PARTIAL}"))  # of worker processes that were stopped
    finally:
        os.close(descriptor)
        with suppress(OSError):
            directory.rmdir()  # if it is empty, as after an error that came before anything was written


def write_json(path: Path, document: Any) -> None:
    """Write a JSON document, atomically, in a form that a person can read."""
    write_atomically(path, json.dumps(document, indent=2, allow_nan=False) + "\n")


def check_ends(path: Path) -> None:
    """Refuse a pipe or a device, which nobody may ever write to, or which may never end; not what a shell opened.

    Raises:
        BadInputError: it is one.
        OSError: there is nothing there.
    """
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or str(path).startswith(("/dev/fd/", "/dev/stdin"))):
        raise BadInputError(f"{path}: not a file, and there may be no end of it")


def read_bytes(path: Path) -> bytes:
    """The content of a file, or an error that names it.

    Raises:
        BadInputError: the file is missing, is a directory or a device, or cannot be read.
    """
    try:
        check_ends(Path(path))
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise BadInputError(f"{path}: no such file") from None
    except OSError as error:
        raise BadInputError(f"{path}: cannot be read ({error.strerror})") from None


def check_directory(path: Path) -> None:
    """Refuse a file where a directory is needed."""
    if path.is_file():
        raise BadInputError(f"{path}: a file; a directory is needed")


def read_text(path: Path) -> str:
    """The text of a file, or an error that names it."""
    try:
        return read_bytes(path).decode("utf-8-sig")  # Windows puts a mark at the beginning
    except UnicodeDecodeError:
        raise BadInputError(f"{path}: not a text file in UTF-8") from None


def read_json(path: Path) -> Any:
    """The document in a JSON file, or an error that names the file and what is wrong with it."""
    try:
        return parse_json(read_text(path))
    except NotJsonError as error:
        raise BadInputError(f"{path}: {error}") from None


KINDS = {
    "wfairl-task": "a task for `wfairl --tasks`",
    "wfairl-task-model": "a task model of `wfairl learn-task`",
    "wfairl-demonstrations": "demonstrations of `wfairl demos`",
    "wfairl-recurrent": "a network of `wfairl learn-task --learner gru`",
    "wfairl-policy": "a policy of `wfairl train`",
    "wfairl-cost": "a cost of `wfairl train`",
    "wfairl-checkpoint": "a checkpoint of `wfairl train`",
    "wfairl-run": "the settings of a run of `wfairl train`",
    "wfairl-experiment": "the record of `wfairl run`",
    "wfairl-evaluations": "evaluations of `wfairl run` or `wfairl evaluate`",
    "wfairl-cell": "the result of a cell of `wfairl reproduce`",
    "wfairl-times": "the times of a cell of `wfairl reproduce`",
    "wfairl-made": "how results of `wfairl reproduce` were made",
    "wfairl-reproduction": "the results of `wfairl reproduce`",
}
"""What the formats of this package's files are called, and what writes them."""

LONGEST_START = 100_000
"""Bytes of a file that are looked at to see what it is."""


def kind_of(path: Path) -> str:
    """What a file seems to be, by its beginning, for a message about a wrong one; nothing if that cannot be told."""
    try:
        if not Path(path).is_file():  # to open a pipe is to wait
            return ""
        with Path(path).open("rb") as stream:
            start = stream.read(LONGEST_START)
    except OSError:
        return ""
    found = re.search(rb'format\\*"\s*:\s*\\*"(wfairl-[a-z-]+)', start)
    if found:
        return KINDS.get(found[1].decode(), "")
    if start.startswith(b"HOA:"):
        return "an automaton in HOA, which `wfairl import` reads"
    if re.match(rb'\s*\{[^\n]*"word"\s*:', start):
        return "a file of words"
    if re.match(rb'\s*\{[^\n]*"(controls|states)"\s*:', start):
        return "a log, which `wfairl demos-import` reads"
    return ""


def seems(path: Path) -> str:
    """`; it seems to be ...` for the end of a message about a wrong file."""
    kind = kind_of(path)
    return f"; it seems to be {kind}" if kind else ""


class NotJsonError(BadInputError):
    """A text that is not JSON, or not such JSON as anybody would write."""


def parse_json(text: str) -> Any:
    """The document in a text.

    Raises:
        NotJsonError: it is not JSON, is nested too deeply, holds a number with thousands of digits, a key twice, or
            half a character.
    """
    try:
        document = json.loads(text, object_pairs_hook=_object)
        if HALF_CHARACTER.search(text):
            json.dumps(document, ensure_ascii=False).encode()
        return document
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}: " if error.lineno > 1 else ""
        raise NotJsonError(f"{line}not JSON ({error.msg})") from None
    except UnicodeEncodeError:
        raise NotJsonError("half a character, which no text has") from None
    except (ValueError, RecursionError) as error:
        if isinstance(error, NotJsonError):
            raise
        raise NotJsonError("not JSON (nested too deeply, or a number that is too long)") from None


HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")
"""Half of an escaped character beyond the first 65,536, perhaps without the other half."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise NotJsonError("an object with the same key twice")
    return found
