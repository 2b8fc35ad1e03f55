"""What a person who pipes a command into a file sees of its progress."""

import pytest

from wfairl import progress


def test_a_stage_that_takes_long_is_two_lines_where_there_is_no_terminal(monkeypatch, capsys):
    monkeypatch.setattr(progress, "LONG", 0.0)
    assert list(progress.track(range(5), "counting")) == [0, 1, 2, 3, 4]
    lines = capsys.readouterr().err.splitlines()
    assert [line.rsplit(" after ")[0] for line in lines] == ["wfairl: counting: 1 of 5", "wfairl: counting: 5 of 5"]


def test_a_stage_that_takes_no_time_is_silent_there(capsys):
    assert list(progress.track(range(5), "counting")) == [0, 1, 2, 3, 4]
    assert capsys.readouterr() == ("", "")


def test_a_stage_that_fails_keeps_its_error(monkeypatch):
    monkeypatch.setattr(progress, "LONG", 0.0)
    with pytest.raises(ZeroDivisionError):
        [1 // item for item in progress.track([1, 0], "dividing")]
