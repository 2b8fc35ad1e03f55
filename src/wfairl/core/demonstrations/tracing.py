"""A demonstration traced through the product of its world."""

from collections.abc import Iterator

from wfairl.core.automata.automaton import UNAVAILABLE
from wfairl.core.demonstrations.demonstration import ContradictionError, Demonstration
from wfairl.core.planning.product import Transitions


def trace(demonstration: Demonstration, product: Transitions) -> Iterator[tuple[int, int, int]]:
    """The steps of a demonstration, each as its number, the product state before it and the successor.

    It ends with the first successor that is no product state: where the automaton accepts, or can no longer.

    Raises:
        ContradictionError: the world gives other labels than the demonstration has, or cannot follow it.
    """
    world, node = product.world, 0
    for step, (control, label) in enumerate(zip(demonstration.controls, demonstration.labels, strict=True)):
        where = f"seed {demonstration.seed}: step {step}"
        if control >= len(world.controls):
            raise ContradictionError(f"{where}: the world has only {len(world.controls)} controls")
        after = int(product.successors[node, control])
        if after == UNAVAILABLE:
            raise ContradictionError(f"{where}: the control {world.controls[control]!r} is not available there")
        if product.labels[product.label_index[node, control]] != label:
            raise ContradictionError.of_label(demonstration.seed, step)
        yield step, node, after
        if after < 0:
            return
        node = after
