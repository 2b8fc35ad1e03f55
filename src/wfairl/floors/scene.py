"""A scene on a roadmap: the propositions of its regions, its images, and recorded paths matched to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.words import Word, compress
from wfairl.core.worlds.rendering import Places, Rendering
from wfairl.floors.floor_plan import path_lengths
from wfairl.floors.matching import NoMatchError, match_path
from wfairl.floors.shapes import Points, ShapeSet
from wfairl.recordings.log import PathMatch

if TYPE_CHECKING:
    from wfairl.floors.drawing import FloorDrawing
    from wfairl.floors.roadmap import Roadmap


SHORT_GAP = 0.3
"""Metres outside a region after which a recorded path has left it: positions are never exact."""


@dataclass(frozen=True, eq=False)
class FloorScene:
    """The source of a `GraphWorld` on a roadmap, whose states are the vertices."""

    roadmap: Roadmap  # the floor as a graph
    meanings: Mapping[str, str]  # proposition by region

    @property
    def rendering(self) -> Rendering:
        """How the floor looks."""
        drawing = self.drawing
        return Rendering(drawing.render, Places(drawing.locate))

    def shown_word(self, path: Points) -> Word:
        """The word of a path in this scene, from its first point on."""
        return compress([self.to_label(regions) for regions in self.roadmap.plan.word(path)])

    def shown_labels(self, places: Points) -> list[Label]:
        """The label of each of some places in this scene."""
        return [self.to_label(regions) for regions in self.roadmap.plan.labels(places)]

    def match_path(self, path: Points, start: int) -> PathMatch:
        """The path over the roadmap that is nearest to a recorded one, whose points may have a heading too."""
        plan, path = self.roadmap.plan, np.asarray(path, np.float64)[:, :2]
        low, high = np.array(plan.bounds[:2]) - plan.size, np.array(plan.bounds[2:]) + plan.size
        beyond = np.flatnonzero(((path < low) | (path > high)).any(axis=1))
        if len(beyond):
            raise NoMatchError(f"place {beyond[0]} of the path lies far from the floor; are these metres?")
        return match_path(self.roadmap, path, start, self.roadmap.marks(self.meanings), self.recorded_word(path))

    def recorded_word(self, path: Points) -> Word:
        """The word of a recorded path. A path that leaves a region and returns at once has not left it."""
        regions, begins = self.roadmap.plan.stretches(path)
        labels = [self.to_label(one) for one in regions]
        lengths = np.diff([*begins, path_lengths(path)[-1]])
        is_gap = [
            0 < i < len(labels) - 1 and lengths[i] < SHORT_GAP and label < labels[i - 1] and label < labels[i + 1]
            for i, label in enumerate(labels)
        ]
        return compress([label for label, gap in zip(labels, is_gap, strict=True) if not gap])

    def to_label(self, regions: Iterable[str]) -> Label:
        """The propositions of some regions."""
        return frozenset(self.meanings[name] for name in regions if name in self.meanings)

    @cached_property
    def meaningful(self) -> ShapeSet:
        """The regions that have a proposition."""
        return ShapeSet([region for name, region in self.roadmap.plan.regions.items() if name in self.meanings])

    @cached_property
    def drawing(self) -> FloorDrawing:
        """The renderer of the floor."""
        from wfairl.floors.drawing import FloorDrawing  # Pillow is slow to import

        return FloorDrawing(self.roadmap, self.meanings)
