"""Families of random rules: each is a function from random numbers to a rule, with the kinds of worlds that suit it.

The first rule of a family may be a given one. Held-out families are for tests only: nothing may be tuned on them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache

import numpy as np

from experiments.rule_families.automata import automaton_of
from experiments.rule_families.rules import Condition, Forbid, Oblige, Renew, Rule, Stage
from experiments.rule_families.scenes import KINDS, SHAFTS, Kind, Scene, draw_scene
from wfairl.core.worlds.exploring import explore_world
from wfairl.core.worlds.graph import GraphWorld
from wfairl.core.worlds.task import ModelTask

WORDS = tuple(
    "anvil badge cabin depot easel ferry gate hatch igloo jetty kiln lamp mill nest oven pier quay ramp silo tank".split()
)
IDLE = ("bench", "fern", "poster")
ZONE = "carpet"
HORIZON = 150
RULES = 14
"""Rules of a family."""

MOST_STATES = 8
"""Of a rule's automaton; a rule with more is drawn again."""

Draw = Callable[[np.random.Generator, list[str]], Rule]
"""From random numbers and names in random order to a rule."""


@dataclass(frozen=True)
class Family:
    """Rules of one shape.

    Attributes:
        draw: makes a rule.
        kinds: names of the kinds of worlds, of which each rule has one.
        given: the first rule, and the kind of its world.
        held_out: whether nothing may be tuned on it.
    """

    draw: Draw
    kinds: Sequence[str] = ("grid", "graph", "events", "priced grid")
    given: tuple[Rule, str] | None = None
    held_out: bool = False


@dataclass(frozen=True, eq=False)
class Problem:
    """A rule and its scenes."""

    name: str
    rule: Rule
    kind: Kind
    seed: tuple[int, int]

    @cached_property
    def task(self) -> ModelTask:
        """The package's task: its rule is the automaton of the judge's machine."""
        prices = np.array(self.kind.prices)
        return ModelTask(
            name=self.name,
            summary=f"a rule of the family {self.name}",
            propositions=self.kind.propositions(self.rule),
            rule=automaton_of(self.rule, self.kind.labels(self.rule)).to_guarded(),
            horizon=HORIZON,
            scene=self.world,
            true_cost=(lambda features: features @ prices) if self.kind.price else None,
        )

    @lru_cache(maxsize=1024)  # noqa: B019 - problems are made once
    def scene(self, seed: int) -> Scene:
        """The scene of a seed."""
        return draw_scene(self.rule, self.kind, np.random.default_rng([*self.seed, seed]))

    @lru_cache(maxsize=1024)  # noqa: B019
    def world(self, seed: int) -> GraphWorld:
        """The same as arrays."""
        return explore_world(self.scene(seed))


@cache
def make_problem(family: str, number: int) -> Problem:
    """One problem of a family, always the same."""
    of, seed = FAMILIES[family], (list(FAMILIES).index(family), number)
    rng = np.random.default_rng(seed)
    while True:
        kind = str(rng.choice(of.kinds))
        rule = of.draw(rng, [WORDS[i] for i in rng.permutation(len(WORDS))])
        if number == 0 and of.given is not None:
            rule, kind = of.given
        ways, controls, has_events, price = KINDS[kind]
        idle = IDLE[: int(rng.integers(1, 3, endpoint=True))] + (SHAFTS if kind == "building" else ())
        zone = ZONE if rng.random() < 0.5 else None
        made = Kind(ways, tuple(controls), has_events, price, idle, zone)
        if has_events:
            rule = replace(rule, events=rule.needed - rule.hazards)
        if automaton_of(rule, made.labels(rule)).states <= MOST_STATES:
            return Problem(f"{family} {number}", rule, made, seed)


def order_of(*names: str) -> tuple[Stage, ...]:
    """Stages of one name each."""
    return tuple(Stage((name,)) for name in names)


def _order(rng: np.random.Generator, names: list[str]) -> Rule:
    return Rule(order_of(*names[: int(rng.integers(2, 4, endpoint=True))]))


def _any_order(rng: np.random.Generator, names: list[str]) -> Rule:
    count = int(rng.integers(2, 3, endpoint=True))
    last = order_of(names[5]) if rng.random() < 0.7 else ()
    return Rule((Stage(tuple(names[:count])), *last))


def _either(rng: np.random.Generator, names: list[str]) -> Rule:
    stages = (Stage(tuple(names[:2]), 1), *order_of(names[2]))
    return Rule(stages if rng.random() < 0.5 else (*order_of(names[3]), *stages))


def _visits(rng: np.random.Generator, names: list[str]) -> Rule:
    """A place is visited again after it was left, or an event takes place twice."""
    times = int(rng.integers(2, 3, endpoint=True))
    before = order_of(names[2]) if rng.random() < 0.3 else ()
    return Rule((*before, *order_of(*[names[0]] * times, names[1])))


