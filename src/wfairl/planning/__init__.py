"""Automaton and world, searched together: product, plan, policy."""
