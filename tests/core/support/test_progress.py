"""What a person who pipes a command into a file sees of its progress."""

import pytest

from wfairl.core.support import progress


def lines_of(capsys):
    return [line.rsplit(" after ")[0] for line in capsys.readouterr().err.splitlines()]


def test_a_stage_that_takes_long_is_one_line_where_there_is_no_terminal(monkeypatch, capsys):
    monkeypatch.setattr(progress, "SECONDS_WORTH_A_LINE", 0.0)
    assert list(progress.track(range(5), "counting")) == [0, 1, 2, 3, 4]
    assert lines_of(capsys) == ["wfairl: counting: 5 of 5"]


def test_a_stage_that_takes_very_long_shows_that_it_goes_on(monkeypatch, capsys):
    monkeypatch.setattr(progress, "SECONDS_WORTH_A_LINE", 0.0)
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    assert list(progress.track(range(3), "counting")) == [0, 1, 2]
    assert lines_of(capsys) == [f"wfairl: counting: {done} of 3" for done in (1, 2, 3)]


def test_work_of_unknown_length_is_announced_only_if_it_takes_long(monkeypatch, capsys):
    assert list(progress.announce_if_long(range(5), "counting")) == [0, 1, 2, 3, 4]
    assert lines_of(capsys) == []
    monkeypatch.setattr(progress, "SECONDS_OF_SILENCE", 0.0)
    monkeypatch.setattr(progress, "ITEMS_PER_LOOK", 1)
    assert list(progress.announce_if_long(range(3), "counting")) == [0, 1, 2]
    assert lines_of(capsys)[0] == "wfairl: counting: 0"


def test_a_stage_that_takes_no_time_is_silent_there(capsys):
    assert list(progress.track(range(5), "counting")) == [0, 1, 2, 3, 4]
    assert capsys.readouterr() == ("", "")


def test_a_stage_that_fails_keeps_its_error(monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_WORTH_A_LINE", 0.0)
    with pytest.raises(ZeroDivisionError):
        [1 // item for item in progress.track([1, 0], "dividing")]
