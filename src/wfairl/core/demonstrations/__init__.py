"""Demonstrations: their records, and the learners that read them."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "answers": ("Answer",),
    "demonstration": ("Dataset", "Demonstration", "merge", "replay"),
    "learners": ("LearnedTask", "Reading", "TaskLearner", "WordLearner", "find_learner", "register_learner"),
}

__getattr__, __dir__, __all__ = load_lazily(__name__, _MODULES)
