"""What the demonstrator cared about: cost models, and how they are learned through the planner."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "CostModel": "cost_model",
    "CostSettings": "settings",
    "Estimator": "cost_model",
    "NodeInputs": "cost_model",
    "PricesCost": "feature_costs",
    "SampledCost": "feature_costs",
    "TrainingResult": "trainer",
    "TrainingScene": "scene",
    "TransitionInputs": "cost_model",
    "control_cost_to_go": "gradient",
    "load_cost": "storage",
    "log_likelihood": "gradient",
    "prepare_scenes": "scene",
    "register_cost_model": "storage",
    "save_cost": "storage",
    "trace_paths": "gradient",
    "train_cost": "trainer",
}

__all__ = [*_MODULES]
__getattr__, __dir__ = load_lazily(__name__, _MODULES)
