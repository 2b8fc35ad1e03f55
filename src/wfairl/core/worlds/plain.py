"""Worlds in plain Python: what can happen in their states, and all that can be reached, in step with an automaton."""

from array import array
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import UNAVAILABLE, Automaton, Label
from wfairl.core.support.errors import WfairlError, one_line
from wfairl.core.support.progress import announce_if_long
from wfairl.core.worlds.chances import Chances, Lottery
from wfairl.core.worlds.compiled import Exploration, LabelTable, TooManyNodesError
from wfairl.core.worlds.world import BrokenLawError, World, available_controls, outcomes_of

LOOKED_AT = 20_000
"""States that tell which part of them grows."""

EXPLORING = "exploring the world, state by state"

NO_EFFECT = (UNAVAILABLE, 0, 0)
"""In place of the next node, label and features of an effect that a state does not have."""


def explore_plain(
    world: World[Any], automaton: Automaton, max_nodes: int, start: tuple[Any, int]
) -> tuple[Exploration, NDArray[np.int32], NDArray[np.float64]]:
    """Every reachable pair of states, breadth first in the order of effects, as a `CompiledWorld` would give it.

    Also the row of features of each transition, shape [nodes, effects], and the distinct features, shape
    [distinct, features].
    """
    labels, nodes, pairs = LabelTable(automaton), {start: 0}, [start]
    reads: dict[tuple[Label, int], tuple[int, int]] = {}  # number of a label, state after it
    features: dict[bytes, int] = {}
    rows: list[NDArray[np.float64]] = []  # the distinct features
    effects_before = array("q", [0])  # of each node: how many effects the nodes before it have
    transitions = array("i")  # of each effect: next node, label, features
    kinds: dict[tuple[Lottery, ...], int] = {}
    kind = array("i")
    for state, automaton_state in announce_if_long(pairs, EXPLORING):  # which grow meanwhile
        effects, lotteries = effects_of(world, state)
        for one in effects:
            if one is None:
                transitions.extend(NO_EFFECT)
                continue
            read = reads.get((one.label, automaton_state))
            if read is None:
                label = labels.number(one.label)
                read = reads[one.label, automaton_state] = label, int(labels.columns[label][automaton_state])
            label, after = read
            if after >= 0:
                pair = (one.next_state, after)
                after = nodes.setdefault(pair, len(pairs))
                if after == len(pairs):
                    pairs.append(pair)
            row = features.setdefault(one.features.tobytes(), len(rows))
            if row == len(rows):
                rows.append(one.features)
            transitions.extend((after, label, row))
        effects_before.append(effects_before[-1] + len(effects))
        kind.append(kinds.setdefault(lotteries, len(kinds)))
        if len(pairs) > max_nodes:
            raise TooManyNodesError(_too_many([state for state, _ in pairs[:max_nodes]], max_nodes))
    lengths = sorted({row.size for row in rows})
    if len(lengths) > 1:
        raise BrokenLawError(
            f"features: they must have the same length everywhere, not both {lengths[0]} and {lengths[1]}"
        )
    counts = np.diff(np.array(effects_before))
    is_effect = np.arange(counts.max()) < counts[:, None]
    arrays = np.full((*is_effect.shape, len(NO_EFFECT)), NO_EFFECT, np.int32)
    arrays[is_effect] = np.array(transitions, np.int32).reshape(-1, len(NO_EFFECT))
    states, automaton_states = tuple(one for one, _ in pairs), np.array([one for _, one in pairs], np.int32)
    successors, label_index, feature_index = np.ascontiguousarray(np.moveaxis(arrays, 2, 0))
    is_sure = all(lottery in ((), ((u, 1.0),)) for one in kinds for u, lottery in enumerate(one))
    chances = None if is_sure else Chances.of(list(kinds), np.array(kind))
    found = Exploration(
        states, automaton_states, successors, label_index.astype(np.uint16), tuple(labels.labels), chances
    )
    return found, feature_index, np.array(rows, np.float64).reshape(len(rows), -1)


def _too_many(states: Sequence[Any], max_states: int) -> str:
    """That there are more states than allowed, which part of them keeps growing, and what to do.

    A part grows if the second half of the states, breadth first, has values of it that the first half lacks.
    """
    named = [_parts(state) for state in states[:: -(-len(states) // LOOKED_AT)]]
    half, growth = (len(named) + 1) // 2, []
    for part, last in named[-1].items():
        early, late = ({repr(one.get(part)) for one in some} for some in (named[:half], named[half:]))
        if late - early:
            growth.append(f"{part} takes {len(early | late):,} values or more, such as {last!r}")
    return (
        f"more than {max_states:,} states of the world can be reached"
        f" ({'; '.join(growth) or f'among the last is {states[-1]!r}'}). Leave out of the state what the task does not"
        " need, such as the time, or let it stop at a bound; if the world is as large as this, raise the limit"
        " (--max-states of `wfairl plan`, or `ModelTask(max_states=...)`)"
    )


def _parts(state: Any) -> dict[str, Any]:
    """The parts of a state by name: the fields of a record, the entries of a tuple, or the state itself."""
    names = [one.name for one in fields(state)] if is_dataclass(state) else getattr(state, "_fields", ())
    if names:
        return {f"its field {name!r}": getattr(state, name) for name in names}
    if isinstance(state, tuple):
        return {f"its entry {i}": value for i, value in enumerate(state)}
    return {"the state": state}


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
    one = effects_of(world, state)[0][effect]
    assert one is not None  # an effect that happened is available
    return one.next_state


class Effect(NamedTuple):
    """A transition that can happen in a state of a world in plain Python."""

    next_state: Any
    label: Label
    features: NDArray[np.float64]


def effects_of(world: World[Any], state: Any) -> tuple[tuple[Effect | None, ...], tuple[Lottery, ...]]:
    """The effects in a state, and the lottery of each control; a failing method is a `BrokenLawError`.

    Effect k * controls + u is outcome k of control u, or None where u has fewer outcomes.
    """
    control = 0
    try:
        made: list[list[tuple[float, Effect]]] = []  # by control
        for control, is_available in enumerate(available_controls(world, state).tolist()):
            made.append([])
            for probability, after in outcomes_of(world, state, control) if is_available else ():
                features = np.asarray(world.features(state, control, after), np.float64)
                made[-1].append((probability, Effect(after, world.label(state, control, after), features)))
    except WfairlError:
        raise
    except Exception as error:
        where = f"at state {state!r} under control {world.controls[control]!r}"
        raise BrokenLawError(f"totality: exploring fails {where} ({one_line(error)})") from error
    most = max(1, *map(len, made))
    effects = tuple(one[k][1] if k < len(one) else None for k in range(most) for one in made)
    lotteries = tuple(
        tuple((k * len(made) + u, probability) for k, (probability, _) in enumerate(one)) for u, one in enumerate(made)
    )
    return effects, lotteries
