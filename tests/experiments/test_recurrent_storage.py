"""A network that is written and read again gives the same values."""

import numpy as np
import pytest

from experiments.baselines.recurrent import RecurrentLearner
from experiments.baselines.recurrent_storage import BrokenNetworkError, WordNetwork

A, B = frozenset("a"), frozenset("b")
WORDS = [(), (A,), (A, B), (B, A), (A, A, B)]


@pytest.mark.parametrize("keep_repeats", [True, False])
def test_a_network_comes_back_as_it_was(tmp_path, keep_repeats):
    learner = RecurrentLearner(hidden=4, embedding=3, max_epochs=5).fit(WORDS, [0, 0, 1, 0, 1])
    WordNetwork(learner, 0.4, keep_repeats).save(tmp_path / "net.safetensors")
    again = WordNetwork.load(tmp_path / "net.safetensors")
    assert (again.threshold, again.keep_repeats) == (0.4, keep_repeats)
    read = WORDS if keep_repeats else [*WORDS[:4], (A, B)]
    assert np.array_equal(again.values(WORDS), learner.predict(read))
    assert again.values([(frozenset("z"),)]).tolist() == [0]


def test_another_file_is_a_named_error(tmp_path):
    (tmp_path / "net.safetensors").write_bytes(b"nothing")
    with pytest.raises(BrokenNetworkError, match="not of the format"):
        WordNetwork.load(tmp_path / "net.safetensors")
