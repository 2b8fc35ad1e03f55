"""Files are whole or absent, however their last writer ended."""

import os
import signal
import subprocess
import sys

import pytest

from wfairl.core.support import files
from wfairl.core.support.files import write_atomically

WRITER = """
import os, signal, sys, time
from pathlib import Path
from wfairl.core.support.files import write_atomically

Path.replace = lambda self, target: os.kill(os.getpid(), signal.SIGSTOP)  # just before the rename
write_atomically(Path(sys.argv[1]) / "state.json", "half a result")
"""


@pytest.fixture
def stopped_writer(tmp_path):
    """A process that is stopped between writing a file and renaming it."""
    directory = tmp_path / "run"
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(directory)])
    _, status = os.waitpid(process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    yield directory, process
    process.kill()
    process.wait()


def test_what_a_killed_writer_left_beside_a_file_goes_when_it_is_written_again(stopped_writer):
    directory, process = stopped_writer
    write_atomically(directory / "state.json", "whole")
    assert len(list(directory.iterdir())) == 2  # the other one lives
    process.send_signal(signal.SIGKILL)
    process.wait()
    write_atomically(directory / "other.json", "of another name")
    assert len(list(directory.iterdir())) == 3
    write_atomically(directory / "state.json", "whole again")
    assert {path.name: path.read_text() for path in directory.iterdir()} == {
        "state.json": "whole again",
        "other.json": "of another name",
    }


def test_a_writer_whose_temporary_file_is_swept_away_before_it_is_locked_takes_another(tmp_path, monkeypatch):
    lock, swept = files.lock, []

    def lock_too_late(descriptor):
        if not swept:
            swept.extend(tmp_path.iterdir())
            swept[0].unlink()
        return lock(descriptor)

    monkeypatch.setattr(files, "lock", lock_too_late)
    write_atomically(tmp_path / "state.json", "whole")
    assert [path.name for path in tmp_path.iterdir()] == ["state.json"]
    assert swept
