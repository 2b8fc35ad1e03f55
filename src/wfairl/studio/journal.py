"""The journal of a session: its events, one JSON object per line, each written before it takes effect.

An appended line is with the operating system: a killed server loses none. A truncated last line, as a full disk may
leave it, is removed when the journal is opened.
"""

import errno
import json
import os
from collections.abc import Iterator, Mapping
from io import RawIOBase
from pathlib import Path
from typing import Any

from wfairl.core.support.errors import BadInputError
from wfairl.core.support.files import NotJsonError, parse_json, read_bytes, read_text

GONE = "this session was deleted; nothing is saved any more"


class BrokenJournalError(BadInputError):
    """A journal has a line that no session wrote."""


class Journal:
    """An append-only file of events, which the first of them creates."""

    def __init__(self, path: Path) -> None:
        self.path, self._is_begun = path, path.exists()
        if self._is_begun:
            self._repair()

    def append(self, event: Mapping[str, Any], durable: bool = False) -> None:
        """Write an event; a durable one is on the disk when this returns. Raises `BadInputError` if it cannot be."""
        line = json.dumps(event, allow_nan=False).encode() + b"\n"
        try:
            if not self._is_begun:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            # A deleted session must not begin anew in the middle.
            create = 0 if self._is_begun else os.O_CREAT
            with os.fdopen(os.open(self.path, os.O_WRONLY | os.O_APPEND | create, 0o666), "ab", buffering=0) as stream:
                self._is_begun = True
                self._write(stream, line, durable)
        except FileNotFoundError:
            raise BadInputError(GONE) from None
        except OSError as error:
            raise BadInputError(f"{self.path}: cannot be written ({error.strerror})") from None

    def _write(self, stream: RawIOBase, line: bytes, durable: bool) -> None:
        """Write a line whole, or not at all: a full disk may take a part of it."""
        end = stream.seek(0, os.SEEK_END)
        try:
            if stream.write(line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if durable:
                os.fsync(stream.fileno())
        except OSError:
            stream.truncate(end)
            raise

    def read(self) -> Iterator[dict[str, Any]]:
        """The events so far. Raises `BrokenJournalError` if a line is no event; names the line."""
        if not self.path.exists():
            return
        for number, line in enumerate(read_text(self.path).splitlines(), start=1):
            try:
                event = parse_json(line)
            except NotJsonError as error:
                raise BrokenJournalError(f"{self.path}: line {number}: {error}") from None
            if not isinstance(event, dict):
                raise BrokenJournalError(f"{self.path}: line {number}: not an event")
            yield event

    def _repair(self) -> None:
        """Remove a truncated last line, or add the line break that it lacks."""
        content = read_bytes(self.path)
        start = content.rfind(b"\n") + 1
        if start == len(content):
            return
        try:
            parse_json(content[start:].decode())
        except (NotJsonError, UnicodeDecodeError):
            with self.path.open("r+b") as stream:
                stream.truncate(start)
        else:
            with self.path.open("ab") as stream:
                stream.write(b"\n")
