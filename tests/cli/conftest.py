"""The command line, called in this process: arguments in, exit code and the two streams out."""

import sys
from typing import NamedTuple

import pytest

from wfairl.cli import main


class Result(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def wfairl(monkeypatch, capsys):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["wfairl", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return Result(ended.value.code or 0, captured.out, captured.err)

    return run
