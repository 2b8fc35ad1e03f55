"""Continuous worlds: floor plans, roadmaps over them, recorded paths matched to them, plans refined in the plane.

The curves of cars are in `ompl_steering`, which needs the extra `ompl`.
"""

from wfairl.worlds.continuous.floor_plan import FloorPlan
from wfairl.worlds.continuous.matching import Match
from wfairl.worlds.continuous.refining import Band, RefinedPath, refine_path
from wfairl.worlds.continuous.roadmap import Roadmap, draw_roadmap
from wfairl.worlds.continuous.scene import FloorScene
from wfairl.worlds.continuous.shapes import Shape, circle, polygon, rectangle
from wfairl.worlds.continuous.steering import STRAIGHT, Steering

__all__ = [
    "STRAIGHT",
    "Band",
    "FloorPlan",
    "FloorScene",
    "Match",
    "RefinedPath",
    "Roadmap",
    "Shape",
    "Steering",
    "circle",
    "draw_roadmap",
    "polygon",
    "rectangle",
    "refine_path",
]
