"""A warehouse of 30 x 40 cells in plain Python: pick up a parcel, have it scanned, bring it to the dock.

    wfairl --tasks examples/warehouse.py run warehouse

Shelves stand in rows with aisles between them. Some aisles are crowded, and a step there costs a driver four times as
much. The learner knows neither the order of the stations nor the cost of a crowd.
"""

import numpy as np

from wfairl import ModelTask, Places, Rendering, visit_in_order
from wfairl.pages.world_drawing import cell_centre, draw_grid

HEIGHT, WIDTH = 30, 40
MOVES = {"up": (-1, 0), "right": (0, 1), "down": (1, 0), "left": (0, -1), "wait": (0, 0)}
LABELS = {"P": "pick", "S": "scan", "D": "dock", "B": "charger"}


class Warehouse:
    """A state is a cell (row, column); the seed draws stations, crowds and the start."""

    controls = tuple(MOVES)
    propositions = tuple(LABELS.values())
    feature_names = ("step", "into a crowd")

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.cells = np.full((HEIGHT, WIDTH), ".")
        self.cells[2:-2:4, 3:-3] = "#"  # shelves, one row of them in four
        self.cells[:, 13:27:13] = "."  # and two aisles across
        for aisle in range(3, HEIGHT, 4):
            left = int(rng.integers(0, WIDTH - 12))
            aisle_cells = self.cells[aisle : aisle + 3, left : left + 12]
            aisle_cells[aisle_cells == "."] = "~"
        free = np.argwhere(self.cells == ".")
        chosen = free[rng.choice(len(free), size=60, replace=False)]
        for (row, column), name in zip(chosen[1:], ["P"] * 3 + ["S"] * 2 + ["D"] + ["B"] * 53, strict=True):
            self.cells[row, column] = name
        self.initial_state = tuple(int(part) for part in chosen[0])

    def step(self, state, control):
        row, column = (part + move for part, move in zip(state, MOVES[self.controls[control]], strict=True))
        inside = 0 <= row < HEIGHT and 0 <= column < WIDTH
        return (row, column) if inside and self.cells[row, column] != "#" else state

    def label(self, state, control, next_state):
        return frozenset({LABELS[self.cells[next_state]]}) if self.cells[next_state] in LABELS else frozenset()

    def features(self, state, control, next_state):
        return np.array([1.0, self.cells[next_state] == "~"], float)

    @property
    def rendering(self):
        return Rendering(self.draw, Places(lambda state: cell_centre(state[1], state[0], size=16)))

    def draw(self, state):
        colours = {"~": "#f4c7ab", "P": "#cfe3f7", "S": "#fff2b3", "D": "#cfe8d5", "B": "#eeeeee"}
        return draw_grid(["".join(row) for row in self.cells], colours, agent=state[::-1], size=16)


TASK = ModelTask(
    name="warehouse",
    summary="pick something up, have it scanned, bring it to the dock",
    propositions=Warehouse.propositions,
    rule=visit_in_order("pick", "scan", "dock"),
    horizon=200,
    scene=Warehouse,
    true_cost=lambda features: 1 + 3 * features[:, 1],
)
