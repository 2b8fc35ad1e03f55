"""A directory has one writer at a time, however the last one ended."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from wfairl.core.support import files
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.files import PARTIAL, write_atomically
from wfairl.runs.held_directory import hold

HOLDER = """
import os, signal, sys, time
from pathlib import Path
from wfairl.core.support.files import write_atomically
from wfairl.runs.held_directory import hold

Path.replace = lambda self, target: os.kill(os.getpid(), signal.SIGSTOP)  # just before the rename
with hold(Path(sys.argv[1])):
    write_atomically(Path(sys.argv[1]) / "state.json", "half a result")
"""


@pytest.fixture
def stopped_holder(tmp_path):
    """A process that holds a directory and is stopped between writing a file and renaming it."""
    directory = tmp_path / "run"
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(directory)])
    _, status = os.waitpid(process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    yield directory, process
    process.kill()
    process.wait()


def test_a_directory_is_held_by_one_process_until_it_ends_in_whatever_way(stopped_holder):
    directory, process = stopped_holder
    with pytest.raises(BadInputError, match="another process works in this directory"), hold(directory):
        pass
    (left,) = directory.iterdir()
    assert left.name.endswith(PARTIAL)  # what the other one is writing stays
    process.send_signal(signal.SIGKILL)
    process.wait()
    with hold(directory):
        assert list(directory.iterdir()) == []
        write_atomically(directory / "state.json", "whole")
    assert (directory / "state.json").read_text() == "whole"


def test_only_what_was_being_written_is_removed(tmp_path):
    names = (".hidden", "note.partial", ".state.json.abcd1234.partial", "state.json")
    for name in names:
        (tmp_path / name).write_text("")
    with hold(tmp_path):
        pass
    assert {path.name for path in tmp_path.iterdir()} == {".hidden", "note.partial", "state.json"}


def test_a_disk_without_locks_is_written_to_all_the_same(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOSYS, "no locks here")

    monkeypatch.setattr(files.fcntl, "flock", refuse)
    with hold(tmp_path / "run"):
        write_atomically(tmp_path / "run" / "state.json", "whole")
    assert (tmp_path / "run" / "state.json").read_text() == "whole"


def test_a_directory_in_which_nothing_was_written_is_not_left_behind(tmp_path):
    directory = tmp_path / "run"
    with pytest.raises(ZeroDivisionError), hold(directory):
        raise ZeroDivisionError
    assert not directory.exists()


def test_a_file_in_the_place_of_a_directory_is_refused(tmp_path: Path):
    (tmp_path / "run").write_text("")
    with pytest.raises(BadInputError, match="give a directory"), hold(tmp_path / "run"):
        pass
