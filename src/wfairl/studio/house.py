"""The house: all sessions under one directory, each with a desk once somebody opens it."""

import fcntl
import os
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from wfairl.errors import BadInputError, WfairlError
from wfairl.files import check_directory, read_text, write_atomically
from wfairl.studio.assignment import assignment_of, check_name
from wfairl.studio.desk import Desk
from wfairl.studio.scenes import SceneStore
from wfairl.studio.session import JOURNAL, Session
from wfairl.studio.workers import JobRunner

TOKEN, LOCK = ".token", ".lock"


@dataclass(frozen=True)
class KeptSession:
    """A session on disk, for a list of them."""

    name: str
    changed: datetime


class House:
    """The sessions of a directory.

    Args:
        directory: where they are kept.
        workers: who learns and plans.
        makers: who makes worlds.
    """

    def __init__(self, directory: Path, workers: JobRunner, makers: JobRunner) -> None:
        check_directory(directory)
        self.directory, self._workers, self._makers = directory, workers, makers
        self._scenes = SceneStore()
        self._desks: dict[str, Desk] = {}

    def sessions(self) -> list[KeptSession]:
        """The sessions on disk, the one that changed last first."""
        found = []
        for journal in self.directory.glob(f"*/{JOURNAL}"):
            changed = datetime.fromtimestamp(journal.stat().st_mtime, UTC)
            found.append(KeptSession(journal.parent.name, changed))
        return sorted(found, key=lambda one: one.changed, reverse=True)

    def begin(self, what: str) -> Desk:
        """A new session for a task, or for an environment to invent one in.

        Raises:
            BadInputError: there is no such.
        """
        assignment = assignment_of(what)
        number = 1
        while (self.directory / f"{assignment.name}-{number}").exists():
            number += 1
        return self._seat(Session(self.directory / f"{assignment.name}-{number}", assignment, self._scenes))

    def desk(self, name: str) -> Desk:
        """The desk of a session.

        Raises:
            BadInputError: there is no such session, or its files are broken; a path is no name.
        """
        if check_name(name) not in self._desks:
            if not (self.directory / name / JOURNAL).is_file():
                raise BadInputError(f"there is no session {name}")
            return self._seat(Session(self.directory / name, scenes=self._scenes))
        return self._desks[name]

    def _seat(self, session: Session) -> Desk:
        desk = self._desks[session.name] = Desk(session, self._workers, self._makers)
        return desk


def lock_directory(directory: Path) -> IO[bytes]:
    """Take a directory for one server; the lock goes with the process, however it ends.

    Raises:
        BadInputError: another server has it, or nothing can be written there.
    """
    check_directory(directory)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = (directory / LOCK).open("wb")
    except OSError as error:
        raise BadInputError(f"{directory}: cannot be written ({error.strerror})") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise BadInputError(f"{directory}: a studio is open there already; use it, or another --directory") from None
    return lock


def token_of(directory: Path) -> str:
    """The token of a directory's studio, which stays the same: an open page goes on after the server was killed.

    Raises:
        BadInputError: it cannot be kept there.
    """
    path = directory / TOKEN
    try:
        known = read_text(path).strip()
        if len(known) >= 32 and not path.stat().st_mode & 0o077:
            return known
    except WfairlError:
        pass  # there is none yet
    token = secrets.token_urlsafe(32)
    write_atomically(path, token + "\n")
    os.chmod(path, 0o600)  # noqa: PTH101 - the mode is the point
    return token
