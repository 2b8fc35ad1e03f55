"""Choice models over routes, fitted to recorded trajectories."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "choice_models": ("ChoiceModel", "ExactChoice", "Information", "Likelihood", "SoftChoice"),
    "choices": ("Choices",),
    "estimation": ("CostFamily", "fit", "flat_estimate", "parameters_of"),
}

__getattr__, __dir__, __all__ = load_lazily(__name__, _MODULES)
