"""An error in a user's own file is told with its place there, and one in this package without."""

import runpy

import pytest

from wfairl.core.support.errors import one_line
from wfairl.core.worlds.world import available_controls


def test_the_place_is_that_in_the_users_file_and_not_one_in_the_package(tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text("def fail(function):\n    function(None, None)\n")
    with pytest.raises(AttributeError) as error:
        runpy.run_path(str(mine))["fail"](available_controls)
    assert one_line(error.value) == "AttributeError: 'NoneType' object has no attribute 'controls', in mine.py, line 2"
