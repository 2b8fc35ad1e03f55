"""The sessions of a directory, each with a controller once it is opened; only the owner of the directory reads them."""

import fcntl
import os
import re
import stat
from datetime import UTC, datetime
from html import escape, unescape
from pathlib import Path
from typing import IO

from wfairl.core.support.errors import BadInputError, WfairlError
from wfairl.core.support.files import read_text, write_atomically
from wfairl.runs.held_directory import check_directory
from wfairl.studio.controller import SessionController
from wfairl.studio.session import JOURNAL, Session
from wfairl.studio.task_spec import check_name, find_task_spec
from wfairl.studio.views import HEADER
from wfairl.studio.workers import JobRunner, WorldCache

LOCK, DELETED = ".lock", ".deleted"

ENTRANCE = "open.html"
"""The page that sends a browser to the running studio; it holds the token, which no command line should."""


class SessionRegistry:
    """The sessions of a directory."""

    def __init__(self, directory: Path, workers: JobRunner) -> None:
        self.directory, self._workers = directory, workers
        self._worlds = WorldCache()
        self._controllers: dict[str, SessionController] = {}

    def sessions(self) -> list[dict[str, str]]:
        """Name, change, title and task of the sessions on disk, the latest first; one that is broken has no task."""
        return [self._describe(one) for one in _latest_journals(self.directory)]

    def _describe(self, journal: Path) -> dict[str, str]:
        name, time = journal.parent.name, datetime.fromtimestamp(journal.stat().st_mtime, UTC)
        shown = {"name": name, "changed": f"{time:%d %b %Y, %H:%M} UTC"}
        try:
            session = self.open(name).session
        except WfairlError:
            return {**shown, "title": name, "task": ""}
        return {**shown, "title": session.state.title, "task": session.history.begun_as}

    def begin_or_continue(self, text: str) -> SessionController:
        """The latest session of a task or environment; a new one if there is none. Raises as `create` does."""
        find_task_spec(text)
        latest = next((one["name"] for one in self.sessions() if one["task"] == text), None)
        return self.create(text) if latest is None else self.open(latest)

    def create(self, text: str) -> SessionController:
        """Start a session with a task, or an environment to invent one in. Raises `BadInputError` if it is neither."""
        spec = find_task_spec(text)
        number = 1
        while any((folder / f"{spec.name}-{number}").exists() for folder in (self.directory, self._deleted)):
            number += 1
        return self._add(Session(self.directory / f"{spec.name}-{number}", spec, self._worlds))

    def open(self, name: str) -> SessionController:
        """The controller of a session. Raises `BadInputError` if there is none, or its files are broken."""
        if not (self.directory / check_name(name) / JOURNAL).is_file():
            raise BadInputError(f"there is no session {name}")
        if name not in self._controllers:
            return self._add(Session(self.directory / name, worlds=self._worlds))
        return self._controllers[name]

    def delete(self, name: str) -> str:
        """Put a session away, and return its name; `restore` brings it back.

        Its controller stays: a page that still shows the session is told that nothing is saved, and goes on after that.
        """
        self.open(name).progress.cancel()
        self._deleted.mkdir(exist_ok=True)
        return self._move(name, self.directory, self._deleted)

    def restore(self, name: str) -> str:
        """Bring a deleted session back. Raises `BadInputError` if there is none of that name."""
        if not (self._deleted / check_name(name) / JOURNAL).is_file():
            raise BadInputError(f"there is no deleted session {name}")
        return self._move(name, self._deleted, self.directory)

    def _move(self, name: str, source: Path, target: Path) -> str:
        try:
            (source / name).rename(target / name)
        except OSError:
            raise BadInputError(f"{target / name} is in the way: move it elsewhere") from None
        if name in self._controllers:
            self._controllers[name].changed(HEADER)
        return name

    def deleted(self) -> list[str]:
        """The names of the deleted sessions, the latest first."""
        return [one.parent.name for one in _latest_journals(self._deleted)]

    @property
    def _deleted(self) -> Path:
        return self.directory / DELETED

    def _add(self, session: Session) -> SessionController:
        controller = self._controllers[session.name] = SessionController(session, self._workers)
        return controller


def _latest_journals(directory: Path) -> list[Path]:
    return sorted(directory.glob(f"*/{JOURNAL}"), key=lambda one: one.stat().st_mtime, reverse=True)


def lock_directory(directory: Path) -> IO[bytes]:
    """Reserve a directory for one server; the lock ends with the process. From now on only its owner reads its files.

    Raises `BadInputError` if another server has it, it is not writable, or others can write there.
    """
    check_directory(directory)
    os.umask(0o077)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        _keep_others_out(directory)
        lock = (directory / LOCK).open("wb")
    except OSError as error:
        raise BadInputError(f"{directory}: cannot be written ({error.strerror})") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise BadInputError(f"{directory}: a studio already runs there; use it, or another --directory") from None
    return lock


def _keep_others_out(directory: Path) -> None:
    """Refuse a directory in which others write: they could put links there. Close sessions that others could read."""
    status = directory.stat()
    if status.st_uid != os.getuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise BadInputError(f"{directory}: others can write there (chmod go-w); or choose another --directory")
    for journal in (*directory.glob(f"*/{JOURNAL}"), *directory.glob(f"{DELETED}/*/{JOURNAL}")):
        journal.parent.chmod(stat.S_IRWXU)


def write_entrance(directory: Path, address: str) -> None:
    """Write the page that sends a browser to an address with its token; only its owner reads it."""
    path = directory / ENTRANCE
    write_atomically(path, going_on(address))
    path.chmod(0o600)


def going_on(address: str) -> str:
    """A page that goes on to an address."""
    begun = f'<!doctype html><html lang="en"><meta http-equiv="refresh" content="0; url={escape(address)}">'
    return f'{begun}<title>wfairl studio</title><p><a href="{escape(address)}">Open the studio</a>\n'


def running_address(directory: Path) -> str | None:
    """The address of the studio that runs in a directory; None if there is none."""
    try:
        lock_directory(directory).close()
    except BadInputError:
        found = re.search(r'href="([^"]+)"', read_text(directory / ENTRANCE))
        return None if found is None else unescape(found[1])
    return None
