"""Worlds in plain Python explored once into arrays, in which planning runs at compiled speed."""

from typing import Any

import numpy as np

from wfairl.core.automata.automaton import UNAVAILABLE
from wfairl.core.support.errors import WfairlError, one_line
from wfairl.core.worlds.compiled import LabelNumbers, check_node_limit
from wfairl.core.worlds.graph import DEFAULT_MAX_STATES, GraphWorld
from wfairl.core.worlds.transitions import FeatureNumbers, TransitionTable
from wfairl.core.worlds.world import BrokenLawError, World, check_world

CHECKED_STATES = 100
"""States on which the laws of a world in plain Python are tested before it is explored."""


def explore_world(world: World[Any], max_states: int = DEFAULT_MAX_STATES) -> GraphWorld:
    """Explore a world in plain Python, breadth first, into arrays; its laws are tested on the first states.

    Raises:
        BrokenLawError: the world breaks a law of the contract.
        TooManyNodesError: there are more than `max_states` states.
    """
    check_world(world, CHECKED_STATES)
    controls = range(len(world.controls))
    number = {world.initial_state: 0}
    queue = [world.initial_state]
    successors: list[int] = []
    label_index: list[int] = []
    feature_index: list[int] = []
    labels, features = LabelNumbers(), FeatureNumbers()
    is_available = getattr(world, "is_available", None)
    state, control = world.initial_state, 0
    try:
        for state in queue:  # which grows meanwhile
            for control in controls:
                if is_available is not None and not is_available(state, control):
                    successors.append(UNAVAILABLE)
                    label_index.append(0)
                    feature_index.append(0)
                    continue
                next_state = world.step(state, control)
                after = number.setdefault(next_state, len(queue))
                if after == len(queue):
                    queue.append(next_state)
                successors.append(after)
                label_index.append(labels.number(world.label(state, control, next_state)))
                feature_index.append(features.number(world.features(state, control, next_state)))
            check_node_limit(len(queue), max_states)
    except WfairlError:
        raise
    except Exception as error:
        where = f"at state {state!r} under control {world.controls[control]!r}"
        raise BrokenLawError(f"totality: exploring fails {where} ({one_line(error)})") from error
    lengths = sorted({row.size for row in features.rows})
    if len(lengths) > 1:
        raise BrokenLawError(
            f"features: they must have the same length everywhere, not both {lengths[0]} and {lengths[1]}"
        )
    shape = (len(queue), len(world.controls))
    table = TransitionTable(
        controls=tuple(world.controls),
        successors=np.array(successors, np.int32).reshape(shape),
        label_index=np.array(label_index, np.uint16).reshape(shape),
        labels=tuple(labels.labels),
        feature_index=np.array(feature_index, np.int32).reshape(shape),
        features=np.array(features.rows, np.float64).reshape(len(features.rows), -1),
        feature_names=tuple(getattr(world, "feature_names", ())),
        states=tuple(queue),
    )
    return GraphWorld(table, tuple(world.propositions), source=world)
