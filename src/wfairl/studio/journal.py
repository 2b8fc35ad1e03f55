"""The journal of a session: what a person did, one JSON object a line, written before anything shows on the screen.

A line that was appended is with the operating system: a server that is killed loses none of them. A last line that was
cut, as a full disk may do, is taken off when the journal is opened again.
"""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from wfairl.errors import BadInputError
from wfairl.files import NotJsonError, parse_json, read_bytes, read_text


class BrokenJournalError(BadInputError):
    """A journal holds a line that no session has written."""


class Journal:
    """An append-only file.

    Args:
        path: the file; it is made with the first line.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if path.exists():
            self._mend()

    def append(self, event: Mapping[str, Any], durable: bool = False) -> None:
        """Write an event; durable ones are also on the disk when this returns, whatever happens to the machine.

        Raises:
            BadInputError: nothing can be written there.
        """
        line = json.dumps(event, allow_nan=False).encode() + b"\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab", buffering=0) as stream:
                stream.write(line)
                if durable:
                    os.fsync(stream.fileno())
        except OSError as error:
            raise BadInputError(f"{self.path}: cannot be written ({error.strerror})") from None

    def read(self) -> Iterator[dict[str, Any]]:
        """The events so far.

        Raises:
            BrokenJournalError: names the line that is none.
        """
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

    def _mend(self) -> None:
        """Take off a last line that was cut; end one that only lacks its end."""
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
