"""What the demonstrator cared about: cost models, and how they are learned through the planner."""

from wfairl.lazy_names import load_lazily

_MODULES = {
    "ChoiceModel": "choice_models",
    "Choices": "choices",
    "CostFamily": "estimation",
    "CostModel": "cost_model",
    "ExactChoice": "choice_models",
    "Information": "choice_models",
    "Likelihood": "choice_models",
    "LinearCost": "feature_costs",
    "LocalCost": "grid_costs",
    "NamedTable": "named_table",
    "NodeInputs": "cost_model",
    "PaperCost": "grid_costs",
    "Run": "run_directory",
    "RunConfig": "run_directory",
    "Settings": "trainer",
    "SharedLinearCost": "feature_costs",
    "SoftChoice": "choice_models",
    "TabularCost": "feature_costs",
    "TrainingResult": "trainer",
    "TrainingScene": "scene",
    "check_free": "run_directory",
    "control_cost_to_go": "gradient",
    "fit": "estimation",
    "flat_estimate": "estimation",
    "load_cost": "storage",
    "load_run": "run_directory",
    "log_likelihood": "gradient",
    "parameters_of": "estimation",
    "prepare_scenes": "scene",
    "register_cost_model": "storage",
    "save_cost": "storage",
    "seen_tests": "run_directory",
    "trace_paths": "gradient",
    "train": "trainer",
    "train_run": "run_directory",
    "write_config": "run_directory",
}

__all__ = [*_MODULES]
__getattr__, __dir__ = load_lazily(__name__, _MODULES)
