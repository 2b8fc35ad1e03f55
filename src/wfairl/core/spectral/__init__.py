"""The paper's learner: Hankel blocks and the weighted automaton."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "spectral_learner": ("SpectralLearner",),
    "task_learner": ("SpectralTaskLearner",),
}

__getattr__, __dir__, __all__ = load_lazily(__name__, _MODULES)
