"""Planning in the product of a world and an automaton: product, plan, policy."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "agent": ("Agent", "Status"),
    "cost": ("Cost", "feature_cost", "nominal_cost", "path_cost", "true_cost", "unit_cost"),
    "path": ("Path", "follow"),
    "plan": ("Plan", "UnsatisfiableTaskError", "find_plan"),
    "planner": ("PLANNERS", "ExactPlanner", "Planner", "Solution"),
    "policies": ("PlannedPolicy", "Policy", "RandomPolicy", "expert_policy"),
    "policy": ("log_probabilities", "probabilities", "sample_control"),
    "product": ("Product", "build_product"),
    "rollout": ("Trajectory", "roll_out"),
    "shortest_path": ("CostToGo", "ReversedGraph", "cost_to_go", "reverse_graph"),
}

__getattr__, __dir__, __all__ = load_lazily(__name__, _MODULES)
