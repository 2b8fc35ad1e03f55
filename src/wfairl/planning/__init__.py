"""Planning in the product of a world and an automaton: product, plan, policy."""

from wfairl.planning.agent import Agent, Status
from wfairl.planning.auto import AutoPlanner
from wfairl.planning.cost import Cost, feature_cost, nominal_cost, true_cost, unit_cost
from wfairl.planning.focused import FocusedPlanner
from wfairl.planning.path import Path
from wfairl.planning.plan import Plan, UnsatisfiableTaskError, find_plan
from wfairl.planning.planner import ExactPlanner, Planner, Solution
from wfairl.planning.policy import log_probabilities, probabilities, sample_control, sample_controls
from wfairl.planning.product import Product, build_product
from wfairl.planning.shortest_path import CostToGo, ReversedGraph, cost_to_go, reverse_graph
from wfairl.planning.soft_cost_to_go import SoftPlanner

__all__ = [
    "Agent",
    "AutoPlanner",
    "Cost",
    "CostToGo",
    "ExactPlanner",
    "FocusedPlanner",
    "Path",
    "Plan",
    "Planner",
    "Product",
    "ReversedGraph",
    "SoftPlanner",
    "Solution",
    "Status",
    "UnsatisfiableTaskError",
    "build_product",
    "cost_to_go",
    "feature_cost",
    "find_plan",
    "log_probabilities",
    "nominal_cost",
    "probabilities",
    "reverse_graph",
    "sample_control",
    "sample_controls",
    "true_cost",
    "unit_cost",
]
