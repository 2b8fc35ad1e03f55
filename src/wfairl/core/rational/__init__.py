"""The logic of a task from a few good demonstrations: the automaton under which the demonstrators look rational."""

from wfairl.core.support.lazy_names import load_lazily

_MODULES = {
    "Alternative": "task_posterior",
    "ArrayWorld": "evidence",
    "BadSceneError": "evidence",
    "CautiousPolicy": "caution",
    "DemonstratedScene": "evidence",
    "NothingExplainedError": "rational",
    "RationalLearner": "rational",
    "RationalSettings": "rational",
    "SearchSettings": "search",
    "Support": "task_posterior",
    "RationalTaskLearner": "learners",
    "TaskPosterior": "task_posterior",
    "posterior_of": "task_posterior",
}

__all__ = [*_MODULES]
__getattr__, __dir__ = load_lazily(__name__, _MODULES)
