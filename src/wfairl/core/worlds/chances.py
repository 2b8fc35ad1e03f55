"""Chances: what controls may lead to in a world that slips.

An *effect* is something that can happen in a state: a next state, with the label and the features of that transition. A
control is a lottery over the effects of its state,

    P(e | x, u) >= 0,     sum over e of P(e | x, u) = 1.

In a deterministic world every control has one effect of its own. Effects are then the controls, and there are no
chances. So whatever goes along transitions (products, costs, labels, demonstrations) goes along effects, and only what
chooses a control asks for the chances.

Controls that lead to the same transitions share them as effects: a control that is replaced by another one with some
probability needs no effect of its own. States with the same lotteries share these.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Label
from wfairl.core.support.errors import BadInputError, WfairlError, one_line
from wfairl.core.worlds.world import BrokenLawError, World, available_controls, outcomes_of

Lottery = tuple[tuple[int, float], ...]
"""Effects with their probabilities; empty for a control that is unavailable."""


@dataclass(frozen=True, eq=False)
class Chances:
    """The probabilities of effects under controls; states with the same lotteries are of one kind.

    Attributes:
        controls: how many there are.
        first: the lottery of control u in states of kind k lies from first[k * controls + u] to the next entry; shape
            [kinds * controls + 1] of int64.
        effect: of each entry, shape [entries] of int32.
        probability: of each entry, shape [entries] of float64.
        kind: of each state or node, shape [states] of int32.
    """

    controls: int
    first: NDArray[np.int64]
    effect: NDArray[np.int32]
    probability: NDArray[np.float64]
    kind: NDArray[np.int32]

    @classmethod
    def of(cls, kinds: Sequence[Sequence[Lottery]], kind: NDArray[np.integer]) -> "Chances":
        """The chances of lotteries by kind and control, and the kind of each state."""
        lotteries = [lottery for kind_of_lotteries in kinds for lottery in kind_of_lotteries]
        entries = [entry for lottery in lotteries for entry in lottery]
        return cls(
            len(kinds[0]),
            np.cumsum([0, *map(len, lotteries)]).astype(np.int64),
            np.array([effect for effect, _ in entries], np.int32),
            np.array([probability for _, probability in entries], np.float64),
            np.asarray(kind, np.int32),
        )

    def at(self, states: NDArray[np.integer]) -> "Chances":
        """The chances in some states, such as those of the nodes of a product."""
        return replace(self, kind=self.kind[states])

    def lottery(self, state: int, control: int) -> Lottery:
        """The effects of a control in a state, with their probabilities."""
        row = int(self.kind[state]) * self.controls + control
        part = slice(self.first[row], self.first[row + 1])
        return tuple(zip(self.effect[part].tolist(), self.probability[part].tolist(), strict=True))

    @property
    def available(self) -> NDArray[np.bool_]:
        """Which controls can be chosen, shape [states, controls]."""
        return (np.diff(self.first) > 0).reshape(-1, self.controls)[self.kind]

    def dense(self, effects: int) -> NDArray[np.float64]:
        """P(e | x, u) by kind, shape [kinds, controls, effects]."""
        table = np.zeros((len(self.first) - 1, effects))
        table[np.repeat(np.arange(len(table)), np.diff(self.first)), self.effect] = self.probability
        return table.reshape(-1, self.controls, effects)

    @cached_property
    def likeliest(self) -> NDArray[np.int32]:
        """The most probable effect of each control by kind, the first among equals; shape [kinds, controls]."""
        return self.dense(int(self.effect.max(initial=0)) + 1).argmax(axis=2).astype(np.int32)

    def draw(self, state: int, control: int, rng: np.random.Generator) -> int:
        """An effect of a control, drawn with its probability."""
        lottery = self.lottery(state, control)
        cumulative = np.cumsum([probability for _, probability in lottery])
        return lottery[int((cumulative / cumulative[-1] <= rng.random()).sum())][0]


def chances_or_none(kinds: Sequence[tuple[Lottery, ...]], kind: NDArray[np.integer]) -> Chances | None:
    """The chances of kinds of lotteries; None where every control has one effect, its own."""
    if all(lottery in ((), ((u, 1.0),)) for one in kinds for u, lottery in enumerate(one)):
        return None
    return Chances.of(kinds, kind)


def slip_chances(available: NDArray[np.bool_], probability: float) -> Chances:
    """The chances where an available control is replaced by another one with some probability, all others alike.

    The effects are those of the controls where nothing slips; `available` has the shape [states, controls].
    """
    if not 0 <= probability < 1:
        raise BadInputError(f"a control slips with a probability from 0 to less than 1, not {probability}")
    patterns, kind = np.unique(available, axis=0, return_inverse=True)
    return Chances.of([_slip_lotteries(row, probability) for row in patterns], kind.reshape(-1))


def _slip_lotteries(available: NDArray[np.bool_], probability: float) -> list[Lottery]:
    controls = np.flatnonzero(available).tolist()
    each = probability / max(len(controls) - 1, 1)
    stays = 1.0 - each * (len(controls) - 1)
    return [
        tuple((one, stays if one == control else each) for one in controls if one == control or each > 0)
        if is_available
        else ()
        for control, is_available in enumerate(available.tolist())
    ]


def surprise(state: int) -> int:
    """What stands for an effect where something led to a state, by its number, that the model does not foresee.

    The same function gives the state back.
    """
    return -1 - state


def find_effect(world: World[Any], state: Any, control: int, next_state: Any) -> int | None:
    """The effect that led from a state to another: one of the control if there is one.

    Where the control does not lead there, a world whose states have numbers gives a `surprise`. Elsewhere it is an
    effect of another control, or None.
    """
    find = getattr(world, "find_effect", None)
    if find is not None:
        found: int | None = find(state, control, next_state)
        return found
    effects, lotteries = effects_of(world, state)
    leading = [i for i, one in enumerate(effects) if one is not None and one.next_state == next_state]
    of_control = [i for i, _ in lotteries[control] if i in leading]
    return next(iter([*of_control, *leading]), None)


def state_after(world: World[Any], state: Any, effect: int) -> Any:
    """The state after an effect."""
    after = getattr(world, "after", None)
    if after is not None:
        return after(state, effect)
    one = effects_of(world, state).effects[effect]
    assert one is not None  # an effect that happened is available
    return one.next_state


class Effect(NamedTuple):
    """A transition that can happen in a state of a world in plain Python."""

    control: int  # one that has it
    next_state: Any
    label: Label
    features: NDArray[np.float64]


class Effects(NamedTuple):
    """All that can happen in a state: the effects, and the lottery of each control.

    Where every control has a single outcome, effect u is that of control u, or None where u is unavailable.
    """

    effects: tuple[Effect | None, ...]
    lotteries: tuple[Lottery, ...]


def effects_of(world: World[Any], state: Any) -> Effects:
    """The effects in a state of a world in plain Python, in the order of controls and outcomes.

    Raises:
        BrokenLawError: a method of the world fails; says where.
    """
    control = 0
    try:
        made: list[list[tuple[float, Effect]]] = []  # by control
        for control, is_available in enumerate(available_controls(world, state).tolist()):
            made.append([])
            for probability, after in outcomes_of(world, state, control) if is_available else ():
                features = np.asarray(world.features(state, control, after), np.float64)
                made[-1].append((probability, Effect(control, after, world.label(state, control, after), features)))
    except WfairlError:
        raise
    except Exception as error:
        where = f"at state {state!r} under control {world.controls[control]!r}"
        raise BrokenLawError(f"totality: exploring fails {where} ({one_line(error)})") from error
    if all(len(one) <= 1 for one in made):
        effects = tuple(one[0][1] if one else None for one in made)
        return Effects(effects, tuple(((u, 1.0),) if one else () for u, one in enumerate(made)))
    return _shared_effects(made)


def _shared_effects(made: list[list[tuple[float, Effect]]]) -> Effects:
    """The effects of all controls, each once."""
    numbers: dict[tuple[Any, Label, bytes], int] = {}
    effects: list[Effect] = []
    lotteries: list[Lottery] = []
    for one in made:
        lottery = []
        for probability, effect in one:
            number = numbers.setdefault((effect.next_state, effect.label, effect.features.tobytes()), len(effects))
            if number == len(effects):
                effects.append(effect)
            lottery.append((number, probability))
        lotteries.append(tuple(lottery))
    return Effects(tuple(effects), tuple(lotteries))
