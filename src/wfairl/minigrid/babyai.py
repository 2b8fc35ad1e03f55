"""Levels of BabyAI as tasks: the instruction of each scene, in roles that are the same in all scenes.

An instruction is read into parts (go to, pick up, open, put next). Second parts come after all first parts:

    "open the blue door and go to a ball, then pick up the key"        first, also first | second

A proposition holds when the agent does its part, whatever the part is in that scene. So a level whose missions change
is one task with one rule. A part that a mission lacks is always fulfilled.

The environment's own verifier judges success. A step that completes the first parts may also fulfil second parts,
unless the step is a drop. So a second part that puts something next to something has a proposition of its own
(`put second`).
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np

from wfairl.core.automata.automaton import Guard
from wfairl.core.automata.guarded import Edge, GuardedAutomaton
from wfairl.core.support.errors import BadInputError
from wfairl.minigrid.propositions import Constant, Proposition
from wfairl.minigrid.tasks import MiniGridTask

Phases = tuple[tuple[str, ...], ...]
"""The names of the parts of a mission, by phase: one or two phases, one after the other, each in any order."""

ONE_PART: Phases = (("first",),)
ALL_PARTS: Phases = (("first", "also first"), ("second", "also second"))


def mission_propositions(phases: Phases, environment: Any) -> Mapping[str, Proposition]:
    """The propositions of the mission of an environment just reset, which has at most the parts of `phases`."""
    from wfairl.minigrid.missions import read_mission

    mission = read_mission(environment)
    lengths, room = [len(phase) for phase in mission], [len(phase) for phase in phases]
    if len(lengths) > len(room) or any(length > most for length, most in zip(lengths, room, strict=False)):
        raise BadInputError(f"a mission has parts {lengths}, and the task allows for {room}")
    first, *later = phases
    names = (*first, *(name for phase in later for part in phase for name in (part, put(part))))
    propositions: dict[str, Proposition] = dict.fromkeys(names, Constant(True))
    for number, (parts, phase) in enumerate(zip(mission, phases, strict=False)):
        for part, name in zip(parts, phase, strict=False):
            propositions[name] = part
            if number > 0:
                never, is_put = Constant(False), part.verb == "put next"
                propositions[name], propositions[put(name)] = (never, part) if is_put else (part, never)
    return propositions


def put(part: str) -> str:
    """The name of the proposition of a later part that puts something next to something."""
    return f"put {part}"


def in_phases(phases: Phases) -> GuardedAutomaton:
    """The rule: all parts of a phase in any order, one phase after the other; see the head of this module.

    A state is a phase and the set of its parts that are done. Edges that complete more parts come first.
    """
    states = [(phase, done) for phase, parts in enumerate(phases) for done in _subsets(parts)[:0:-1]]
    number = {state: i for i, state in enumerate(states)}
    accepted = len(states)
    rows: list[tuple[Edge, ...]] = []
    for phase, done in states:
        edges: list[Edge] = []
        for parts, guard in _guards(set(phases[phase]) - done, later=phase > 0):
            if done | parts != set(phases[phase]) or phase + 1 == len(phases):
                edges.append(Edge(guard, number.get((phase, done | parts), accepted)))
                continue
            for at_once in _subsets(phases[phase + 1]):
                edges.append(Edge(Guard(guard.true | at_once), number.get((phase + 1, at_once), accepted)))
        rows.append(tuple(edges))
    return GuardedAutomaton((*rows, ()), np.arange(accepted + 1) == accepted)


def _subsets(parts: Sequence[str]) -> list[frozenset[str]]:
    """All sets of parts, the largest first."""
    return [frozenset(some) for size in range(len(parts), -1, -1) for some in combinations(parts, size)]


def _guards(open_parts: set[str], later: bool) -> Iterator[tuple[frozenset[str], Guard]]:
    """The sets of parts that a label may fulfil at once, the largest first, with each guard that says so."""
    for parts in _subsets(sorted(open_parts))[:-1]:
        names = [(part, put(part)) if later else (part,) for part in sorted(parts)]
        for some in product(*names):
            yield parts, Guard(frozenset(some))


def _level(level: str, name: str, horizon: int, summary: str, phases: Phases = ONE_PART) -> MiniGridTask:
    return MiniGridTask(
        name=f"babyai-{name}",
        summary=summary,
        environment_id=f"BabyAI-{level}-v0",
        scene_propositions=partial(mission_propositions, phases),
        rule=in_phases(phases),
        horizon=horizon,
        is_mission=True,
    )


GO_TO = _level("GoTo", "goto", 150, "go to the object that the mission names, somewhere in nine rooms")
PICKUP_LOC = _level(
    "PickupLoc", "pickup-loc", 64, "pick up the object that the mission names, perhaps by where it lies"
)
UNBLOCK_PICKUP = _level(
    "UnblockPickup", "unblock-pickup", 150, "pick up the object that the mission names; others may stand in the way"
)
UNLOCK = _level("Unlock", "unlock", 200, "fetch the key and open the locked door that the mission names")
PUT_NEXT_LOCAL = _level("PutNextLocal", "put-next-local", 64, "put one object next to another, in one room")
KEY_CORRIDOR = _level("KeyCorridorS6R3", "key-corridor", 200, "find the key, unlock the room and pick up the ball")
BOSS_LEVEL = _level(
    "BossLevel", "boss-level", 300, "whatever BabyAI's language can say: up to four parts, in order or not", ALL_PARTS
)
