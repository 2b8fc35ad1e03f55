"""Rules as plain machines over the labels of a world, and the judge of plans.

A rule has a goal, which is to visit things in stages, and conditions, which forbid or oblige:

    state = rule.start
    state = rule.step(state, label)         another state, `DONE` or `BROKEN`

These machines share no code with the automata of the package. A place that holds over several steps is visited once,
so neither a bump nor a wait is a second visit; an event counts at every step. A name such as `valve+alarm` holds where
all its parts do. A plan keeps the rule if that is done at one of its steps, and not broken before. The best plan is
found by a plain Dijkstra over pairs of a state of the scene and a state of the rule.
"""

import heapq
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from experiments.rule_families.scenes import Scene

Label = frozenset[str]
State = Hashable

DONE, BROKEN = "done", "broken"
FREE, OBLIGED, CLEAN = "free", "obliged", "clean"
"""States of conditions: the first one; those in which the goal cannot be completed begin so; and that of `renew`."""


def holds(name: str, label: Label) -> bool:
    """Whether all parts of a name are in a label."""
    return label.issuperset(name.split("+"))


class Condition(NamedTuple):
    """A machine that watches the labels beside the goal."""

    # state, name and next state, which may be `BROKEN`; the first whose name holds is made
    moves: tuple[tuple[str, str, str], ...]
    needs: tuple[str, ...] = ()  # names that it makes one visit
    hazards: tuple[str, ...] = ()  # names that break the rule or oblige, at some time
    start: str = FREE  # the first state

    def step(self, state: str, label: Label) -> str:
        """The state after a label."""
        return next((after for at, name, after in self.moves if at == state and holds(name, label)), state)


def forbid(what: str, since: str | None = None, until: str | None = None) -> Condition:
    """A label breaks the rule after `since` was seen, or from the beginning, and until `until` is, or ever."""
    on = FREE if since is None else "on"
    ending = () if until is None else ((on, until, "over"),)
    beginning = () if since is None else ((FREE, since, on),)
    return Condition((*ending, (on, what, BROKEN), *beginning), hazards=(what,))


def oblige(condition: str, then: str, before: str | None = None) -> Condition:
    """After a condition, the goal cannot be completed until `then` is seen, and `before`, if given, breaks the rule."""
    breaking = () if before is None else ((OBLIGED, before, BROKEN),)
    return Condition(((OBLIGED, then, FREE), *breaking, (FREE, condition, OBLIGED)), (then,), (condition,))


def renew(clean: str, uses: tuple[str, ...], soils: tuple[str, ...]) -> Condition:
    """Each of `uses` needs `clean` before it, and again after another one that soils; otherwise the rule is broken."""
    cleaning = ((state, clean, CLEAN) for state in (FREE, *soils))
    breaking = ((state, use, BROKEN) for state in (FREE, *soils) for use in uses if use != state)
    return Condition((*cleaning, *breaking, *((CLEAN, one, one) for one in soils)), (clean,))


def carry_at_most(count: int, uses: tuple[str, ...], dock: str) -> Condition:
    """After `count` of `uses`, another one breaks the rule until `dock` is seen."""
    states = (FREE, *map(str, range(1, count + 1)))
    using = ((at, use, after) for at, after in zip(states, (*states[1:], BROKEN), strict=True) for use in uses)
    return Condition((*((state, dock, FREE) for state in states[1:]), *using), (dock,))


def never_twice_in_a_row(names: tuple[str, ...]) -> Condition:
    """None of these names is seen again before another one of them is."""
    states = (FREE, *names)
    return Condition(tuple((at, name, BROKEN if at == name else name) for at in states for name in names))


def at_most_of(count: int, names: tuple[str, ...]) -> Condition:
    """Only so many different ones of these names may be seen; one more breaks the rule."""
    seen = [frozenset(some) for size in range(count + 1) for some in combinations(names, size)]
    text = {some: "+".join(sorted(some)) or FREE for some in seen}
    moves = ((text[some], name, text.get(some | {name}, BROKEN)) for some in seen for name in names if name not in some)
    return Condition(tuple(moves), hazards=names)


def one_or_both(alone: str, pair: tuple[str, str]) -> Condition:
    """The goal cannot be completed before `alone` is seen, or both of a pair."""
    states = (OBLIGED, *(f"{OBLIGED} {name}" for name in pair))
    halves = ((states[i], name, FREE if i else states[1 + j]) for j, name in enumerate(pair) for i in {0, 2 - j})
    return Condition((*((at, alone, FREE) for at in states), *halves), (alone, *pair), start=OBLIGED)


class Device(NamedTuple):
    """What a scene remembers beside the place, such as what is carried, or whether a lamp is on."""

    shows: tuple[str, ...]  # propositions that hold by what is remembered, and at no place
    starts: tuple[Hashable, ...]  # what a scene may begin with
    # from what is remembered and the label of a place to the same afterwards; None if one cannot go there
    step: Callable[[Any, Label], tuple[Hashable, Label] | None]


def carried(*names: str) -> Device:
    """What was visited once holds for ever."""

    def step(carrying: Label, label: Label) -> tuple[Label, Label]:
        now = carrying | label.intersection(names)
        return now, label | now

    return Device((), (frozenset(),), step)


def switched(button: str, lamp: str) -> Device:
    """A visit of the button switches the lamp on or off; it may be on at first."""

    def step(memory: tuple[bool, bool], label: Label) -> tuple[Hashable, Label]:
        is_on, was_pressed = memory
        is_pressed = button in label
        is_on ^= is_pressed and not was_pressed
        return (is_on, is_pressed), label | {lamp} if is_on else label

    return Device((lamp,), ((False, False), (True, False)), step)


