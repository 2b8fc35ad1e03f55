"""Drawings of automata."""
