"""The paper's learner: Hankel blocks, the weighted automaton, the choice of its size."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "SpectralLearner": "spectral_learner",
    "SpectralTaskLearner": "task_learner",
    "fit_task_model": "task_learner",
}

__all__ = [*_MODULES]
__getattr__, __dir__ = load_lazily(__name__, _MODULES)
