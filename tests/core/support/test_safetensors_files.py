"""Arrays come back as they were, and a file that was damaged anywhere is noticed."""

import numpy as np
import pytest

from wfairl.core.support.errors import BadInputError
from wfairl.core.support.safetensors_files import read_arrays, write_arrays

ARRAYS = {"b": np.arange(6.0).reshape(2, 3)[:, ::-1], "a": np.zeros((0, 4), np.uint16), "scalar": np.array(7)}


@pytest.fixture
def path(tmp_path):
    write_arrays(tmp_path / "x.safetensors", "test", 3, {"name": "x", "list": [1, None]}, ARRAYS)
    return tmp_path / "x.safetensors"


def test_header_and_arrays_come_back(path):
    header, arrays = read_arrays(path, "test", 3, BadInputError)
    assert header == {"name": "x", "list": [1, None]}
    assert set(arrays) == set(ARRAYS)
    for name, array in arrays.items():
        assert array.dtype == ARRAYS[name].dtype
        np.testing.assert_array_equal(array, ARRAYS[name])


def test_a_flipped_bit_anywhere_is_noticed(path):
    whole = path.read_bytes()
    for position in range(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= 1 << position % 8
        path.write_bytes(bytes(damaged))
        with pytest.raises(BadInputError, match=r"x\.safetensors"):
            read_arrays(path, "test", 3, BadInputError)


def test_another_format_and_another_version_are_named(path):
    with pytest.raises(BadInputError, match="not of the format other"):
        read_arrays(path, "other", 3, BadInputError)
    with pytest.raises(BadInputError, match="format version 3, but this wfairl reads version 2"):
        read_arrays(path, "test", 2, BadInputError)
