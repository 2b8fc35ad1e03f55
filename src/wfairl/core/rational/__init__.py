"""The logic of a task from a few good demonstrations: the automaton under which the demonstrators look rational."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "Alternative": "task_posterior",
    "ArrayWorld": "observations",
    "BadSceneError": "observations",
    "CautiousPolicy": "caution",
    "DemonstratedScene": "observations",
    "DoubtfulPlanError": "caution",
    "NothingExplainedError": "rational_learner",
    "Observations": "observations",
    "RationalLearner": "rational_learner",
    "RationalSettings": "settings",
    "RuleEvidence": "rational_learner",
    "Support": "task_posterior",
    "TaskPosterior": "task_posterior",
    "learn_logic_and_cost": "logic_with_cost",
    "learn_posterior": "rational_learner",
    "posterior_of": "task_posterior",
    "weigh_rules": "rational_learner",
}

__all__ = [*_MODULES]
__getattr__, __dir__ = load_lazily(__name__, _MODULES)
