"""Families of random rules: each is a function from random numbers to a rule, with the kinds of worlds that suit it.

The first rule of a family may be a given one. Held-out families are for tests only: nothing may be tuned on them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache

import numpy as np

from experiments.rule_families.automata import automaton_of
from experiments.rule_families.rules import (
    BROKEN,
    FREE,
    Condition,
    Rule,
    Stage,
    at_most_of,
    carried,
    carry_at_most,
    forbid,
    locked,
    never_twice_in_a_row,
    oblige,
    one_lamp,
    one_or_both,
    renew,
    switched,
)
from experiments.rule_families.scenes import IDLE, KINDS, SHAFTS, USE, ZONE, Kind, Scene, draw_scene, labels_of
from wfairl.core.worlds.graph import GraphWorld, explore_world
from wfairl.core.worlds.task import ModelTask

WORDS = (
    "anvil", "badge", "cabin", "depot", "easel", "ferry", "gate", "hatch", "igloo", "jetty",
    "kiln", "lamp", "mill", "nest", "oven", "pier", "quay", "ramp", "silo", "tank",
)  # fmt: skip
HORIZON = 150
RULES = 14
"""Rules of a family."""

MOST_STATES = 8
"""Of a rule's automaton, unless its family allows more; a rule with more is drawn again."""

Draw = Callable[[np.random.Generator, list[str]], Rule]
"""From random numbers and names in random order to a rule; the goal has the first names."""


@dataclass(frozen=True)
class Family:
    """Rules of one shape, each in a world of one of the kinds; a given rule is the first, in the first kind."""

    draw: Draw
    kinds: Sequence[str] = ("grid", "graph", "events", "priced grid")
    given: Rule | None = None
    held_out: bool = False
    most_states: int = MOST_STATES


@dataclass(frozen=True, eq=False)
class Problem:
    """A rule and its scenes."""

    name: str
    rule: Rule
    kind: Kind
    propositions: tuple[str, ...]
    seed: tuple[int, int]

    @cached_property
    def task(self) -> ModelTask:
        """The package's task: its rule is the automaton of the judge's machine."""
        prices = np.array([1.0, self.kind.price])
        return ModelTask(
            name=self.name,
            summary="a random rule",
            propositions=self.propositions,
            rule=automaton_of(self.rule, labels_of(self.rule, self.propositions)).to_guarded(),
            horizon=HORIZON,
            scene=self.world,
            true_cost=(lambda features: features @ prices) if self.kind.price else None,
        )

    @lru_cache(maxsize=1024)  # noqa: B019 - problems are made once
    def scene(self, seed: int) -> Scene:
        """The scene of a seed."""
        return draw_scene(self.rule, self.kind, self.propositions, np.random.default_rng([*self.seed, seed]))

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
        kind, rule = str(rng.choice(of.kinds)), of.draw(rng, [WORDS[i] for i in rng.permutation(len(WORDS))])
        if number == 0 and of.given is not None:
            kind, rule = of.kinds[0], of.given
        if USE in KINDS[kind].controls:  # what is needed is done by a control; what is also a hazard remains a place
            rule = replace(rule, events=rule.needed - rule.hazards)
        idle = [*IDLE[: int(rng.integers(1, len(IDLE)))], *([ZONE] if rng.random() < 0.5 else [])]
        names = rule.needed | rule.hazards | set(idle) | (set(SHAFTS) if kind == "building" else set())
        names |= {*rule.irrelevant, *(rule.device.shows if rule.device else ())}
        propositions = tuple(sorted(names))
        if automaton_of(rule, labels_of(rule, propositions)).states <= of.most_states:
            return Problem(f"{family} {number}", rule, KINDS[kind], propositions, seed)


def order_of(*names: str) -> tuple[Stage, ...]:
    """Stages of one name each."""
    return tuple(Stage((name,)) for name in names)


def _sometimes(rng: np.random.Generator, probability: float, name: str) -> tuple[Stage, ...]:
    return order_of(name) if rng.random() < probability else ()


