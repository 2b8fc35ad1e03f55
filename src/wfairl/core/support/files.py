"""Atomic writes (to a temporary file, then a rename), and readable errors."""

import fcntl
import glob
import json
import os
import re
import secrets
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from wfairl.core.support.errors import BadInputError

PARTIAL = ".partial"
"""The suffix of a file that is being written."""


def write_atomically(path: Path, content: bytes | str) -> None:
    """Write `content` to `path`; a reader, or a crash, leaves either the old file or the new one."""
    path = Path(path)
    data = content.encode() if isinstance(content, str) else content
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        sweep(path.parent.glob(f".{glob.escape(path.name)}.*{PARTIAL}"))
        descriptor, temporary = _begin(path)
    except OSError as error:
        raise BadInputError(f"{path}: cannot be written ({error.strerror})") from None
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
            temporary.replace(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise BadInputError(f"{path}: cannot be written ({error.strerror or error})") from None
        raise


def _begin(path: Path) -> tuple[int, Path]:
    """An open temporary file beside a path, with a lock that tells other processes that its writer lives."""
    while True:
        temporary = path.parent / f".{path.name}.{secrets.token_hex(4)}{PARTIAL}"
        descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        lock(descriptor)
        if os.fstat(descriptor).st_nlink:
            return descriptor, temporary
        os.close(descriptor)  # another process removed it before it was locked


def sweep(partial: Iterable[Path]) -> None:
    """Remove temporary files whose writers have been killed."""
    for path in partial:
        with suppress(OSError), path.open("rb") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()


def lock(descriptor: int) -> bool:
    """Take the operating system's lock on an open file; False if another process holds it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass  # a disk without locks, as some of clusters are: better no lock than no work
    return True


def write_json(path: Path, document: Any) -> None:
    """Write an indented JSON document, atomically."""
    write_atomically(path, json.dumps(document, indent=2, allow_nan=False) + "\n")


def check_ends(path: Path) -> None:
    """Refuse a pipe or a device, which may block or never end, unless the shell opened it."""
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or str(path).startswith(("/dev/fd/", "/dev/stdin"))):
        raise BadInputError(f"{path}: not a regular file; reading it may never end")


def read_bytes(path: Path) -> bytes:
    """The content of a file, or an error that names it."""
    try:
        check_ends(Path(path))
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise BadInputError(f"{path}: no such file") from None
    except OSError as error:
        raise BadInputError(f"{path}: cannot be read ({error.strerror})") from None


def read_text(path: Path) -> str:
    """The text of a file, or an error that names it."""
    try:
        return read_bytes(path).decode("utf-8-sig")  # without the byte-order mark of Windows
    except UnicodeDecodeError:
        raise BadInputError(f"{path}: not a text file in UTF-8") from None


def read_json(path: Path) -> Any:
    """The document in a JSON file, or an error with the file and the problem."""
    try:
        return parse_json(read_text(path))
    except NotJsonError as error:
        raise BadInputError(f"{path}: {error}") from None


LONGEST_START = 100_000
"""Bytes at the beginning of a file that identify its format."""


def kind_of(path: Path) -> str:
    """A description of a file by its beginning, for a message about a wrong file; "" if it is unknown."""
    try:
        if not Path(path).is_file():  # opening a pipe would block
            return ""
        with Path(path).open("rb") as stream:
            start = stream.read(LONGEST_START)
    except OSError:
        return ""
    match = re.search(rb'format\\*"\s*:\s*\\*"(wfairl-[a-z-]+)', start)
    if match:
        return f"of the format {match[1].decode()}"
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
    """A text that is not JSON, or JSON of an unreasonable kind."""


def parse_json(text: str) -> Any:
    """The document in a text.

    Raises:
        NotJsonError: it is not JSON, is nested too deeply, or has a number with thousands of digits, a duplicate key,
            or half of a surrogate pair.
    """
    try:
        document = json.loads(text, object_pairs_hook=_object)
        if SURROGATE.search(text):
            json.dumps(document, ensure_ascii=False).encode()
        return document
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}: " if error.lineno > 1 else ""
        raise NotJsonError(f"{line}not JSON ({error.msg})") from None
    except UnicodeEncodeError:
        raise NotJsonError("a character is incomplete (half of a surrogate pair)") from None
    except (ValueError, RecursionError) as error:
        if isinstance(error, NotJsonError):
            raise
        raise NotJsonError("not JSON (nested too deeply, or a number that is too long)") from None


SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
"""One half of an escaped surrogate pair, perhaps without the other half."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        raise NotJsonError("an object has the same key twice")
    return document
