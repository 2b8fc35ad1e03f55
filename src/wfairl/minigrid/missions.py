"""The missions of BabyAI: what each asks for, and the objects and doors that it names.

A *part* of a mission is one thing to do, such as "go to a ball". The objects that a part names have a *role*, one
number for each description in the order of the mission; see `physics`.
"""

from __future__ import annotations

import wfairl.minigrid.library  # isort: skip # noqa: F401
from itertools import count
from typing import Any

import gymnasium
from minigrid.envs.babyai.core.roomgrid_level import RoomGridLevel
from minigrid.envs.babyai.core.verifier import (
    AfterInstr,
    BeforeInstr,
    GoToInstr,
    OpenInstr,
    PickupInstr,
    PutNextInstr,
    SeqInstr,
)
from minigrid.minigrid_env import MiniGridEnv

from wfairl.minigrid.physics import UnknownPhysicsError
from wfairl.minigrid.propositions import OfRole

VERBS = {GoToInstr: "go to", PickupInstr: "pick up", OpenInstr: "open", PutNextInstr: "put next"}


def read_mission(environment: gymnasium.Env[Any, Any]) -> list[list[OfRole]]:
    """The parts of a mission, by phase: the parts of a phase in any order, one phase after the other.

    Raises:
        UnknownPhysicsError: the environment has no such mission, or a strict one, which punishes other deeds.
    """
    scene: Any = environment.unwrapped
    if not isinstance(scene, RoomGridLevel):
        raise UnknownPhysicsError(f"{type(scene).__name__} is not a BabyAI level: it has no instructions to read")
    instruction, roles, read = scene.instrs, count(), {}
    for part in _parts(instruction):
        if type(part) not in VERBS or getattr(part, "strict", False):
            raise UnknownPhysicsError(f"the mission {scene.mission!r} has an unknown or strict part")
        is_put = isinstance(part, PutNextInstr)
        read[part] = OfRole(VERBS[type(part)], next(roles), next(roles) if is_put else 0)
    phases = [instruction]
    if isinstance(instruction, BeforeInstr):
        phases = [instruction.instr_a, instruction.instr_b]
    elif isinstance(instruction, AfterInstr):
        phases = [instruction.instr_b, instruction.instr_a]
    return [[read[part] for part in _parts(phase)] for phase in phases]


def roles_in_mission(scene: MiniGridEnv) -> dict[int, int]:
    """The roles that a mission gives to objects and doors, one bit each, by the `id` of the object."""
    if not isinstance(scene, RoomGridLevel):
        return {}
    names = "desc", "desc_move", "desc_fixed"
    descriptions = [getattr(part, name, None) for part in _parts(scene.instrs) for name in names]
    roles: dict[int, int] = {}
    for role, description in enumerate(one for one in descriptions if one is not None):
        for obj in description.obj_set:
            roles[id(obj)] = roles.get(id(obj), 0) | 1 << role
    return roles


def _parts(instruction: Any) -> list[Any]:
    """The parts of an instruction, in the order in which it names them."""
    if isinstance(instruction, SeqInstr):
        return [*_parts(instruction.instr_a), *_parts(instruction.instr_b)]
    return [instruction]
