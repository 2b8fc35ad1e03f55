"""A pool of `GraphWorld` scenes: their concatenated tables of transitions, and the marks of each scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import gymnasium
import numpy as np
from numpy.typing import NDArray

from experiments.vector.scene_pool import RUNNING, SUCCEEDED, Bank, Columns, Rows, ScenePool
from wfairl.core.automata.automaton import ACCEPTED, DEAD, UNAVAILABLE, Label
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.compiled import LabelTable
from wfairl.core.worlds.graph import GraphWorld
from wfairl.core.worlds.task import Task
from wfairl.core.worlds.transitions import TransitionTable


@dataclass(frozen=True, eq=False)
class GraphPool(ScenePool):
    """Scenes that are `GraphWorld`s; a state is its number, and an observation the numbers of the world and the state.

    Attributes:
        worlds: the distinct worlds.
        world_numbers: index of the world of each scene, shape [scenes] of int64.
        transitions: the concatenated tables of the worlds.
    """

    worlds: tuple[GraphWorld, ...]
    world_numbers: NDArray[np.int64]
    transitions: StackedTables

    PER_SCENE: ClassVar[tuple[str, ...]] = (*ScenePool.PER_SCENE, "world_numbers")

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
        return cls(
            task=task,
            controls=controls[0],
            seeds=np.array(seeds, np.int64),
            states=np.array([[world.initial_state] for world in worlds], np.int32),
            largest=np.array([[len(world.table.successors) - 1] for world in worlds], np.int32),
            automaton_states=np.zeros(len(worlds), np.int32),
            worlds=tuple(distinct.values()),
            world_numbers=np.array([number[id(world)] for world in worlds], np.int64),
            transitions=StackedTables.of(list(distinct.values()), LabelTable(task.rule)),
        )

    @property
    def observation_space(self) -> gymnasium.spaces.Box:
        high = np.array([len(self.worlds) - 1, max(len(world.table.successors) for world in self.worlds) - 1], np.int64)
        return gymnasium.spaces.Box(low=np.zeros(2, np.int64), high=high, dtype=np.int64)

    def step(self, rows: Rows, controls: NDArray[np.int64]) -> None:
        worlds = self.world_numbers[rows.scenes]
        after, labels = self.transitions.step(worlds, rows.states[:, 0], controls)
        for row in np.flatnonzero(after == UNAVAILABLE):
            raise BadInputError(
                f"row {row}: the control {self.controls[controls[row]]!r} is not available in state"
                f" {self.worlds[worlds[row]].name(int(rows.states[row, 0]))!r}"
            )
        rows.states[:, 0] = after
        live = rows.automaton_states != DEAD
        rows.automaton_states[live] = self.transitions.rule[labels[live], rows.automaton_states[live]]
        rows.outcomes[:] = np.where(rows.automaton_states == ACCEPTED, SUCCEEDED, RUNNING)

    def make_observer(self) -> GraphObserver:
        return GraphObserver(self)


class GraphObserver:
    """See `Observer`; its bank stays empty, since the columns are the whole observation."""

    def __init__(self, pool: GraphPool):
        self._pool, self.bank = pool, Bank((0,), np.uint8)

    def observe(self, rows: Rows, changed: NDArray[np.int64], columns: Columns) -> None:  # noqa: ARG002
        columns[:, 0] = self._pool.world_numbers[rows.scenes]
        columns[:, 1] = rows.states[:, 0]


@dataclass(frozen=True, eq=False)
class StackedTables:
    """The concatenated transitions of several worlds; worlds that share a table share its rows.

    Attributes:
        offsets: first row of each world, shape [worlds].
        successors: the state after each control within its world, or `UNAVAILABLE`; shape [rows, controls].
        labels: row of `rule` of each transition, shape [rows, controls].
        rule: the automaton state after each label, `DEAD` or `ACCEPTED`; shape [labels, automaton states].
        marked: world * stride + state of every marked state, ascending.
        marks: row of `marked_labels` of each of them.
        marked_labels: the label that a label becomes on arriving in a marked state, shape [marks, labels].
        stride: the largest number of states of a world.
    """

    offsets: NDArray[np.int64]
    successors: NDArray[np.int32]
    labels: NDArray[np.int64]
    rule: NDArray[np.int32]
    marked: NDArray[np.int64]
    marks: NDArray[np.int64]
    marked_labels: NDArray[np.int64]
    stride: int

    @classmethod
    def of(cls, worlds: Sequence[GraphWorld], rule: LabelTable) -> StackedTables:
        """The tables of some worlds, with the labels of a rule."""
        tables = {id(world.table): world.table for world in worlds}
        ends = np.cumsum([len(table.successors) for table in tables.values()])
        first = dict(zip(tables, [0, *ends[:-1].tolist()], strict=True))
        labels = np.concatenate([_label_numbers(table, rule) for table in tables.values()])
        plain = list(rule.labels)
        marks: dict[Label, int] = {}
        stride = max(len(table.successors) for table in tables.values())
        marked = sorted(
            (number * stride + state, marks.setdefault(mark, len(marks)))
            for number, world in enumerate(worlds)
            for state, mark in world.marks.items()
        )
        marked_labels = np.array([[rule.number(label | mark) for label in plain] for mark in marks], np.int64)
        return cls(
            offsets=np.array([first[id(world.table)] for world in worlds], np.int64),
            successors=np.concatenate([table.successors for table in tables.values()]),
            labels=labels,
            rule=rule.rows.copy(),
            marked=np.array([key for key, _ in marked], np.int64),
            marks=np.array([mark for _, mark in marked], np.int64),
            marked_labels=marked_labels.reshape(len(marks), len(plain)),
            stride=stride,
        )

    def step(
        self, worlds: NDArray[np.int64], states: NDArray[np.int32], controls: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The state after each control, or `UNAVAILABLE`, and the label; shape [rows] each."""
        at = self.offsets[worlds] + states
        after, labels = self.successors[at, controls], self.labels[at, controls]
        if len(self.marked):
            keys = worlds * self.stride + after
            place = np.minimum(np.searchsorted(self.marked, keys), len(self.marked) - 1)
            hit = (self.marked[place] == keys) & (after != UNAVAILABLE)
            labels[hit] = self.marked_labels[self.marks[place[hit]], labels[hit]]
        return after, labels


def _label_numbers(table: TransitionTable, rule: LabelTable) -> NDArray[np.int64]:
    numbers = np.array([rule.number(label) for label in table.labels], np.int64)
    return numbers[table.label_index.astype(np.int64)] if len(numbers) else np.zeros(table.label_index.shape, np.int64)
