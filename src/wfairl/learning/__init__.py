"""What the demonstrator cared about: cost models, and how they are learned through the planner."""

from wfairl.learning.cost_model import CostModel
from wfairl.learning.feature_costs import LinearCost, SharedLinearCost, TabularCost
from wfairl.learning.gradient import control_cost_to_go, log_likelihood, trace_paths
from wfairl.learning.grid_costs import LocalCost, PaperCost
from wfairl.learning.run_directory import Run, RunConfig, load_run, train_run
from wfairl.learning.scene import Scene, prepare_scenes
from wfairl.learning.storage import load_cost, save_cost
from wfairl.learning.trainer import Settings, TrainingResult, train

__all__ = [
    "CostModel",
    "LinearCost",
    "LocalCost",
    "PaperCost",
    "Run",
    "RunConfig",
    "Scene",
    "Settings",
    "SharedLinearCost",
    "TabularCost",
    "TrainingResult",
    "control_cost_to_go",
    "load_cost",
    "load_run",
    "log_likelihood",
    "prepare_scenes",
    "save_cost",
    "trace_paths",
    "train",
    "train_run",
]
