"""A pool of `GraphWorld` scenes, whose transitions are the concatenated tables of the worlds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from experiments.vector.scene_pool import RUNNING, SUCCEEDED, Bank, Columns, Rows, ScenePool
from wfairl.core.automata.automaton import ACCEPTED, DEAD, UNAVAILABLE
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.compiled import LabelTable
from wfairl.core.worlds.graph import GraphWorld
from wfairl.core.worlds.task import Task


@dataclass(frozen=True, eq=False)
class GraphPool(ScenePool):
    """Scenes that are `GraphWorld`s; a state is its number, and an observation the numbers of the world and the state.

    Attributes:
        worlds: the distinct worlds.
        world_numbers: index of the world of each scene, shape [scenes] of int64.
        first_rows: the first row of each world in the tables below, shape [worlds].
        successors: the state after each control within its world, or `UNAVAILABLE`; shape [rows, controls].
        labels: the row of `rule` of each transition, shape [rows, controls].
        rule: the automaton state after each label, `DEAD` or `ACCEPTED`; shape [labels, automaton states].
    """

    worlds: tuple[GraphWorld, ...]
    world_numbers: NDArray[np.int64]
    first_rows: NDArray[np.int64]
    successors: NDArray[np.int32]
    labels: NDArray[np.int64]
    rule: NDArray[np.int32]

    PER_SCENE: ClassVar[tuple[str, ...]] = (*ScenePool.PER_SCENE, "world_numbers")
    COLUMNS: ClassVar[int] = 2

    @classmethod
    def of(cls, task: Task, seeds: Sequence[int], worlds: Sequence[GraphWorld]) -> GraphPool:
        """The pool of the worlds of some seeds.

        Raises:
            BadInputError: they do not all have the same controls.
        """
        controls = sorted({tuple(world.controls) for world in worlds}, key=len)
        if len(controls) > 1:
            raise BadInputError(
                f"the scenes of the task {task.name!r} have different controls ({len(controls[0])} and"
                f" {len(controls[-1])} of them); a batch needs the same in all"
            )
        distinct = {id(world): world for world in worlds}
        number = {identity: i for i, identity in enumerate(distinct)}
        tables = [world.table for world in distinct.values()]
        rule = LabelTable(task.rule)
        labels = np.concatenate([_label_numbers(world, rule) for world in distinct.values()])
        return cls(
            task=task,
            controls=controls[0],
            seeds=np.array(seeds, np.int64),
            states=np.array([[world.initial_state] for world in worlds], np.int32),
            worlds=tuple(distinct.values()),
            world_numbers=np.array([number[id(world)] for world in worlds], np.int64),
            first_rows=np.cumsum([0, *(len(table.successors) for table in tables[:-1])]),
            successors=np.concatenate([table.successors for table in tables]),
            labels=labels,
            rule=rule.rows.copy(),
        )

    def make_bank(self) -> Bank:
        """See `ScenePool`; the bank stays empty, since the columns are the whole observation."""
        return Bank((0,), np.uint8)

    def step(self, rows: Rows, controls: NDArray[np.int64]) -> None:
        worlds = self.world_numbers[rows.scenes]
        at = self.first_rows[worlds] + rows.states[:, 0]
        after, labels = self.successors[at, controls], self.labels[at, controls]
        for row in np.flatnonzero(after == UNAVAILABLE):
            raise BadInputError(
                f"row {row}: the control {self.controls[controls[row]]!r} is not available in state"
                f" {self.worlds[worlds[row]].name(int(rows.states[row, 0]))!r}"
            )
        rows.states[:, 0] = after
        live = rows.automaton_states != DEAD
        rows.automaton_states[live] = self.rule[labels[live], rows.automaton_states[live]]
        rows.outcomes[:] = np.where(rows.automaton_states == ACCEPTED, SUCCEEDED, RUNNING)

    def observe(self, rows: Rows, changed: NDArray[np.int64], bank: Bank, columns: Columns) -> None:  # noqa: ARG002
        columns[:, 0] = self.world_numbers[rows.scenes]
        columns[:, 1] = rows.states[:, 0]


def _label_numbers(world: GraphWorld, rule: LabelTable) -> NDArray[np.int64]:
    """The number of the label of each transition, with the marks of the states it arrives in."""
    table = world.table
    numbers = np.array([rule.number(label) for label in table.labels] or [0], np.int64)[table.label_index]
    for state, mark in world.marks.items():
        arriving = table.successors == state
        numbers[arriving] = [rule.number(table.labels[i] | mark) for i in table.label_index[arriving]]
    return numbers
