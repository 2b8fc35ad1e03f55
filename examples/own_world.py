"""A world of your own: a robot in a corridor fetches a parcel at one end and brings it to the other."""

import numpy as np

from wfairl.worlds import Rule, check_world


class Corridor:
    """States are (cell, has parcel); anything hashable will do."""

    controls = ("left", "right", "grab")
    propositions = ("parcel", "home")
    initial_state = (2, False)
    length = 6

    def step(self, state, control):
        cell, has_parcel = state
        if self.controls[control] == "grab":
            return cell, has_parcel or cell == self.length - 1
        step = -1 if self.controls[control] == "left" else 1
        return min(max(cell + step, 0), self.length - 1), has_parcel

    def label(self, state, control, next_state):
        cell, has_parcel = next_state
        return frozenset(({"parcel"} if has_parcel else set()) | ({"home"} if cell == 0 else set()))

    def features(self, state):
        cell, has_parcel = state
        return np.array([cell / self.length, float(has_parcel)])


if __name__ == "__main__":
    from wfairl.demonstrations import solve

    print(check_world(Corridor()), "states obey the laws of a world")
    expert = solve(Corridor(), Rule(visit=("parcel", "home")))
    controls, _ = expert.act(temperature=0, horizon=20, rng=np.random.default_rng(0))
    print("optimal:", " ".join(Corridor.controls[control] for control in controls))
