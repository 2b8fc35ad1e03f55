from itertools import product

import numpy as np
import pytest
from strategies_logic import random_table

from wfairl.core.rational.tables import is_forced, read_word, requiring

LABELS, LENGTH = 3, 5


def accepted_by(table):
    """All words up to a length that a table brings to acceptance exactly at their end."""
    words = (word for n in range(1, LENGTH + 1) for word in product(range(LABELS), repeat=n))
    return {word for word in words if read_word(table, np.array(word, np.int32)) == len(word)}


@pytest.mark.parametrize("seed", range(20))
def test_requiring_a_label_waits_for_it_and_changes_nothing_else(seed):
    table = random_table(np.random.default_rng(seed), LABELS)
    for label in range(LABELS):
        asked = accepted_by(requiring(table, label))
        assert all(label in word for word in asked)
        assert {word for word in accepted_by(table) if label in word} <= asked


@pytest.mark.parametrize("seed", range(20))
def test_a_label_is_forced_if_and_only_if_every_accepted_word_has_it(seed):
    table = random_table(np.random.default_rng(seed), LABELS)
    for label in range(LABELS):
        assert is_forced(table, label) == all(label in word for word in accepted_by(table))
        assert is_forced(requiring(table, label), label)
