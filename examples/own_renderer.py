"""Your own renderer: with a `rendering`, every image and report shows your world.

    wfairl --tasks examples/own_renderer.py plan two-tanks --seed 0 -o plan.png

The world is not a grid: two water tanks with three valves. A rendering has a function that draws a state as an image,
shape [height, width, 3], and may have one that locates the "agent" in it, for images of whole trajectories.
"""

import numpy as np

from wfairl import ModelTask, Places, Rendering, all_of, avoid, visit_in_order

FULL = 6  # levels


class TwoTanks:
    """A state is the level of the left and of the right tank."""

    controls, propositions = ("fill left", "left to right", "empty right"), ("level", "drained", "overflow")
    initial_state = (1, 0)

    def step(self, state, control):
        left, right = state
        if control == 1 and left:
            return left - 1, min(right + 1, FULL)
        return {0: (min(left + 1, FULL), right), 1: state, 2: (left, max(right - 1, 0))}[control]

    def label(self, state, control, next_state):
        holds = {"level": next_state == (3, 3), "drained": next_state == (0, 0), "overflow": FULL in next_state}
        return frozenset(name for name, true in holds.items() if true)

    def features(self, state, control, next_state):
        return np.eye(3)[control]

    @property
    def rendering(self):
        return Rendering(self.draw, Places(self.locate))

    def draw(self, state):
        image = np.full((120, 160, 3), 255, np.uint8)
        for tank, level in enumerate(state):
            inside = slice(15 + 75 * tank, 70 + 75 * tank)
            image[10:110, inside] = 225  # air
            image[110 - 100 * level // FULL : 110, inside] = (70, 130, 200)  # water
        return image

    def locate(self, state):
        return 80.0 + 37 * np.sign(state[1] - state[0]), 110 - 100 * max(state) / FULL


TASK = ModelTask(
    name="two-tanks",
    summary="bring both tanks to the same level, then drain them, without an overflow",
    propositions=TwoTanks.propositions,
    rule=all_of(visit_in_order("level", "drained"), avoid("overflow")),
    horizon=60,
    scene=lambda seed: TwoTanks(),
)

if __name__ == "__main__":
    from PIL import Image

    Image.fromarray(TwoTanks().draw((4, 2))).save("tanks.png")
    print("wrote tanks.png")
