"""PRISM: the product of a world and a task as a model that PRISM, Storm and their kin check.

    R{"cost"}min=? [F "accepted"]     what the best plan costs

The variable `s` is the node of the product, `q` the automaton state, and each control an action of its name. The task
ends in the state `accepted`; transitions that lose it lead to `lost`.

Where the world slips, an action is a lottery, and its reward the expected cost. All nodes from which acceptance cannot
be reached are then `lost`, controls that can only fail are left out, and `lost` costs the price of a failure:

    Pmax=? [F "accepted"]             the greatest probability of success
    R{"cost"}min=? [F "ended"]        what the best policy is expected to cost, with the price of its failures
"""

import re
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED, DEAD, UNAVAILABLE
from wfairl.core.planning.product import Product
from wfairl.core.worlds.chances import Chances

KEYWORDS = (
    "A bool clock const ctmc C double dtmc E endinit endinvariant endmodule endobservables endrewards endsystem false"
    " formula filter func F global G init invariant I int label max mdp min module X nondeterministic observable"
    " observables of Pmax Pmin P pomdp popta probabilistic prob pta rate rewards Rmax Rmin R S stochastic system true"
    " U W s q"
)
"""Words that cannot name an action."""


def to_prism(product: Product, costs: NDArray[np.float64], title: str) -> str:
    """The product as a Markov decision process, without chance unless the world slips.

    Args:
        product: of a world and a task.
        costs: of each transition, shape [nodes, effects]; the effects are the controls unless the world slips.
        title: what it is, for its first line.
    """
    accepted, lost = len(product), len(product) + 1
    actions = _actions(product.world.controls)
    names = [name for name, _ in actions]
    start, last, ended = 0, lost, list[str]()
    if product.chances is None:
        best = 'the cheapest way to fulfil the task costs R{"cost"}min=? [F "accepted"]'
        commands = [*_commands(product, names, accepted, lost), f"  [] s>={accepted} -> true;"]
        rewards = [*_rewards(product.available, costs, names)]
    else:
        last, best = lost + 1, 'the best policy costs R{"cost"}min=? [F "ended"], with the price of its failures'
        solution, ended = product.cost_to_go(costs), [f'label "ended" = s={lost + 1};']
        start = 0 if np.isfinite(solution.cost_to_go[0]) else lost
        taken, expected = np.isfinite(solution.control_cost_to_go), _expected(product.chances, costs)
        commands = [*_lotteries(product, product.chances, taken, names), f"  [] s>={accepted} -> (s'={lost + 1});"]
        rewards = [*_rewards(taken, expected, names), f"  [] s={lost} : {solution.failure!r};"]
    lines = [
        f"// {title.encode('ascii', 'replace').decode()!a}: nodes 0 to {accepted - 1}, written by wfairl",
        f"// {best}",
        *(f"// the action {name} is the control {control!a}" for name, control in actions if name != control),
        "mdp",
        "",
        "module task",
        f"  s : [0..{last}] init {start};",
        f"  q : [{DEAD}..{product.automaton.states - 1}] init {product.automaton_states[0]};",
        *commands,
        "endmodule",
        "",
        f'label "accepted" = s={accepted};',
        f'label "lost" = s={lost};',
        *ended,
        "",
        'rewards "cost"',
        *rewards,
        "endrewards",
        "",
    ]
    return "\n".join(lines)


def _actions(controls: Sequence[str]) -> list[tuple[str, str]]:
    """A name that is valid in PRISM for each control, and the control."""
    readable = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
    taken = set(controls)
    named = []
    for i, control in enumerate(controls):
        name = control if readable.fullmatch(control) and control not in KEYWORDS.split() else f"control_{i}"
        while name != control and name in taken:
            name += "_"
        taken.add(name)
        named.append((name, control))
    return named


def _commands(product: Product, actions: Sequence[str], accepted: int, lost: int) -> Iterator[str]:
    """The effect of each control at each node; where it does nothing but at a few, one command covers the others."""
    idle = product.successors == np.arange(len(product))[:, None]
    for control, action in enumerate(actions):
        others = np.flatnonzero(~idle[:, control])
        if len(others) < min(len(product) / 2, 300):
            yield f"  [{action}] s<{accepted}{''.join(f' & s!={node}' for node in others)} -> true;"
        else:
            others = np.arange(len(product))
        for node in others.tolist():
            after = int(product.successors[node, control])
            if after != UNAVAILABLE:
                state = int(product.automaton_states[node])
                target = {ACCEPTED: accepted, DEAD: lost}.get(after, after)
                next_state = product.automaton.read(state, product.label(node, control))
                update = f" & (q'={next_state})" if next_state != state else ""
                yield f"  [{action}] s={node} -> (s'={target}){update};"


def _lotteries(product: Product, chances: Chances, taken: NDArray[np.bool_], actions: Sequence[str]) -> Iterator[str]:
    """The outcomes of each control at each node at which it may be taken."""
    accepted, hopeful = len(product), {node for node, _ in np.argwhere(taken).tolist()}
    for node, control in np.argwhere(taken).tolist():
        outcomes: dict[str, float] = {}
        for effect, probability in chances.lottery(node, control):
            after, state = int(product.successors[node, effect]), int(product.automaton_states[node])
            target = accepted if after == ACCEPTED else after if after in hopeful else accepted + 1
            next_state = product.automaton.read(state, product.label(node, effect))
            update = f"(s'={target})" + (f" & (q'={next_state})" if next_state != state else "")
            outcomes[update] = outcomes.get(update, 0.0) + probability
        chosen = " + ".join(f"{probability!r}:{update}" for update, probability in outcomes.items())
        yield f"  [{actions[control]}] s={node} -> {chosen};"


def _expected(chances: Chances, costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """The expected cost of each control at each node, shape [nodes, controls], without the noise of its last digits."""
    return (chances.dense(costs.shape[1])[chances.kind] @ costs[:, :, None])[:, :, 0].round(12)


def _rewards(taken: NDArray[np.bool_], costs: NDArray[np.float64], actions: Sequence[str]) -> Iterator[str]:
    """The cost of each action: one line where it is the same everywhere."""
    for control, action in enumerate(actions):
        nodes = np.flatnonzero(taken[:, control])
        there = costs[nodes, control]
        if len(nodes) and (there == there[0]).all():
            yield f"  [{action}] true : {float(there[0])!r};"
        else:
            yield from (f"  [{action}] s={node} : {float(cost)!r};" for node, cost in zip(nodes, there, strict=True))