def _either(rng: np.random.Generator, names: list[str]) -> Rule:
    return Rule((*_sometimes(rng, 0.5, names[3]), Stage(tuple(names[:2]), 1), *order_of(names[2])))


def _visits(rng: np.random.Generator, names: list[str]) -> Rule:
    """A place is visited again after it was left, or an event takes place again."""
    again = order_of(*names[:1] * int(rng.integers(2, 4)), names[1])
    return Rule((*_sometimes(rng, 0.3, names[2]), *again))


def _reset(rng: np.random.Generator, names: list[str]) -> Rule:
    return Rule(order_of(*names[: int(rng.integers(2, 4))]), resets=(names[6],))


CONDITIONS: dict[str, Callable[[np.random.Generator, list[str]], Condition]] = {
    "never": lambda _, names: forbid(names[6]),
    "never while": lambda _, names: forbid(names[7], names[0], names[1]),
    "never after": lambda rng, names: forbid(names[8], since=names[int(rng.integers(2))]),
    "until": lambda rng, names: forbid(names[9], until=names[int(rng.integers(2))]),
    "deadly later": lambda _, names: forbid(names[0], since=names[1]),
    "deadly before": lambda _, names: forbid(names[1], until=names[0]),
    "again after": lambda rng, names: renew(names[10], tuple(names[:2]), tuple(names[: 1 + int(rng.random() < 0.3)])),
    "if": lambda rng, names: oblige(names[11], names[12], names[2] if rng.random() < 0.4 else None),
}
"""Of the goal, conditions use the first two or three names; all other names are their own."""


def _careful(rng: np.random.Generator, names: list[str]) -> tuple[Condition, ...]:
    """A condition, in two of three rules."""
    kinds = ("never", "until")
    return () if rng.random() < 1 / 3 else (CONDITIONS[kinds[int(rng.integers(2))]](rng, names),)


def _with(*names: str, count: int = 1, first: bool = False) -> Draw:
    """Rules with some of these conditions; if there are two, a reset may stand for the second."""

    def draw(rng: np.random.Generator, words: list[str]) -> Rule:
        chosen = [names[i] for i in rng.permutation(len(names))[:count]]
        resets = (words[13],) if count > 1 and rng.random() < 0.2 else ()
        conditions = tuple(CONDITIONS[name](rng, words) for name in chosen[: count - len(resets)])
        stages = order_of(*words[:3] if chosen != ["never"] or rng.random() < 0.5 else words[:2])
        if "again after" in chosen or (chosen == ["if"] and rng.random() < 0.3):
            stages = (Stage(tuple(words[:2])), *order_of(words[2]))
        return Rule(stages, conditions, resets, first=words[11] if first else None)

    return draw


def _battery(rng: np.random.Generator, names: list[str]) -> Rule:
    """A few pickups, in order or not, then home; after one or two of them the dock must be visited."""
    count = int(rng.integers(2, 4))
    uses, dock = tuple(names[:count]), names[10]
    stages = order_of(*uses) if rng.random() < 0.5 else (Stage(uses),)
    return Rule((*stages, *order_of(names[3])), (carry_at_most(count - 1, uses, dock),))


def _alarm(rng: np.random.Generator, names: list[str]) -> Rule:
    """The valve is opened while the alarm is off; a button switches it."""
    valve, button, alarm = names[0], names[4], "alarm"
    stages = order_of(valve, *names[1 : int(rng.integers(2, 4))])
    return Rule(stages, (forbid(f"{valve}+{alarm}")._replace(needs=(button,)),), device=switched(button, alarm))


def _carried(rng: np.random.Generator, names: list[str]) -> Rule:
    """Two things are carried to a place together."""
    then = _sometimes(rng, 0.5, names[3])
    return Rule((*order_of("+".join(names[:3])), *then), _careful(rng, names), device=carried(*names[:2]))


