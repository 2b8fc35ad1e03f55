"""A world that slips: Gymnasium's frozen lake with a task of two errands.

    wfairl --tasks examples/frozen_lake.py plan frozen-errands

A step leads where it should in one of three cases, and to a side in the others. The agent fetches a flag in the upper
right corner, then goes to the goal, and never into a hole. A world that slips answers `outcomes` instead of `step`; one
with a table of transitions, such as those of Gymnasium, needs only its propositions.
"""

from gymnasium.envs.toy_text import FrozenLakeEnv

from wfairl import ModelTask, all_of, avoid, visit_in_order
from wfairl.recordings import GymnasiumWorld

LAKE = FrozenLakeEnv(map_name="8x8")
CELLS = "".join(cell.decode() for row in LAKE.desc for cell in row)

WORLD = GymnasiumWorld(
    LAKE,
    {"flag": lambda cell: cell == 7, "goal": lambda cell: CELLS[cell] == "G", "hole": lambda cell: CELLS[cell] == "H"},
    controls=("left", "down", "right", "up"),
    start=0,
)

TASK = ModelTask(
    name="frozen-errands",
    summary="fetch the flag, then reach the goal, and never step into a hole, on ice",
    propositions=WORLD.propositions,
    rule=all_of(visit_in_order("flag", "goal"), avoid("hole")),
    horizon=500,
    scene=lambda seed: WORLD,
)

if __name__ == "__main__":
    from wfairl import unit_cost
    from wfairl.core.planning import ExactPlanner

    for price in (100, 1000, 1_000_000):
        plan = ExactPlanner(price=price).solve(TASK.make_world(0), TASK.rule, unit_cost).plan()
        print(f"a failure costs {price:,} steps: success {plan.success:.4f}, {plan.cost:.0f} steps expected")
