"""Levels of BabyAI as tasks: what each scene's own instruction asks for, in roles that are the same in all scenes.

An instruction is read into parts (go to, pick up, open, put next), some of which come first and the others then:

    "open the blue door and go to a ball, then pick up the key"        first, also first | second

A proposition holds when the agent does its part, whatever the part is in that scene, so that a level whose missions
change is one task with one rule. A part that a mission lacks is always fulfilled. Success is what the environment's own
verifier says. The verifier counts a step that ends the first parts for the second ones as well, except that it does not
count the drop: so a second part that puts something next to something has a proposition of its own (`put second`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import Any

import gymnasium
import numpy as np

from wfairl.automata.automaton import Guard
from wfairl.automata.guarded import Edge, GuardedAutomaton
from wfairl.errors import BadInputError
from wfairl.worlds.minigrid.environment import MissionPart, make_environment, read_mission, reset, unwrap
from wfairl.worlds.minigrid.propositions import Always, Never, OfRole, Proposition
from wfairl.worlds.minigrid.simulator import MiniGridSimulator
from wfairl.worlds.minigrid.world import MiniGridWorld
from wfairl.worlds.task import FeatureCost, check_horizon

Phases = tuple[tuple[str, ...], ...]
"""The names of the parts of a mission: those of one phase in any order, the phases one after the other."""

ONE_PART: Phases = (("first",),)
ALL_PARTS: Phases = (("first", "also first"), ("second", "also second"))


@dataclass(frozen=True)
class BabyAITask:
    """A level of BabyAI; see `Task` for what is not said here.

    Attributes:
        environment_id: Gymnasium's id.
        phases: the parts that its missions may have.
    """

    name: str
    summary: str
    environment_id: str
    horizon: int
    phases: Phases = ONE_PART
    title: str = ""
    default_cost: str = "local"
    true_cost: FeatureCost | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", self.title or self.name)
        check_horizon(self.name, self.horizon)

    @cached_property
    def propositions(self) -> tuple[str, ...]:
        """See `Task`."""
        first, *later = self.phases
        return (*first, *(name for phase in later for part in phase for name in (part, put(part))))

    @cached_property
    def rule(self) -> GuardedAutomaton:
        """See `Task`."""
        return in_phases(self.phases)

    def make_world(self, seed: int) -> MiniGridWorld:
        """See `Task`."""
        return self._world_of(self.make_environment(seed))

    def make_simulator(self, seed: int) -> MiniGridSimulator:
        """See `Task`: the real environment, whose verifier is the judge."""
        environment = self.make_environment(seed)
        return MiniGridSimulator(environment, self._world_of(environment), is_judge=True)

    def make_environment(self, seed: int, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
        """The real environment of one seed, reset, with the task's horizon instead of its own limit."""
        environment = make_environment(self.environment_id, render_mode=render_mode, max_steps=self.horizon)
        reset(environment, seed)
        return environment

    def _world_of(self, environment: gymnasium.Env[Any, Any]) -> MiniGridWorld:
        world = MiniGridWorld.from_environment(environment, self._scene_propositions(read_mission(environment)))
        world.instruction = str(unwrap(environment).mission)
        return world

    def _scene_propositions(self, mission: Sequence[Sequence[MissionPart]]) -> Mapping[str, Proposition]:
        lengths, room = [len(phase) for phase in mission], [len(phase) for phase in self.phases]
        if len(lengths) > len(room) or any(length > most for length, most in zip(lengths, room, strict=False)):
            raise BadInputError(f"{self.name}: a mission has parts {lengths}, and the task allows for {room}")
        found: dict[str, Proposition] = dict.fromkeys(self.propositions, Always())
        for number, (phase, names) in enumerate(zip(mission, self.phases, strict=False)):
            for part, name in zip(phase, names, strict=False):
                shown = OfRole(part.verb, part.role, max(part.other, 0))
                if number == 0:
                    found[name] = shown
                    continue
                is_put = part.verb == "put next"
                found[name], found[put(name)] = (Never(), shown) if is_put else (shown, Never())
        return found


