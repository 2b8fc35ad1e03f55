"""One process at a time holds the directory of a long computation."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from wfairl.core.support.errors import BadInputError
from wfairl.core.support.files import PARTIAL, lock, sweep


@contextmanager
def hold(directory: Path) -> Iterator[None]:
    """Be the only process that writes in a directory, which is made if there is none.

    Unfinished files of a killed process are removed. The lock is the operating system's, on the directory itself, and
    ends with its process.

    Raises:
        BadInputError: another process holds the directory, or it cannot be created.
    """
    check_directory(directory)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(directory, os.O_RDONLY)
    except OSError as error:
        raise BadInputError(f"{directory}: cannot be written ({error.strerror})") from None
    try:
        if not lock(descriptor):
            raise BadInputError(f"{directory}: another process works in this directory; wait for it, or stop it")
        sweep(directory.rglob(f".*{PARTIAL}"))
        try:
            yield
        finally:
            sweep(directory.rglob(f".*{PARTIAL}"))  # of stopped worker processes
    finally:
        os.close(descriptor)
        with suppress(OSError):
            directory.rmdir()  # succeeds if it is empty, as after an early error


def check_directory(path: Path) -> None:
    """Refuse a file where a directory is needed."""
    if path.is_file():
        raise BadInputError(f"{path}: this is a file; give a directory")