def one_lamp(*lamps: str) -> Device:
    """One of several lamps is on, in some scenes this and in others that, as long as the scene lasts."""
    return Device(lamps, lamps, lambda lamp, label: (lamp, label | {lamp}))


def locked(key: str, door: str) -> Device:
    """Nobody gets to the door who has not been at the key."""

    def step(is_open: bool, label: Label) -> tuple[Hashable, Label] | None:
        return None if door in label and not is_open else (is_open or key in label, label)

    return Device((), (False,), step)


class Stage(NamedTuple):
    """Things of which `needed` different ones are to be visited in any order; all of them if None."""

    names: tuple[str, ...]
    needed: int | None = None


@dataclass(frozen=True)
class Rule:
    """Stages to complete one after the other, under conditions."""

    stages: tuple[Stage, ...]  # the goal
    conditions: tuple[Condition, ...] = ()  # what must be kept meanwhile
    resets: tuple[str, ...] = ()  # labels that make the goal begin again
    # names that count at every step at which they hold; all others count when they begin to hold
    events: frozenset[str] = frozenset()
    first: str | None = None  # a proposition that holds at the first step of some scenes, and never again
    begins: str | None = None  # the name of the places where scenes begin; anywhere if None
    device: Device | None = None  # what scenes remember beside the place
    irrelevant: tuple[str, ...] = ()  # names of more places that do not matter
    _known: dict[tuple[State, Label], State] = field(default_factory=dict, init=False, compare=False, repr=False)

    @property
    def start(self) -> State:
        """The stage, what was seen in it, what holds, and the state of each condition."""
        return (0, frozenset(), frozenset(), *(one.start for one in self.conditions))

    def step(self, state: State, label: Label) -> State:
        """The state after a label; `DONE` and `BROKEN` are final."""
        if (state, label) not in self._known:
            self._known[state, label] = state if state in (DONE, BROKEN) else self._step(state, label)
        return self._known[state, label]

    def _step(self, state: Any, label: Label) -> State:
        stage, seen, held, *watching = state
        watched = [one.step(at, label) for one, at in zip(self.conditions, watching, strict=True)]
        if BROKEN in watched:
            return BROKEN
        true = frozenset(name for one in self.stages for name in one.names if holds(name, label))
        holding = true - self.events
        if label.intersection(self.resets):
            return (0, frozenset(), holding, *watched)
        names = self.stages[stage].names
        now = seen | (true - held).intersection(names)
        if len(now) < (self.stages[stage].needed or len(names)):
            return (stage, now, holding, *watched)
        if stage < len(self.stages) - 1:
            return (stage + 1, frozenset(), holding, *watched)
        if not any(at.startswith(OBLIGED) for at in watched):
            return DONE
        return (stage, seen, holding, *watched)  # to be visited again, once the obligation is fulfilled

    @property
    def needed(self) -> frozenset[str]:
        """Everything that is to be visited, also by condition."""
        visited = (name for stage in self.stages for names in stage.names for name in names.split("+"))
        return frozenset((*visited, *(name for one in self.conditions for name in one.needs)))

    @property
    def hazards(self) -> frozenset[str]:
        """Everything that breaks the rule by itself, obliges or resets, at some time."""
        hazards = (name for one in self.conditions for name in one.hazards if "+" not in name)
        return frozenset((*self.resets, *hazards))

    @property
    def blind(self) -> "Rule":
        """The goal for somebody who does not know the rule: without conditions; if it has none, without order."""
        goal = replace(self, conditions=(), resets=())
        names = [name for stage in self.stages for name in stage.names]
        if len(set(names)) < len(names):
            return replace(goal, stages=self.stages[-1:])
        if self.conditions or self.resets:
            return goal
        if len(self.stages) == 1:
            last = tuple(name.split("+")[-1] for name in names)
            return replace(self, stages=(Stage(last, 1),))
        if any(stage.needed for stage in self.stages):
            return replace(self, stages=self.stages[-1:])
        return replace(self, stages=(Stage(tuple(names)),))


def judge(scene: "Scene", rule: Rule, controls: Sequence[int]) -> float:
    """The cost of controls until the rule is done; inf if they do not keep it."""
    place, state, cost = scene.initial_state, rule.start, 0.0
    for control in controls:
        step = scene.steps[place][control]
        place, state, cost = step.after, rule.step(state, step.label), cost + step.cost
        if state == DONE:
            return cost
    return inf


def cheapest(scene: "Scene", rule: Rule) -> list[int]:
    """The controls of a cheapest plan that keeps the rule; none if there is no such plan."""
    start = (scene.initial_state, rule.start)
    came: dict[Any, tuple[Any, int]] = {}
    least, queue, pushed = {start: 0.0}, [(0.0, 0, start)], 0
    while queue:
        cost, _, node = heapq.heappop(queue)
        if node[1] == DONE:
            controls = []
            while node != start:
                node, control = came[node]
                controls.append(control)
            return controls[::-1]
        if cost > least[node]:
            continue
        for control, step in scene.steps[node[0]].items():
            after, total = (step.after, rule.step(node[1], step.label)), cost + step.cost
            if after[1] != BROKEN and total < least.get(after, inf):
                least[after], came[after], pushed = total, (node, control), pushed + 1
                heapq.heappush(queue, (total, pushed, after))
    return []
