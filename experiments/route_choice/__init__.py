"""Choice models over routes, fitted to recorded trajectories."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "ChoiceModel": "choice_models",
    "Choices": "choices",
    "CostFamily": "estimation",
    "ExactChoice": "choice_models",
    "Information": "choice_models",
    "Likelihood": "choice_models",
    "SoftChoice": "choice_models",
    "fit": "estimation",
    "flat_estimate": "estimation",
    "parameters_of": "estimation",
}

__all__ = [*_MODULES]
__getattr__, __dir__ = load_lazily(__name__, _MODULES)
