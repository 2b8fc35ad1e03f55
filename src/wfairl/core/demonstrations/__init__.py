"""Demonstrations: their records, how they are collected, and their files."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "Answer": "answers",
    "Dataset": "demonstration",
    "Demonstration": "demonstration",
    "FIRST_TRAINING_SEED": "collection",
    "LearnedTask": "learners",
    "Reading": "learners",
    "TaskLearner": "learners",
    "WordLearner": "learners",
    "collect": "collection",
    "find_learner": "learners",
    "load": "storage",
    "merge": "demonstration",
    "register_learner": "learners",
    "replay": "demonstration",
    "save": "storage",
}

__all__ = [*_MODULES]
__getattr__, __dir__ = load_lazily(__name__, _MODULES)
