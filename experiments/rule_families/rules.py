"""Rules as plain machines over the labels of a world: the definition by which plans are judged.

A rule has a goal, which is to visit things in stages, and conditions, which forbid or oblige:

    state = rule.start
    state = rule.step(state, label)         another state, `DONE` or `BROKEN`

These machines share no code with the automata of the package. A place that holds over several steps is visited once,
so neither a bump nor a wait is a second visit; an event counts at every step.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Any

Label = frozenset[str]
State = Hashable

DONE, BROKEN = "done", "broken"


class Condition:
    """Watches the labels beside the goal.

    Attributes:
        start: its first state.
        needs: what it makes one visit.
        hazards: what breaks the rule or obliges, at some time.
    """

    start: State
    needs: tuple[str, ...] = ()
    hazards: tuple[str, ...] = ()

    def step(self, state: State, label: Label) -> State:
        """The state after a label, or `BROKEN`."""
        raise NotImplementedError

    def is_settled(self, state: State) -> bool:  # noqa: ARG002
        """Whether the goal may be completed."""
        return True


@dataclass(frozen=True)
class Forbid(Condition):
    """A label breaks the rule after `since` was seen (from the beginning if None) and until `until` is (ever if None)."""

    what: str
    since: str | None = None
    until: str | None = None

    start = "before"

    @property
    def hazards(self) -> tuple[str, ...]:  # type: ignore[override]
        return (self.what,)

    def step(self, state: State, label: Label) -> State:
        is_on = state == "on" or (state == "before" and self.since is None)
        if is_on and self.until in label:
            return "over"
        if is_on and self.what in label:
            return BROKEN
        return "on" if state == "before" and self.since in label else state


@dataclass(frozen=True)
class Oblige(Condition):
    """After `condition` the goal cannot be completed before `then` is seen, and `before`, if given, breaks the rule."""

    condition: str
    then: str
    before: str | None = None

    start = "free"

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]
        return (self.then,)

    @property
    def hazards(self) -> tuple[str, ...]:  # type: ignore[override]
        return (self.condition,)

    def step(self, state: State, label: Label) -> State:
        if self.then in label:
            return "free"
        if state == "obliged" and self.before in label:
            return BROKEN
        return "obliged" if self.condition in label else state

    def is_settled(self, state: State) -> bool:
        return state == "free"


@dataclass(frozen=True)
class Renew(Condition):
    """Each of `uses` needs `clean` before it, and again after another one that soils; otherwise the rule is broken."""

    clean: str
    uses: tuple[str, ...]
    soils: tuple[str, ...]

    start = "unwashed"

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]
        return (self.clean,)

    def step(self, state: State, label: Label) -> State:
        if self.clean in label:
            return "clean"
        using = next((name for name in self.uses if name in label), None)
        if using is None or state == using:  # what has soiled does no more harm
            return state
        if state != "clean":
            return BROKEN
        return using if using in self.soils else "clean"


@dataclass(frozen=True)
class Stage:
    """Things of which `needed` different ones are to be visited in any order; all of them if None."""

    names: tuple[str, ...]
    needed: int | None = None


@dataclass(frozen=True)
class Rule:
    """Stages to complete one after the other, under conditions.

    Attributes:
        stages: the goal.
        conditions: what must be kept meanwhile.
        resets: labels that make the goal begin again.
        events: names that count at every step at which they hold; all others count when they begin to hold.
        first: a proposition that holds at the first step of some scenes, and never again.
    """

    stages: tuple[Stage, ...]
    conditions: tuple[Condition, ...] = ()
    resets: tuple[str, ...] = ()
    events: frozenset[str] = frozenset()
    first: str | None = None
    _known: dict[tuple[State, Label], State] = field(default_factory=dict, init=False, compare=False, repr=False)

    @property
    def start(self) -> State:
        """The stage, what was seen in it, what holds, and the state of each condition."""
        return (0, frozenset(), frozenset(), *(condition.start for condition in self.conditions))

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
        holding = label - self.events
        if label.intersection(self.resets):
            return (0, frozenset(), holding, *watched)
        names = self.stages[stage].names
        now = seen | (label - held).intersection(names)
        is_complete = len(now) == (self.stages[stage].needed or len(names))
        if not is_complete:
            return (stage, now, holding, *watched)
        if stage < len(self.stages) - 1:
            return (stage + 1, frozenset(), holding, *watched)
        if all(one.is_settled(at) for one, at in zip(self.conditions, watched, strict=True)):
            return DONE
        return (stage, seen, holding, *watched)  # to be visited again, once the obligation is fulfilled

    @property
    def needed(self) -> frozenset[str]:
        """Everything that is to be visited, also by condition."""
        visited = (name for stage in self.stages for name in stage.names)
        return frozenset((*visited, *(name for one in self.conditions for name in one.needs)))

    @property
    def hazards(self) -> frozenset[str]:
        """Everything that breaks the rule, obliges or resets, at some time."""
        return frozenset((*self.resets, *(name for one in self.conditions for name in one.hazards))) - {self.first}

    @property
    def names(self) -> frozenset[str]:
        """All propositions that matter."""
        return self.needed | self.hazards | ({self.first} if self.first else set())

    @property
    def blind(self) -> "Rule":
        """The goal for somebody who does not know the rule: without conditions; if it has none, without order."""
        if self.conditions or self.resets:
            return replace(self, conditions=(), resets=())
        names = [name for stage in self.stages for name in stage.names]
        if len(self.stages) == 1:
            return replace(self, stages=(replace(self.stages[0], needed=1),))
        if len(set(names)) < len(names) or any(stage.needed for stage in self.stages):
            return replace(self, stages=self.stages[-1:])
        return replace(self, stages=(Stage(tuple(names)),))
