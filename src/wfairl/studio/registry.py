"""The sessions of a directory, each with a controller once it is opened."""

import fcntl
import os
import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from wfairl.core.support.errors import BadInputError, WfairlError
from wfairl.core.support.files import check_directory, read_text, write_atomically
from wfairl.studio.controller import SessionController
from wfairl.studio.session import JOURNAL, Session
from wfairl.studio.task_spec import check_name, find_task_spec
from wfairl.studio.workers import JobRunner
from wfairl.studio.world_cache import WorldCache

TOKEN, LOCK = ".token", ".lock"


class SessionRegistry:
    """The sessions of a directory."""

    def __init__(self, directory: Path, workers: JobRunner) -> None:
        check_directory(directory)
        self.directory, self._workers = directory, workers
        self._worlds = WorldCache()
        self._controllers: dict[str, SessionController] = {}

    def sessions(self) -> list[tuple[str, datetime]]:
        """The name of each session on disk and when it changed, the latest first."""
        changed = {one.parent.name: one.stat().st_mtime for one in self.directory.glob(f"*/{JOURNAL}")}
        latest_first = sorted(changed.items(), key=lambda item: item[1], reverse=True)
        return [(name, datetime.fromtimestamp(seconds, UTC)) for name, seconds in latest_first]

    def create(self, text: str) -> SessionController:
        """Start a session with a registered task, or with an environment to invent one in.

        Raises:
            BadInputError: there is no such task or environment.
        """
        spec = find_task_spec(text)
        number = 1
        while (self.directory / f"{spec.name}-{number}").exists():
            number += 1
        return self._add(Session(self.directory / f"{spec.name}-{number}", spec, self._worlds))

    def open(self, name: str) -> SessionController:
        """The controller of a session.

        Raises:
            BadInputError: there is no such session, or its files are broken; a path is no name.
        """
        if check_name(name) not in self._controllers:
            if not (self.directory / name / JOURNAL).is_file():
                raise BadInputError(f"there is no session {name}")
            return self._add(Session(self.directory / name, worlds=self._worlds))
        return self._controllers[name]

    def _add(self, session: Session) -> SessionController:
        controller = SessionController(session, self._workers)
        self._controllers[session.name] = controller
        return controller


def lock_directory(directory: Path) -> IO[bytes]:
    """Reserve a directory for one server; the lock ends with the process.

    Raises:
        BadInputError: another server has it, or it is not writable.
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
        raise BadInputError(f"{directory}: a studio already runs there; use it, or another --directory") from None
    return lock


def token_of(directory: Path) -> str:
    """The access token of a directory; it stays the same, so that an open page survives a restart of the server.

    Raises:
        BadInputError: it cannot be written.
    """
    path = directory / TOKEN
    try:
        token = read_text(path).strip()
        if len(token) >= 32 and not path.stat().st_mode & 0o077:
            return token
    except WfairlError:
        pass  # there is none yet
    token = secrets.token_urlsafe(32)
    write_atomically(path, token + "\n")
    os.chmod(path, 0o600)  # noqa: PTH101 - the mode is the point
    return token
