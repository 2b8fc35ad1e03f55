"""The transition cost, learned through the planner."""
