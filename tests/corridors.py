"""A world in plain Python that knows nothing of MiniGrid, with and without a renderer; and tasks in it."""

from dataclasses import dataclass

import numpy as np

from wfairl.core.automata.rules import visit_in_order
from wfairl.core.worlds.rendering import Places, Rendering
from wfairl.core.worlds.task import ModelTask
from wfairl.pages.world_drawing import cell_centre, draw_grid

MUD = 3.0
"""What entering a muddy cell costs."""


@dataclass(frozen=True)
class Corridor:
    """A robot fetches a parcel at the right end and brings it home; the cells before the end are muddy.

    States are (cell, has parcel).
    """

    length: int = 6
    propositions: tuple[str, str] = ("parcel", "home")

    controls = ("left", "right", "grab")
    initial_state = (2, False)
    feature_names = ("one", "enters mud")

    def step(self, state, control):
        cell, has_parcel = state
        if self.controls[control] == "grab":
            return cell, has_parcel or cell == self.length - 1
        return min(max(cell + (-1 if control == 0 else 1), 0), self.length - 1), has_parcel

    def label(self, state, control, next_state):
        cell, has_parcel = next_state
        return frozenset(name for name, holds in zip(self.propositions, (has_parcel, cell == 0), strict=True) if holds)

    def features(self, state, control, next_state):
        return np.array([1.0, float(next_state[0] != state[0] and next_state[0] == self.length - 2)])


@dataclass(frozen=True)
class DrawnCorridor(Corridor):
    """The same corridor, which can show itself."""

    @property
    def rendering(self):
        return Rendering(self.draw, Places(self.locate))

    def draw(self, state):
        cell, has_parcel = state
        row = "H" + "." * (self.length - 3) + "~" + ("." if has_parcel else "P")
        return draw_grid([row], {"~": "#b99a6b", "H": "#cfe8d5"}, (cell, 0), "p" if has_parcel else "")

    def locate(self, state):
        return cell_centre(state[0], 0)


def corridor_task(world=Corridor, name="corridor", propositions=("parcel", "home"), true_cost=None):
    return ModelTask(
        name=name,
        summary="fetch the parcel and bring it home",
        propositions=propositions,
        rule=visit_in_order(*propositions),
        horizon=40,
        scene=lambda seed: world(5 + seed % 4, propositions),
        true_cost=true_cost,
    )


def muddy_cost(features):
    return features @ np.array([1.0, MUD])
