"""Your own world: a robot in a corridor fetches a parcel at one end and brings it to the other.

wfairl --tasks examples/own_world.py run corridor
"""

import numpy as np

from wfairl import ModelTask, Rendering, check_world, visit_in_order


class Corridor:
    """States are (cell, has parcel); any hashable value can be a state."""

    controls = ("left", "right", "grab")
    propositions = ("parcel", "home")
    feature_names = ("moves", "carries", "bumps into a wall")

    def __init__(self, length=6, start=2):
        self.length, self.initial_state = length, (start, False)
        self.rendering = Rendering(self.draw)

    def step(self, state, control):
        cell, has_parcel = state
        if self.controls[control] == "grab":
            return cell, has_parcel or cell == self.length - 1
        step = -1 if self.controls[control] == "left" else 1
        return min(max(cell + step, 0), self.length - 1), has_parcel

    def label(self, state, control, next_state):
        cell, has_parcel = next_state
        return frozenset(({"parcel"} if has_parcel else set()) | ({"home"} if cell == 0 else set()))

    def features(self, state, control, next_state):
        moves, pushes = next_state[0] != state[0], self.controls[control] != "grab"
        return np.array([moves, next_state[1], pushes and not moves], float)

    def draw(self, state):
        image = np.full((16, 16 * self.length, 3), 230, np.uint8)
        image[:, 16 * state[0] : 16 * state[0] + 16] = (200, 60, 40) if state[1] else (60, 90, 200)
        return image


TASK = ModelTask(
    name="corridor",
    summary="fetch the parcel at one end and bring it to the other",
    propositions=Corridor.propositions,
    rule=visit_in_order("parcel", "home"),
    horizon=40,
    scene=lambda seed: Corridor(length=5 + seed % 4, start=1 + seed % 3),
)

if __name__ == "__main__":
    from wfairl import build_product, find_plan, unit_cost

    print(check_world(Corridor()), "states obey the laws of a world")
    product = build_product(Corridor(), TASK.rule)
    plan = find_plan(product, unit_cost(product))
    print("optimal:", " ".join(Corridor.controls[control] for control in plan.path.controls))
