"""The logic of a task from a few good demonstrations: the automaton under which the demonstrators look rational."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "caution": ("CautiousPolicy", "DoubtfulPlanError"),
    "logic_with_cost": ("learn_logic_and_cost",),
    "observations": ("ArrayWorld", "BadSceneError", "DemonstratedScene", "Observations"),
    "rational_learner": ("NothingExplainedError", "RationalLearner", "learn_posterior"),
    "settings": ("RationalSettings",),
    "task_posterior": ("Alternative", "Support", "TaskPosterior", "posterior_of"),
}

__getattr__, __dir__, __all__ = load_lazily(__name__, _MODULES)
