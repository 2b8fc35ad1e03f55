"""The compiled MiniGrid: exploration and stepping against plain Python and against MiniGrid itself.

    python benchmarks/world_model.py [--json] [--quick] [--repeats 5]

Exploration is of `blocked-unlock-pickup` until the box is picked up: 508,144 states, 3.05 million transitions,
each with its label. The peer is the same search in plain Python, below: the same rules for any scene of doors,
keys, balls and boxes, with tuples as states and a dict of the states found. Times are of the processor: both run on one
thread, and other work on the machine does not affect them.
Stepping, one step after the other with labels, is compared with `MiniGridEnv.step`, which also creates an observation
(MiniGrid is also measured without that part, which no user can leave out).
Memory is the growth of this process's peak from after the imports to after the first exploration, with the compiler.
"""

import resource
import time
from typing import Any

import numpy as np
from minigrid.minigrid_env import MiniGridEnv
from numpy.typing import NDArray
from reporting import fastest, make_parser, report

from wfairl.core.automata.automaton import ACCEPTED
from wfairl.core.automata.rules import visit_in_order
from wfairl.core.support.compiling import njit
from wfairl.minigrid import MiniGridWorld, physics
from wfairl.minigrid.atoms import label_mask
from wfairl.runs.task_registry import find_task

MODEL_STEPS = 2_000_000
REAL_STEPS = 4_000


def main() -> None:
    parser = make_parser(__doc__, repeats=5)
    arguments = parser.parse_args()
    task = find_task("blocked-unlock-pickup")
    world = task.make_world(seed=1)
    figures = measure_stepping(task, world, arguments.repeats)
    if not arguments.quick:  # plain Python explores for a minute
        figures |= measure_exploration(world, arguments.repeats)
    report({"the compiled MiniGrid": figures}, arguments.json)


def measure_exploration(world: MiniGridWorld, repeats: int) -> dict[str, Any]:
    until_the_box = visit_in_order("box")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    explored = world.explore(until_the_box)  # compiles, or loads what was compiled
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    ours = fastest(lambda: world.explore(until_the_box), repeats)
    started = time.process_time()
    found = explore_in_python(world)
    plain = time.process_time() - started
    assert found == len(explored.states)
    return {
        "states": len(explored.states),
        "transitions": explored.successors.size,
        "exploration_seconds": ours,
        "plain_python_seconds": plain,
        "exploration_speedup": plain / ours,
        "arrays_megabytes": sum(array.nbytes for array in vars(explored).values() if isinstance(array, np.ndarray))
        / 2**20,
        "peak_growth_megabytes": memory,
    }