def _many(rng: np.random.Generator, names: list[str]) -> Rule:
    """A short rule among many things that do not matter."""
    return Rule(order_of(*names[: int(rng.integers(2, 4))]), _careful(rng, names), irrelevant=tuple(names[14:20]))


def _round_trip(rng: np.random.Generator, names: list[str]) -> Rule:
    """From home to one or two places, and back home, where one is already at first."""
    return Rule(order_of(*names[1 : int(rng.integers(2, 4))], names[0]), _careful(rng, names), begins=names[0])


def _lamps(rng: np.random.Generator, names: list[str]) -> Rule:
    """The parcel is brought to the room whose lamp is on."""
    lamps, rooms = ("red", "green"), names[:2]
    to = Stage(tuple(f"{room}+{lamp}" for room, lamp in zip(rooms, lamps, strict=True)), 1)
    return Rule((*order_of(*names[3 : 3 + int(rng.integers(1, 3))]), to), device=one_lamp(*lamps))


def _alternation(rng: np.random.Generator, names: list[str]) -> Rule:
    """Two stations in turn, then home; never the same one twice in a row."""
    turns = (names[:2] * 2)[: int(rng.integers(2, 5))]
    return Rule(order_of(*turns, names[2]), (never_twice_in_a_row(tuple(names[:2])),))


def _report(rng: np.random.Generator, names: list[str]) -> Rule:
    """Machines are inspected, in any order, and reported; after a fault, the workshop comes before the report."""
    machines = Stage(tuple(names[: int(rng.integers(2, 4))]))
    before = names[3] if rng.random() < 0.5 else None
    return Rule((machines, *order_of(names[3])), (oblige(names[11], names[12], before),))


def _locked(rng: np.random.Generator, names: list[str]) -> Rule:
    """Nobody gets to the door without the key, so that the rule need not say it."""
    key, door = names[3], names[0]
    stages = order_of(*names[: int(rng.integers(2, 4))])
    return Rule(stages, _careful(rng, names), device=locked(key, door), irrelevant=(key,))


def _one_at_a_time(rng: np.random.Generator, names: list[str]) -> Rule:
    """Two or three things are brought to one place; at most one is carried at a time."""
    things = tuple(names[: int(rng.integers(2, 4))])
    return Rule((Stage(things), *order_of(names[3])), (carry_at_most(1, things, names[3]),))


def _exclusive(rng: np.random.Generator, names: list[str]) -> Rule:
    """Who has been in some of three zones may not enter the others any more."""
    zones = tuple(names[6 : 8 + int(rng.integers(2))])
    return Rule(order_of(*names[: int(rng.integers(2, 4))]), (at_most_of(len(zones) - 1, zones),))


def _sorting(rng: np.random.Generator, names: list[str]) -> Rule:
    """One of two things is fetched and brought to its own bin, never to that of the other."""
    things, bins = names[:2], names[2:4]
    taking = ((FREE, thing, thing) for thing in things)
    wrong = ((thing, one, BROKEN) for thing, one in zip(things, reversed(bins), strict=True))
    stages = (Stage(tuple(things), 1), Stage(tuple(bins), 1), *_sometimes(rng, 0.5, names[4]))
    return Rule(stages, (Condition((*taking, *wrong)),))


def _one_or_both(rng: np.random.Generator, names: list[str]) -> Rule:
    """A, or else both B and C, before the end."""
    return Rule((*_sometimes(rng, 0.5, names[4]), *order_of(names[3])), (one_or_both(names[0], (names[1], names[2])),))


def _permit(rng: np.random.Generator, names: list[str]) -> Rule:
    """A place may be entered with a permit only, which is lost in some other place."""
    permit, place, lost = names[10], names[0], names[6]
    moves = ((FREE, permit, "held"), ("held", lost, FREE), (FREE, place, BROKEN))
    stages = order_of(*names[: int(rng.integers(1, 3))], names[3])
    return Rule(stages, (Condition(moves, (permit,), (lost,)),))


