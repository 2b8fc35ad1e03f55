"""Your own simulator: the agent acts in another world than it plans with. Here the floor is slippery.

    wfairl --tasks examples/own_simulator.py run slippery-corridor

The agent plans in the model, where every control succeeds. In the simulator the wheels spin in one step of five. After
each step the agent observes its true state. On a robot, `step` would send the command and read the sensors. A simulator
is given the world as it is written here and a generator of random numbers, another one for each episode. If the model
knows that it slips, the agent plans for that too: see `outcomes` in docs/your-own-world.md.
"""

import numpy as np

from wfairl import ModelTask, visit_in_order
from wfairl.core.worlds import Observation


class Corridor:
    """Ten cells; the tool is at the far end, home at the near one."""

    controls, propositions = ("left", "right"), ("tool", "home")
    initial_state = 4

    def step(self, state, control):
        return min(max(state + (1 if control else -1), 0), 9)

    def label(self, state, control, next_state):
        return frozenset({"home"} if next_state == 0 else {"tool"} if next_state == 9 else ())

    def features(self, state, control, next_state):
        return np.array([1.0])


class SlipperyFloor:
    """One episode; a `Simulator` has the model of its scene and a method `step`."""

    def __init__(self, world, rng):
        self.world, self.state, self.rng = world, world.initial_state, rng

    def step(self, control):
        before = self.state
        if self.rng.random() > 0.2:
            self.state = self.world.step(before, control)
        return Observation(self.state, self.world.label(before, control, self.state), ended=False)


TASK = ModelTask(
    name="slippery-corridor",
    summary="fetch the tool and bring it home, on a slippery floor",
    propositions=Corridor.propositions,
    rule=visit_in_order("tool", "home"),
    horizon=40,
    scene=lambda seed: Corridor(),
    simulator=SlipperyFloor,
)

if __name__ == "__main__":
    from wfairl import PlannedPolicy, roll_out, unit_cost

    policy = PlannedPolicy("planner", TASK.rule, unit_cost, temperature=0.0)
    episode = roll_out(TASK, policy, seed=0, rng=np.random.default_rng(0))
    print(f"{episode.outcome} in {len(episode)} steps; 14 would do on firm ground")
