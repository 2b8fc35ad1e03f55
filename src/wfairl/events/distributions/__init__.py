"""Distributions over words: n-grams, Baum-Welch, their spectral start, and the learner that chooses among sizes."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "DistributionLearner": "distribution",
    "SpectralDistributionLearner": "spectral_distribution",
}

__all__ = [*_MODULES]
__getattr__, __dir__ = load_lazily(__name__, _MODULES)