def _reset(rng: np.random.Generator, names: list[str]) -> Rule:
    return Rule(order_of(*names[: int(rng.integers(2, 3, endpoint=True))]), resets=(names[6],))


def _never(rng: np.random.Generator, names: list[str]) -> Condition:  # noqa: ARG001
    return Forbid(names[6])


def _never_while(rng: np.random.Generator, names: list[str]) -> Condition:  # noqa: ARG001
    return Forbid(names[7], names[0], names[1])


def _never_after(rng: np.random.Generator, names: list[str]) -> Condition:
    return Forbid(names[8], since=names[int(rng.integers(2))])


def _until(rng: np.random.Generator, names: list[str]) -> Condition:
    return Forbid(names[9], until=names[int(rng.integers(2))])


def _phase(rng: np.random.Generator, names: list[str]) -> Condition:
    """What is needed is deadly in another phase: after it was needed, or before."""
    return Forbid(names[0], since=names[1]) if rng.random() < 0.6 else Forbid(names[1], until=names[0])


def _renew(rng: np.random.Generator, names: list[str]) -> Condition:
    return Renew(names[10], tuple(names[:2]), tuple(names[: 1 + int(rng.random() < 0.3)]))


def _oblige(rng: np.random.Generator, names: list[str]) -> Condition:
    return Oblige(names[11], names[12], before=names[2] if rng.random() < 0.4 else None)


def _with(*conditions: Callable[[np.random.Generator, list[str]], Condition], first: bool = False) -> Draw:
    """Rules with one of each of these conditions, over a goal of two or three stages."""

    def draw(rng: np.random.Generator, names: list[str]) -> Rule:
        kept = tuple(one(rng, names) for one in conditions)
        stages = order_of(*names[:3] if rng.random() < 0.6 or _needs_third(kept, names) else names[:2])
        if any(isinstance(one, Renew) for one in kept) or (first and rng.random() < 0.3):
            stages = (Stage(tuple(names[:2])), *order_of(*names[2:3] if rng.random() < 0.5 else ()))
        return Rule(stages, kept, first=names[11] if first else None)

    return draw


def _needs_third(conditions: Sequence[Condition], names: list[str]) -> bool:
    """Whether a condition speaks of the end, or would lie behind it."""
    late = {names[1]}
    return any(
        isinstance(one, Oblige) or (isinstance(one, Forbid) and late & {one.since, one.until}) for one in conditions
    )


def _pairs(*conditions: Callable[[np.random.Generator, list[str]], Condition]) -> Draw:
    """Rules with two different ones of these conditions, or with one and a reset."""

    def draw(rng: np.random.Generator, names: list[str]) -> Rule:
        first, second = (conditions[i] for i in rng.permutation(len(conditions))[:2])
        if rng.random() < 0.2:
            return replace(_with(first)(rng, names), resets=(names[6],))
        return _with(first, second)(rng, names)

    return draw


TRAY = Rule(order_of("tray", "water", "table"), (Forbid("tray", since="water"),))
WASH = Rule((Stage(("meat", "vegetables")),), (Renew("wash", ("meat", "vegetables"), ("meat",)),))
BATTERY = Rule(order_of("end"), (Oblige("low", "dock"),), first="low")
STATION = Rule(order_of("station", "station", "home"))
BETWEEN = Rule(order_of("a", "b", "d"), (Forbid("c", "a", "b"),))
LIFT = Rule(order_of("parcel", "office"), (Forbid("server"),))

FAMILIES = {
    "order": Family(_order),
    "any order": Family(_any_order),
    "never": Family(_with(_never)),
    "never while": Family(_with(_never_while), given=(BETWEEN, "grid")),
    "never after": Family(_with(_never_after), held_out=True),
    "until": Family(_with(_until)),
    "phase": Family(_with(_phase), ("grid", "graph", "priced grid"), given=(TRAY, "grid")),
    "again after": Family(_with(_renew), given=(WASH, "grid")),
    "if at first": Family(_with(_oblige, first=True), given=(BATTERY, "grid")),
    "if later": Family(_with(_oblige)),
    "visits": Family(_visits, ("grid", "graph", "priced grid"), given=(STATION, "grid")),
    "events twice": Family(_visits, ("events",), held_out=True),
    "reset": Family(_reset),
    "either": Family(_either, held_out=True),
    "building": Family(_pairs(_never, _never_while, _until), ("building",), given=(LIFT, "building")),
    "two conditions": Family(_pairs(_never, _never_while, _until, _phase, _oblige, _renew)),
    "two, graphs": Family(
        _pairs(_never, _never_while, _never_after, _until, _oblige), ("graph", "priced graph"), held_out=True
    ),
}
"""By name; the number of a family is part of the seeds of its rules, so a new one comes last."""
