"""The logic of a task from a few good demonstrations: the automaton under which the demonstrators look rational."""

from wfairl.lazy_names import load_lazily

_MODULES = {
    "Alternative": "alternatives",
    "ArrayWorld": "evidence",
    "BadSceneError": "evidence",
    "Before": "corrections",
    "CautiousPolicy": "caution",
    "DemonstratedScene": "evidence",
    "Explanation": "alternation",
    "NothingExplainedError": "rational",
    "RationalLearner": "rational",
    "RationalResult": "rational",
    "RationalSettings": "rational",
    "SearchSettings": "search",
    "Support": "support",
    "TaskLearner": "learners",
    "correction_of_document": "corrections",
    "find_learner": "learners",
    "find_question": "questions",
    "find_scene": "proposals",
    "learn_logic_and_cost": "alternation",
    "obey": "corrections",
    "register_learner": "learners",
    "take_answer": "questions",
}

__all__ = [*_MODULES]
__getattr__, __dir__ = load_lazily(__name__, _MODULES)
