"""What the demonstrator cared about: cost models, and how they are learned through the planner."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "CostModel": "cost_model",
    "CostSettings": "settings",
    "PricesCost": "feature_costs",
    "SampledCost": "feature_costs",
    "TrainingResult": "training",
    "TrainingScene": "scene",
    "load_cost": "cost_model",
    "prepare_scenes": "scene",
    "register_cost_model": "cost_model",
    "save_cost": "cost_model",
    "trace_paths": "gradient",
    "train_cost": "training",
}

__all__ = [*_MODULES]
__getattr__, __dir__ = load_lazily(__name__, _MODULES)
