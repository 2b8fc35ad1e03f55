"""Planning in the product of a world and an automaton: product, plan, policy."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "Agent": "agent",
    "Cost": "cost",
    "CostToGo": "shortest_path",
    "ExactPlanner": "planner",
    "Path": "path",
    "Plan": "plan",
    "PlannedPolicy": "policies",
    "Planner": "planner",
    "Policy": "policies",
    "Product": "product",
    "RandomPolicy": "policies",
    "ReversedGraph": "shortest_path",
    "Solution": "planner",
    "Status": "agent",
    "Trajectory": "rollout",
    "UnsatisfiableTaskError": "plan",
    "build_product": "product",
    "cost_to_go": "shortest_path",
    "expert_policy": "policies",
    "feature_cost": "cost",
    "find_plan": "plan",
    "follow": "path",
    "log_probabilities": "policy",
    "nominal_cost": "cost",
    "path_cost": "cost",
    "probabilities": "policy",
    "reverse_graph": "shortest_path",
    "roll_out": "rollout",
    "sample_control": "policy",
    "true_cost": "cost",
    "unit_cost": "cost",
}

__all__ = [*_MODULES]
__getattr__, __dir__ = load_lazily(__name__, _MODULES)
