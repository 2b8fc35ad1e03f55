"""Reward machines, in the text format of the code that Toro Icarte et al. published with them.

    0
    [2]
    (0,0,'!key',ConstantRewardFunction(0))
    (0,1,'key&!door',ConstantRewardFunction(0))
    (0,2,'key&door',ConstantRewardFunction(1))

The first line is the initial state, the second the states that end an episode, and then each line is a transition with
its condition in disjunctive normal form and its reward. The reward is 1 where the word so far is accepted and 0
elsewhere; states from which every word is accepted end the episode. Where no condition holds, the task is lost. An
initial state that accepts, to which no edge leads, has a loop with reward 1 that is never taken ('False').
"""

import re

from wfairl.core.automata.automaton import DEAD, Automaton
from wfairl.core.automata.guarded import GuardedAutomaton
from wfairl.core.support.errors import BadInputError
from wfairl.specifications.diagrams import Diagrams, shortest_choices
from wfairl.specifications.ltlf_formula import Formula, parse_formula
from wfairl.specifications.symbolic import SymbolicAutomaton, as_symbolic

PROPOSITION_NAME = r"[^\s&|!'\"\\(),]+"
"""Names that the format can hold: it knows no quotes around them."""


def to_reward_machine(automaton: Automaton) -> str:
    """The automaton as a reward machine, with the states that it has."""
    for name in sorted(automaton.propositions):
        if not re.fullmatch(PROPOSITION_NAME, name) or name in ("True", "False"):
            raise BadInputError(f"a reward machine cannot hold the proposition {name!r}; export it as hoa")
    whole = as_symbolic(automaton)
    final = [q for q, row in enumerate(whole.rows) if whole.accepting[q] and row == whole.diagrams.leaf(q)]
    edges = []
    for source, row in enumerate(whole.rows):
        if source not in final:
            targets = sorted(whole.successors(source) - {DEAD})
            edges += [(source, to, _condition(whole, row, to), int(whole.accepting[to])) for to in targets]
    entered = {to for _, to, _, _ in edges}
    edges += [(q, q, "False", 1) for q in (0,) if whole.accepting[q] and q not in entered]
    lines = [f"({u},{v},'{condition}',ConstantRewardFunction({reward}))" for u, v, condition, reward in edges]
    return "\n".join(["0", str(final), *lines, ""])


def _condition(automaton: SymbolicAutomaton, row: int, target: int) -> str:
    """The labels that lead to a target, in disjunctive normal form."""
    cases = automaton.diagrams.cases(automaton.diagrams.map(lambda after: int(after == target), row))
    return "|".join("&".join(guard.literals) or "True" for guard, _ in shortest_choices([*cases], 0, 0))


TRANSITION_LINE = re.compile(
    r"\(\s*(\d{1,9})\s*,\s*(\d{1,9})\s*,\s*'([^']*)'\s*,\s*ConstantRewardFunction\(\s*(\S+?)\s*\)\s*\)"
)


def from_reward_machine(text: str) -> GuardedAutomaton:
    """Read a machine whose reward tells whether the word so far is accepted, and minimise it."""
    lines = [line for line in (line.partition("#")[0].strip() for line in text.splitlines()) if line]
    if len(lines) < 2 or not lines[0].isdecimal() or not re.fullmatch(r"\[[\d\s,]*\]", lines[1]):
        raise BadInputError("no reward machine: its first lines are not an initial state and [final states]")
    start, final = int(lines[0]), {int(number) for number in re.findall(r"\d+", lines[1])}
    edges = [_edge(line) for line in lines[2:]]
    edges = [edge for edge in edges if edge[0] not in final or edge[0] == edge[1]]
    rewards: dict[int, set[bool]] = {}
    for _, target, _, rewarded in edges:
        rewards.setdefault(target, set()).add(rewarded)
    mixed = [state for state, some in rewards.items() if len(some) > 1]
    if mixed:
        raise BadInputError(
            f"state {mixed[0]} is entered with a reward and without: that rewards a transition, not a word"
        )
    order = sorted({start, *final, *(q for edge in edges for q in edge[:2])}, key=lambda q: (q != start, q))
    if len(order) > 10_000:
        raise BadInputError("the reward machine has more than 10,000 states")
    number = {state: i for i, state in enumerate(order)}
    diagrams = Diagrams(sorted(frozenset().union(*(condition.propositions for _, _, condition, _ in edges))))
    conditions = [diagrams.of_condition(condition, diagrams.literal) for _, _, condition, _ in edges]
    rows = []
    for state in order:
        own = [(taken, number[edge[1]]) for taken, edge in zip(conditions, edges, strict=True) if edge[0] == state]
        rows.append(diagrams.leaf(number[state]) if state in final else diagrams.of_conditions(own, state))
    accepting = tuple(True in rewards.get(state, ()) for state in order)
    return SymbolicAutomaton(diagrams, tuple(rows), accepting).to_guarded()


def _edge(line: str) -> tuple[int, int, Formula, bool]:
    """Source, target, condition and whether it is rewarded."""
    match = TRANSITION_LINE.fullmatch(line)
    try:
        reward = float(match[4]) if match else 0.0
    except ValueError:
        match = None
    if match is None:
        raise BadInputError(f"{line[:60]!r}: not a transition with a constant reward of a reward machine")
    if reward < 0:
        raise BadInputError(f"{line[:60]!r}: a reward below zero says more than that a word is accepted")
    return int(match[1]), int(match[2]), _formula(match[3]), reward > 0


def _formula(condition: str) -> Formula:
    constants = {"True": "true", "False": "false"}
    quoted = re.sub(PROPOSITION_NAME, lambda name: constants.get(name[0], f'"{name[0]}"'), condition)
    try:
        return parse_formula(quoted)
    except BadInputError as error:
        raise BadInputError(f"the condition '{condition[:60]}' cannot be read ({error})") from None
