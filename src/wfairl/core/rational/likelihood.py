"""Compiled loops of `evidence`: how likely demonstrations are under an automaton given as a table.

The scenes lie one after another in flat arrays, so that one call evaluates an automaton in all of them.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED
from wfairl.core.automata.minimisation import Table
from wfairl.core.planning.expected_cost import DEFAULT_PRICE
from wfairl.core.planning.policy_sweeps import Lotteries
from wfairl.core.planning.shortest_path import Floats
from wfairl.core.rational.observations import NO_SUCCESSOR, ArrayWorld, DemonstratedScene
from wfairl.core.rational.table_cost_to_go import (
    PackedWorld,
    ReversibleTable,
    SlippingWorlds,
    expected_table_cost_to_go,
    pack_world,
    search_nodes,
    sort_pairs,
)
from wfairl.core.support.compiling import inner, njit
from wfairl.core.worlds.chances import Chances, slip_chances

TABULATED_GAPS = 32
"""Where all costs are 1, exp(-gap / eta) is looked up for gaps below this."""

SLACK_STEPS = 10
"""Where all costs are 1, a control after which the task takes so many steps more than the demonstration, without its
loops, counts as leading nowhere."""

SLIPPING_STATES = 4_000
"""So many states of a world that slips are planned through, those nearest to the demonstration: a sweep takes ten times
as long as a search. An effect that leads to another state counts as a failure."""

EXPECTED_TOLERANCE = 1e-2
"""Where worlds slip, sweeps end when no cost-to-go changes by more than this part of the lowest temperature."""

LARGEST_PARTITION = 1e250
"""Partition functions are multiplied up to this number before their logarithm is taken."""


class PackedScenes(NamedTuple):
    """Successful demonstrations and their worlds."""

    worlds: PackedWorld  # of all scenes, one after another; each has its own end in `first` and `label_first`
    # the states of scene i are those from state_first[i] to state_first[i + 1]; [scenes + 1] of int64
    state_first: NDArray[np.int64]
    most_states: int  # of a scene
    unit: NDArray[np.bool_]  # whether all transitions of a scene cost 1, [scenes]
    highest: Floats  # the cost-to-go above which a state does not matter to the demonstration, [states of all scenes]
    log_outlier: Floats  # log of e times the probability of an outlier, [scenes]
    log_follows: float  # log(1 - e), where e is the probability that a demonstration follows no task
    # the steps of scene i are those from step_first[i] to step_first[i + 1]; [scenes + 1] of int64
    step_first: NDArray[np.int64]
    successor: NDArray[np.int32]  # state after each control in a step, or -1; [steps, controls]
    label: NDArray[np.int16]  # index of its label, [steps, controls]
    cost: Floats  # of the control, [steps, controls]
    visited: NDArray[np.int32]  # the state in which the step begins, [steps]
    word: NDArray[np.int32]  # index of the label that was read, [steps]
    control: NDArray[np.int32]  # the demonstrated control, [steps]


def pack_scenes(
    scenes: Sequence[DemonstratedScene], labels: int, max_states: int, log_outlier: Floats, log_follows: float
) -> tuple[PackedScenes, SlippingWorlds | None]:
    """Demonstrations for `fill_evidence`; of each world only the `max_states` states nearest to the demonstration.

    Returns:
        The demonstrations; and the effects in all states with their chances, None where the worlds do not slip.
    """
    worlds, steps, states, transitions, units, highest = [], [], [0], 0, [], []
    width = max(scene.world.successors.shape[1] for scene in scenes)
    slip, near_states = any(scene.world.chances is not None for scene in scenes), []
    for scene in scenes:
        world, visited = scene.world, scene.visited[:-1]
        most = min(max_states, SLIPPING_STATES) if slip else max_states
        near = _nearest_states(world.successors, scene.visited, most)
        number = np.full(len(world.successors) + 1, -1, np.int32)  # the entry past the end is that of NO_SUCCESSOR
        number[near] = np.arange(len(near))
        near_states.append((scene.world, near, number))
        successors = number[world.successors[near]]
        packed = pack_world(successors, world.label_index[near], world.costs[near], labels)
        units.append(bool((packed.cost == 1).all()) and not slip)
        highest.append(
            _highest_costs(successors, number[scene.visited], scene.word) if units[-1] else np.full(len(near), np.inf)
        )
        worlds.append(packed._replace(first=transitions + packed.first, label_first=transitions + packed.label_first))
        steps.append(
            (*_effects_in(world, visited, number, width), number[visited], scene.word, scene.controls.astype(np.int32))
        )
        states.append(states[-1] + len(near))
        transitions += len(packed.source)
    packed_scenes = PackedScenes(
        PackedWorld(*(np.concatenate(arrays) for arrays in zip(*worlds, strict=True))),
        np.array(states, np.int64),
        max(np.diff(states).tolist()),
        np.array(units),
        np.concatenate(highest),
        log_outlier,
        log_follows,
        np.cumsum([0, *(len(scene.controls) for scene in scenes)]),
        *(np.concatenate(arrays) for arrays in zip(*steps, strict=True)),
    )
    return packed_scenes, pack_slipping(near_states, width) if slip else None


def pack_slipping(
    worlds: Sequence[tuple[ArrayWorld, NDArray[np.int32], NDArray[np.int32]]], width: int
) -> SlippingWorlds:
    """Worlds that slip, each with the states that are kept and the new number of every state."""
    parts, firsts, entries, kinds, controls = [], [np.zeros(1, np.int64)], 0, 0, 0
    for world, near, number in worlds:
        chances = world.chances
        if chances is None:  # beside worlds that slip
            chances = slip_chances(world.successors >= 0, 0.0)
        parts.append(
            (
                *_effects_in(world, near, number, width),
                chances.kind[near] + np.int32(kinds),
                np.array([DEFAULT_PRICE * world.costs.mean()]),
                chances.effect,
                chances.probability,
            )
        )
        firsts.append(chances.first[1:] + entries)
        entries += len(chances.effect)
        kinds += (len(chances.first) - 1) // chances.controls
        controls = chances.controls
    *states, effect, probability = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    chances = Chances(controls, np.concatenate(firsts), effect, probability, states[-2])
    return SlippingWorlds(Lotteries.of(chances, width), *states)


def _effects_in(
    world: ArrayWorld, states: NDArray[np.int32], number: NDArray[np.int32], width: int
) -> tuple[NDArray[np.int32], NDArray[np.int16], Floats]:
    """The states, by their new numbers, labels and costs after each effect in some states; each [states, width]."""
    shape = len(states), width
    successor, label, cost = np.full(shape, NO_SUCCESSOR, np.int32), np.zeros(shape, np.int16), np.ones(shape)
    columns = slice(world.successors.shape[1])
    successor[:, columns] = number[world.successors[states]]
    label[:, columns], cost[:, columns] = world.label_index[states], world.costs[states]
    return successor, label, cost


@njit(cache=True, nogil=True, exact=True)
def _nearest_states(successors: NDArray[np.int32], starts: NDArray[np.int32], most: int) -> NDArray[np.int32]:
    """The states nearest to some starts, in the order of their distance in steps; shape [kept].

    All states of a distance are kept or none, as long as these are not more than `most` states in all.
    """
    states, controls = successors.shape
    is_queued = np.zeros(states, np.bool_)
    queue = np.empty(states, np.int32)
    filled = 0
    for start in starts:
        if not is_queued[start]:
            is_queued[start] = True
            queue[filled] = start
            filled += 1
    scanned, kept = 0, filled
    while scanned < filled:
        if scanned == kept:
            if filled > most:
                return queue[:kept].copy()
            kept = filled
        state = queue[scanned]
        scanned += 1
        for u in range(controls):
            after = successors[state, u]
            if after >= 0 and not is_queued[after]:
                is_queued[after] = True
                queue[filled] = after
                filled += 1
    return queue[:filled].copy()


@njit(cache=True, nogil=True, exact=True)
def _highest_costs(successors: NDArray[np.int32], visited: NDArray[np.int32], word: NDArray[np.int32]) -> Floats:
    """The largest number of steps from a state to acceptance that matters to a demonstration; [states].

    Without the loops in which the label stays the same, the demonstration goes on for `left` steps from each of its
    states. Ways of `left` + `SLACK_STEPS` steps matter. A state on such a way is entered after some of these steps.
    """
    states, controls = successors.shape
    steps = len(word)
    left = np.zeros(steps + 1, np.int64)
    for t in range(steps - 1, -1, -1):
        left[t] = 1 + left[t + 1]
        for later in range(t + 1, steps + 1):
            if word[later - 1] != word[t]:
                break
            if visited[later] == visited[t]:
                left[t] = min(left[t], left[later])
    highest = np.zeros(states)
    queue = np.empty(states, np.int32)
    filled = scanned = 0
    for level in range(left.max() + SLACK_STEPS, 0, -1):
        for t in range(steps):
            if left[t] + SLACK_STEPS == level and highest[visited[t]] == 0.0:
                highest[visited[t]] = level
                queue[filled] = visited[t]
                filled += 1
        end = filled
        for i in range(scanned, end if level > 1 else scanned):
            for u in range(controls):
                after = successors[queue[i], u]
                if after >= 0 and highest[after] == 0.0:
                    highest[after] = level - 1
                    queue[filled] = after
                    filled += 1
        scanned = end
    return highest


class _Room(NamedTuple):
    """Arrays that `_fill_evidence` writes; made in Python, because Numba takes seconds to compile what makes them."""

    automaton: ReversibleTable
    V: Floats  # [nodes], and so are the next two
    queue: NDArray[np.int32]
    is_queued: NDArray[np.bool_]
    everywhere: Floats  # inf, [states]
    nodes: NDArray[np.int64]  # [steps]
    accepted: NDArray[np.bool_]  # [scenes]
    weight: Floats  # exp(-gap / eta), [gaps, temperatures]
    total: Floats  # [temperatures], and so are the next three
    follows: Floats
    gap_sum: Floats
    partition: Floats
    ahead: Floats  # [effects]


def fill_evidence(
    table: Table,
    scenes: PackedScenes,
    slipping: SlippingWorlds | None,
    temperatures: Floats,
    needed: float,
    result: Floats,
) -> bool:
    """Fill `result` [scenes, temperatures] with the log evidence of every scene; false if it was given up.

    It is given up as soon as the mean over temperatures of the total evidence must stay below `needed`: a scene that is
    not yet planned counts with what `result` holds for it, which must be a bound from above.
    """
    grid, nodes = len(temperatures), len(table) * scenes.most_states
    total, follows, gap_sum, partition = np.empty((4, grid))
    room = _Room(
        ReversibleTable(table, np.empty(table.size + 2, np.int32), np.empty(table.size, np.int32)),
        np.empty(nodes), np.empty(nodes, np.int32), np.zeros(nodes, np.bool_), np.full(scenes.most_states, np.inf),
        np.empty(len(scenes.visited), np.int64), np.empty(len(scenes.unit), np.bool_), np.empty((TABULATED_GAPS, grid)),
        total, follows, gap_sum, partition, np.empty(scenes.successor.shape[1]),
    )  # fmt: skip
    return bool(_fill_evidence(room, scenes, slipping, temperatures, needed, result))


@njit(cache=True, nogil=True)
def _fill_evidence(
    room: _Room,
    scenes: PackedScenes,
    slipping: SlippingWorlds | None,
    temperatures: Floats,
    needed: float,
    result: Floats,
) -> bool:
    """See `fill_evidence`. Where `slipping` is None, Numba leaves out what is only for worlds that slip."""
    table, total, V = room.automaton.table, room.total, room.V
    count, grid = result.shape
    for k in range(grid):
        total[k] = 0.0
    for i in range(count):
        room.accepted[i] = _reads(table, scenes, i, room.nodes)
        for k in range(grid):
            result[i, k] = result[i, k] if room.accepted[i] else scenes.log_outlier[i]
            total[k] += result[i, k]
    if log_mean(total) < needed:
        return False
    sort_pairs(room.automaton)
    for gap in range(TABULATED_GAPS):
        for k in range(grid):
            room.weight[gap, k] = np.exp(-gap / temperatures[k])
    for i in range(count):
        if not room.accepted[i]:
            continue
        world = _world(scenes, i, table.shape[1])
        if slipping is not None:
            tolerance = EXPECTED_TOLERANCE * temperatures[0]
            starts = room.nodes[scenes.step_first[i] : scenes.step_first[i + 1]]
            expected_table_cost_to_go(
                room.automaton, world, slipping, scenes.state_first[i], starts, slipping.failure[i], tolerance, V
            )
        else:
            highest = scenes.highest[scenes.state_first[i] : scenes.state_first[i + 1]]
            V[:] = np.inf
            search_nodes(room.automaton, world, highest, V, room.queue, room.is_queued)
            if scenes.unit[i] and not _are_reached(V, room.nodes[scenes.step_first[i] : scenes.step_first[i + 1]]):
                # `highest` leaves out loops in which the label stays the same; this automaton needs one
                V[:] = np.inf
                search_nodes(room.automaton, world, room.everywhere, V, room.queue, room.is_queued)
        _fill_log_likelihoods(room, scenes, slipping, i, temperatures)
        for k in range(grid):
            total[k] -= result[i, k]
            high = max(scenes.log_follows + room.follows[k], scenes.log_outlier[i])
            low = min(scenes.log_follows + room.follows[k], scenes.log_outlier[i])
            result[i, k] = high + np.log1p(np.exp(low - high))
            total[k] += result[i, k]
        if log_mean(total) < needed:
            return False
    return True


@inner
def _are_reached(V: Floats, nodes: NDArray[np.int64]) -> bool:
    """Whether the search came to all nodes of a demonstration."""
    highest = 0.0
    for node in nodes:
        highest = max(highest, V[node])
    return highest < np.inf


@inner
def _reads(table: Table, scenes: PackedScenes, i: int, nodes: NDArray[np.int64]) -> bool:
    """Whether the automaton accepts at the end of demonstration i, and not before.

    Fills in the nodes q * states + s through which the demonstration goes.
    """
    end, states = scenes.step_first[i + 1], scenes.state_first[i + 1] - scenes.state_first[i]
    q = 0
    for t in range(scenes.step_first[i], end):
        nodes[t] = q * states + scenes.visited[t]
        q = table[q, scenes.word[t]]
        if q < 0:
            return q == ACCEPTED and t + 1 == end
    return False


@inner
def _world(scenes: PackedScenes, i: int, labels: int) -> PackedWorld:
    """The world of scene i."""
    worlds = scenes.worlds
    return PackedWorld(
        worlds.first[scenes.state_first[i] + i : scenes.state_first[i + 1] + i + 1],
        worlds.source,
        worlds.label,
        worlds.cost,
        worlds.label_first[i * (labels + 1) : (i + 1) * (labels + 1)],
        worlds.label_source,
        worlds.label_cost,
    )


@inner
def _fill_log_likelihoods(
    room: _Room, scenes: PackedScenes, slipping: SlippingWorlds | None, i: int, temperatures: Floats
) -> None:
    """Fill `follows` [temperatures] with sum_t log pi(u_t | s_t) of demonstration i.

    log pi(u_t | s_t) = -(Q(u_t) - min Q) / eta - log sum_u exp(-(Q(u) - min Q) / eta): the gaps are added up, and the
    sums are multiplied before their logarithm is taken.
    """
    table, V, ahead, result = room.automaton.table, room.V, room.ahead, room.follows
    gap_sum, partition = room.gap_sum, room.partition
    grid, effects = len(temperatures), scenes.successor.shape[1]
    states = scenes.state_first[i + 1] - scenes.state_first[i]
    for k in range(grid):
        result[k], gap_sum[k], partition[k] = 0.0, 0.0, 1.0
    for t in range(scenes.step_first[i], scenes.step_first[i + 1]):
        q = room.nodes[t] // states
        for e in range(effects):
            ahead[e] = np.inf
            if scenes.successor[t, e] >= 0:
                after = table[q, scenes.label[t, e]]
                if after == ACCEPTED:
                    ahead[e] = scenes.cost[t, e]
                elif after >= 0:
                    ahead[e] = scenes.cost[t, e] + V[after * states + scenes.successor[t, e]]
        Q = ahead
        if slipping is not None:
            Q = _expected(slipping, i, scenes.state_first[i] + scenes.visited[t], scenes.cost[t], ahead)
        least = np.inf
        for u in range(len(Q)):  # to compile `min` of an array takes half a second
            least = min(least, Q[u])
        for k in range(grid):
            if Q[scenes.control[t]] == np.inf:
                result[k] = -np.inf
                continue
            mass = 0.0
            for u in range(len(Q)):
                gap = Q[u] - least
                if scenes.unit[i] and gap < TABULATED_GAPS:
                    mass += room.weight[int(gap), k]
                elif gap < np.inf:
                    mass += np.exp(-gap / temperatures[k])
            gap_sum[k] += Q[scenes.control[t]] - least
            partition[k] *= mass
            if partition[k] > LARGEST_PARTITION:
                result[k] -= np.log(partition[k])
                partition[k] = 1.0
        if result[0] == -np.inf:
            return
    for k in range(grid):
        result[k] -= gap_sum[k] / temperatures[k] + np.log(partition[k])


@inner
def _expected(slipping: SlippingWorlds, world: int, row: int, costs: Floats, ahead: Floats) -> Floats:
    """Q [controls] in the state of a row of `slipping`, from the cost of each effect and all that follows [effects].

    Q is inf for a control that can only fail.
    """
    controls, first = slipping.lotteries.controls, slipping.lotteries.first
    effect, probability = slipping.lotteries.effect, slipping.lotteries.probability
    Q = np.full(controls, np.inf)
    for u in range(controls):
        lottery = slipping.kind[row] * controls + u
        total, can_succeed = 0.0, False
        for j in range(first[lottery], first[lottery + 1]):
            e = effect[j]
            can_succeed = can_succeed or ahead[e] < np.inf
            total += probability[j] * (ahead[e] if ahead[e] < np.inf else costs[e] + slipping.failure[world])
        if can_succeed:
            Q[u] = total
    return Q


@njit(cache=True, nogil=True)
def log_mean(values: Floats) -> float:
    """log of the mean of exp(values), shape [temperatures]."""
    high, total = -np.inf, 0.0
    for value in values:
        high = max(high, value)
    for value in values:
        total += np.exp(value - high)
    return high + np.log(total / len(values))
