"""Demonstrations: their records, the expert that makes them, and their files."""

from wfairl.core.support.lazy_names import load_lazily

_MODULES = {
    "Answer": "answers",
    "Dataset": "demonstration",
    "Demonstration": "demonstration",
    "Expert": "expert",
    "FIRST_TRAINING_SEED": "collection",
    "LearnedTask": "learners",
    "Reading": "learners",
    "TaskLearner": "learners",
    "WordLearner": "learners",
    "collect": "collection",
    "find_learner": "learners",
    "load": "storage",
    "merge": "demonstration",
    "read_log": "log",
    "register_learner": "learners",
    "replay": "demonstration",
    "save": "storage",
    "solve": "expert",
}

__all__ = [*_MODULES]
__getattr__, __dir__ = load_lazily(__name__, _MODULES)
