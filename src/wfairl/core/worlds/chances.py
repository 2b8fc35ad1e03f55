"""Chances: what controls may lead to in a world that slips.

An *effect* is something that can happen in a state: a next state, with the label and the features of that transition. A
control is a lottery over the effects of its state,

    P(e | x, u) >= 0,     sum over e of P(e | x, u) = 1.

In a deterministic world every control has one effect of its own. Effects are then the controls, and there are no
chances. So whatever goes along transitions (products, costs, labels, demonstrations) goes along effects, and only what
chooses a control asks for the chances.

Effect e belongs to control e % controls: where that control costs more, each of its effects does. Where a control may
be replaced by another one (`slip_chances`), the effects are those of the controls, and the effect of the other control
happens, at the cost of the other control. States with the same lotteries are of one kind and share them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.world import draw_index

Lottery = tuple[tuple[int, float], ...]
"""Effects with their probabilities; empty for a control that is unavailable."""


@dataclass(frozen=True, eq=False)
class Chances:
    """The probabilities of effects under controls; states with the same lotteries are of one kind."""

    controls: int  # how many there are
    # the lottery of control u in states of kind k lies from first[k * controls + u] to the next entry; shape [kinds *
    # controls + 1] of int64
    first: NDArray[np.int64]
    effect: NDArray[np.int32]  # of each entry, shape [entries] of int32
    probability: NDArray[np.float64]  # of each entry, shape [entries] of float64
    kind: NDArray[np.int32]  # of each state or node, shape [states] of int32

    @classmethod
    def of(cls, kinds: Sequence[Sequence[Lottery]], kind: NDArray[np.integer]) -> "Chances":
        """The chances of lotteries by kind and control, and the kind of each state."""
        lotteries = [lottery for of_kind in kinds for lottery in of_kind]
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

    def draw(self, state: int, control: int, rng: np.random.Generator) -> int:
        """An effect of a control, drawn with its probability."""
        lottery = self.lottery(state, control)
        return lottery[draw_index([probability for _, probability in lottery], rng)][0]


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
    """The number in place of an effect that led to a state which the model does not foresee; and from it the state."""
    return -1 - state
