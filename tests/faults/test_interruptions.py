"""A long command that is stopped at any moment and run again gives what it would have given; nothing is left behind.

`python -m faults` in the directory `tests` tries 50 moments and prints the figures.
"""

import pytest

from faults.commands import COMMANDS
from faults.interruptions import interrupt

pytestmark = pytest.mark.slow

MOMENTS = 20


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_command_that_is_stopped_at_any_moment_ends_as_if_it_had_not_been(command, workshop, tmp_path):
    tally = interrupt(command, workshop, tmp_path / "trials", MOMENTS)
    assert tally.problems == []
    assert tally.moments.total() >= MOMENTS
