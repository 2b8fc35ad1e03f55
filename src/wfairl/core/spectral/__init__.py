"""The paper's learner: Hankel blocks and the weighted automaton."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "SpectralLearner": "spectral_learner",
    "SpectralTaskLearner": "task_learner",
}

__all__ = [*_MODULES]
__getattr__, __dir__ = load_lazily(__name__, _MODULES)
