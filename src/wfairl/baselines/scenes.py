"""Scenes for choosing between variants of a method: neither those that it is trained on nor those it is tested on.

Tests have the seeds below 1,000,000 and demonstrations those from there on, a million for each collection; the
scenes here belong to the collection of seed 899, and leave out what a data set holds of it.
"""

from itertools import count, islice

from wfairl.demonstrations.demonstration import Dataset

FIRST_VALIDATION_SEED = 900_000_000


def validation_seeds(number: int, dataset: Dataset) -> tuple[int, ...]:
    """The first scenes for validation that no demonstration came from."""
    seen = dataset.seeds
    return tuple(islice((seed for seed in count(FIRST_VALIDATION_SEED) if seed not in seen), number))