def _tool(rng: np.random.Generator, names: list[str]) -> Rule:
    """A tool is taken, used at one or two places and returned where it was; some place is forbidden meanwhile."""
    uses = names[1 : int(rng.integers(2, 4))]
    return Rule(order_of(names[0], *uses, names[0]), (forbid(names[6], names[0], uses[-1]),))


def _rounds(rng: np.random.Generator, names: list[str]) -> Rule:
    """Two or three places in any order; between two of them one returns to another one, or all is lost."""
    places = tuple(names[: int(rng.integers(2, 4))])
    return Rule((Stage(places), *order_of(names[3])), (carry_at_most(1, places, names[4]),))


TRAY = Rule(order_of("tray", "water", "table"), (forbid("tray", since="water"),))
WASH = Rule((Stage(("meat", "vegetables")),), (renew("wash", ("meat", "vegetables"), ("meat",)),))
BATTERY = Rule(order_of("end"), (oblige("low", "dock"),), first="low")
STATION = Rule(order_of("station", "station", "home"))
BETWEEN = Rule(order_of("a", "b", "d"), (forbid("c", "a", "b"),))
LIFT = Rule(order_of("parcel", "office"), (forbid("server"),))

PRESSES = ("events", "press graph")
PLACES = ("grid", "graph", "priced grid")
FAMILIES = {
    "order": Family(lambda rng, names: Rule(order_of(*names[: int(rng.integers(2, 5))]))),
    "any-order": Family(
        lambda rng, names: Rule((Stage(tuple(names[: int(rng.integers(2, 4))])), *_sometimes(rng, 0.7, names[5])))
    ),
    "never": Family(_with("never")),
    "never-while": Family(_with("never while"), given=BETWEEN),
    "never-after": Family(_with("never after")),
    "until": Family(_with("until")),
    "phase": Family(_with("deadly later", "deadly before"), PLACES, TRAY),
    "again-after": Family(_with("again after"), given=WASH),
    "if-at-first": Family(_with("if", first=True), given=BATTERY),
    "if-later": Family(_with("if")),
    "visits": Family(_visits, PLACES, STATION),
    "events-again": Family(_visits, ("events",)),
    "reset": Family(_reset),
    "either": Family(_either),
    "building": Family(_with("never", "never while", "until", count=2), ("building",), LIFT),
    "two": Family(_with("never", "never while", "until", "deadly later", "again after", "if", count=2)),
    "two-in-graphs": Family(
        _with("never", "never while", "never after", "until", "if", count=2), ("graph", "priced graph")
    ),
    "battery": Family(_battery, PRESSES),
    "alarm": Family(_alarm, ("grid", "graph", "events")),
    "carried": Family(_carried, PLACES),
    "many": Family(_many),
    "round-trip": Family(_round_trip, PLACES),
    "press": Family(_with("never", "until", "never after"), ("press graph",)),
    "lamps": Family(_lamps, held_out=True),
    "alternation": Family(_alternation, PRESSES, held_out=True),
    "report": Family(_report, held_out=True),
    "long": Family(
        lambda rng, names: Rule(order_of(*names[: int(rng.integers(5, 7))]), _careful(rng, names)), held_out=True
    ),
    "locked": Family(_locked, PLACES, held_out=True),
    "two-presses": Family(_with("never", "until", "if", "deadly before", count=2), ("press graph",), held_out=True),
    "one-at-a-time": Family(_one_at_a_time, (*PRESSES, "graph", "priced graph"), held_out=True),
    "exclusive": Family(_exclusive, held_out=True),
    "sorting": Family(_sorting, held_out=True),
    "one-or-both": Family(_one_or_both, held_out=True),
    "permit": Family(_permit, held_out=True),
    "tool": Family(_tool, PLACES, held_out=True),
    "rounds": Family(_rounds, most_states=16),
}
"""By name; the number of a family is part of the seeds of its rules, so a new one comes last."""
