"""Demonstrations: their records, the expert that makes them, and their files."""

from wfairl.demonstrations.answers import Answer
from wfairl.demonstrations.collection import FIRST_TRAINING_SEED, collect
from wfairl.demonstrations.demonstration import Dataset, Demonstration, merge, replay
from wfairl.demonstrations.expert import Expert, solve
from wfairl.demonstrations.log import read_log
from wfairl.demonstrations.storage import load, save

__all__ = [
    "FIRST_TRAINING_SEED",
    "Answer",
    "Dataset",
    "Demonstration",
    "Expert",
    "collect",
    "load",
    "merge",
    "read_log",
    "replay",
    "save",
    "solve",
]