def put(part: str) -> str:
    """What the proposition of a later part is called if it puts something next to something."""
    return f"put {part}"


def in_phases(phases: Phases) -> GuardedAutomaton:
    """The rule: all parts of a phase in any order, one phase after the other; see the head of this module.

    A state is a phase and the set of its parts that are done. The edges are tried from those that do most.
    """
    states = [(phase, done) for phase in range(len(phases)) for done in _proper_subsets(phases[phase])]
    number = {state: i for i, state in enumerate(states)}
    accepted = len(states)
    rows: list[tuple[Edge, ...]] = []
    for phase, done in states:
        edges = []
        for shown, guard in _ways(set(phases[phase]) - done, later=phase > 0):
            if done | shown != set(phases[phase]):
                edges.append(Edge(guard, number[phase, done | shown]))
            elif phase + 1 == len(phases):
                edges.append(Edge(guard, accepted))
            else:
                following = phases[phase + 1]
                for at_once in _subsets(following):
                    is_all = at_once == set(following)
                    if is_all and phase + 2 < len(phases):
                        raise BadInputError("a mission has at most two phases")
                    both = Guard(guard.true | at_once)
                    edges.append(Edge(both, accepted if is_all else number[phase + 1, at_once]))
        rows.append(tuple(edges))
    return GuardedAutomaton((*rows, ()), np.arange(accepted + 1) == accepted)


def _subsets(parts: Sequence[str]) -> list[frozenset[str]]:
    """All sets of parts, the largest first."""
    return [frozenset(some) for size in range(len(parts), -1, -1) for some in combinations(parts, size)]


def _proper_subsets(parts: Sequence[str]) -> list[frozenset[str]]:
    """All sets that lack something, the smallest first."""
    return _subsets(parts)[:0:-1]


def _ways(open_parts: set[str], later: bool) -> Iterator[tuple[frozenset[str], Guard]]:
    """Which parts a label may show at once, and how, those that show most first."""
    for shown in _subsets(sorted(open_parts))[:-1]:
        names = [(part, put(part)) if later else (part,) for part in sorted(shown)]
        for way in product(*names):
            yield shown, Guard(frozenset(way))


GO_TO = BabyAITask(
    name="babyai-goto",
    summary="go to the object that the mission names, somewhere in nine rooms",
    environment_id="BabyAI-GoTo-v0",
    horizon=150,
)
PICKUP_LOC = BabyAITask(
    name="babyai-pickup-loc",
    summary="pick up the object that the mission names, perhaps by where it lies",
    environment_id="BabyAI-PickupLoc-v0",
    horizon=64,
)
UNBLOCK_PICKUP = BabyAITask(
    name="babyai-unblock-pickup",
    summary="pick up the object that the mission names; others may stand in the way",
    environment_id="BabyAI-UnblockPickup-v0",
    horizon=150,
)
UNLOCK = BabyAITask(
    name="babyai-unlock",
    summary="fetch the key and open the locked door that the mission names",
    environment_id="BabyAI-Unlock-v0",
    horizon=200,
)
PUT_NEXT_LOCAL = BabyAITask(
    name="babyai-put-next-local",
    summary="put one object next to another, in one room",
    environment_id="BabyAI-PutNextLocal-v0",
    horizon=64,
)
KEY_CORRIDOR = BabyAITask(
    name="babyai-key-corridor",
    summary="find the key, unlock the room and pick up the ball",
    environment_id="BabyAI-KeyCorridorS6R3-v0",
    horizon=200,
)
BOSS_LEVEL = BabyAITask(
    name="babyai-boss-level",
    summary="whatever BabyAI's language can say: up to four parts, in order or not",
    environment_id="BabyAI-BossLevel-v0",
    horizon=300,
    phases=ALL_PARTS,
)
