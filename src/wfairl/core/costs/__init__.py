"""What the demonstrator cared about: cost models, and how they are learned through the planner."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "cost_model": ("CostModel", "load_cost", "register_cost_model", "save_cost"),
    "feature_costs": ("PricesCost", "SampledCost"),
    "gradient": ("trace_paths",),
    "scene": ("TrainingScene", "prepare_scenes"),
    "settings": ("CostSettings",),
    "training": ("EpochMetrics", "TrainingResult", "train_cost"),
}

__getattr__, __dir__, __all__ = load_lazily(__name__, _MODULES)