@njit(cache=True, nogil=True)
def states_along(
    layout: physics.LayoutTable, atoms: NDArray[np.int32], start: NDArray[np.uint64], controls: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The states [controls + 1, words] and label masks [controls] along a sequence of controls."""
    states = np.empty((controls.size + 1, start.size), np.uint64)
    labels = np.empty(controls.size, np.uint64)
    fields = np.empty(physics.fields_count(layout), np.int32)
    states[0] = start
    physics.unpack(layout, start, fields)
    for t in range(controls.size):
        changed = physics.apply_control(layout, fields, controls[t])
        physics.pack_fields(layout, fields, states[t + 1])
        labels[t] = label_mask(layout, atoms, fields, controls[t] if changed else physics.NOTHING)
    return states, labels


def measure_stepping(task: Any, world: MiniGridWorld, repeats: int) -> dict[str, Any]:
    controls = np.random.default_rng(0).integers(6, size=MODEL_STEPS)
    start = world.pack(world.initial_state)
    states_along(world.layout.table, world.atoms, start, controls)  # compiles
    ours = fastest(lambda: states_along(world.layout.table, world.atoms, start, controls), repeats) / MODEL_STEPS
    real: Any = task.make_environment(seed=1).unwrapped
    theirs = fastest(lambda: [MiniGridEnv.step(real, control) for control in controls[:REAL_STEPS]], 3) / REAL_STEPS
    real.gen_obs = lambda: None
    bare = fastest(lambda: [MiniGridEnv.step(real, control) for control in controls[:REAL_STEPS]], 3) / REAL_STEPS
    return {
        "model_steps_per_second": 1 / ours,
        "minigrid_steps_per_second": 1 / theirs,
        "stepping_speedup": theirs / ours,
        "stepping_speedup_without_observations": bare / ours,
    }


def explore_in_python(world: MiniGridWorld) -> int:
    """The same search in plain Python: the number of states until the box is carried."""
    scene = PlainScene(world)
    known = {scene.start: 0}
    queue = [scene.start]
    transitions = []
    for state in queue:
        row = []
        for control in physics.CONTROLS:
            following = scene.step(state, control)
            label = scene.label(following)
            if "box" in label:
                row.append((label, ACCEPTED))
                continue
            if following not in known:
                known[following] = len(queue)
                queue.append(following)
            row.append((label, known[following]))
        transitions.append(row)
    return len(queue)


class PlainScene:
    """MiniGrid's rules for any walls, doors, keys, balls and empty boxes, over tuples.

    A state is (agent, direction, number of the carried object or None, place of each object or None, state of each
    door).
    """

    MOVES = ((1, 0), (0, 1), (-1, 0), (0, -1))
    WALL, DOOR, KEY, BALL, BOX = 2, 4, 5, 6, 7

    def __init__(self, world: MiniGridWorld):
        scene = world.encode(world.initial_state)
        cells = {(x, y): tuple(map(int, code)) for x, row in enumerate(scene.grid) for y, code in enumerate(row)}
        self.walls = {cell for cell, code in cells.items() if code[0] == self.WALL}
        self.doors = [cell for cell, code in cells.items() if code[0] == self.DOOR]
        self.door_at = {cell: number for number, cell in enumerate(self.doors)}
        self.door_colors = [cells[cell][1] for cell in self.doors]
        places = [cell for cell, code in cells.items() if code[0] in (self.KEY, self.BALL, self.BOX)]
        self.kinds = [cells[cell][0] for cell in places]
        self.colors = [cells[cell][1] for cell in places]
        door_states = tuple(("open", "closed", "locked")[cells[cell][2]] for cell in self.doors)
        self.start = (scene.position, scene.direction, None, tuple(places), door_states)

    def step(self, state: Any, control: str) -> Any:
        """The next state."""
        agent, direction, carried, places, doors = state
        if control == "left":
            return agent, (direction - 1) % 4, carried, places, doors
        if control == "right":
            return agent, (direction + 1) % 4, carried, places, doors
        move = self.MOVES[direction]
        front = (agent[0] + move[0], agent[1] + move[1])
        item = places.index(front) if front in places else None
        door = self.door_at.get(front)
        if control == "forward":
            if front in self.walls or item is not None or (door is not None and doors[door] != "open"):
                return state
            return front, direction, carried, places, doors
        if control == "pickup":
            if carried is not None or item is None:
                return state
            return agent, direction, item, replaced(places, item, None), doors
        if control == "drop":
            if carried is None or front in self.walls or item is not None or door is not None:
                return state
            return agent, direction, None, replaced(places, carried, front), doors
        if door is not None:
            if doors[door] != "locked":
                return agent, direction, carried, places, replaced(doors, door, TOGGLED[doors[door]])
            if carried is None or self.kinds[carried] != self.KEY or self.colors[carried] != self.door_colors[door]:
                return state
            return agent, direction, carried, places, replaced(doors, door, "open")
        if item is not None and self.kinds[item] == self.BOX:
            return agent, direction, carried, replaced(places, item, None), doors
        return state

    def label(self, state: Any) -> frozenset[str]:
        """What holds in a state."""
        agent, _, carried, places, doors = state
        holds = set()
        door = self.doors[0]
        balls = [agent if carried == i else places[i] for i, kind in enumerate(self.kinds) if kind == self.BALL]
        if all(abs(ball[0] - door[0]) + abs(ball[1] - door[1]) >= 2 for ball in balls if ball is not None):
            holds.add("ball")
        if carried is not None and self.kinds[carried] == self.KEY:
            holds.add("key")
        if doors[0] == "open":
            holds.add("door")
        if carried is not None and self.kinds[carried] == self.BOX:
            holds.add("box")
        return frozenset(holds)


TOGGLED = {"open": "closed", "closed": "open"}


def replaced(values: tuple[Any, ...], index: int, value: Any) -> tuple[Any, ...]:
    return (*values[:index], value, *values[index + 1 :])


if __name__ == "__main__":
    main()
