"""Worlds without cells: floor plans, roadmaps over them, and paths snapped to roadmaps."""
