"""Demonstrations in Minari's format."""
