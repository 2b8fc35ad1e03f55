"""The slow and obvious versions of what the automata room computes; they share no code with it."""

from functools import reduce
from itertools import combinations, groupby

import numpy as np
from scipy.sparse import csr_array

from wfairl.core.automata.weighted import WeightedAutomaton
from wfairl.core.spectral.hankel import HankelBlocks


def product_of_matrices(automaton, word):
    """alpha_0^T W_{sigma_0} ... W_{sigma_T} beta, one number at a time."""
    state = [float(weight) for weight in automaton.initial]
    for label in word:
        if label not in automaton.alphabet:
            return 0.0
        matrix = automaton.transitions[automaton.alphabet.index(label)]
        state = [sum(state[i] * float(matrix[i, j]) for i in range(len(state))) for j in range(len(state))]
    return sum(weight * float(final) for weight, final in zip(state, automaton.final, strict=True))


def without_repeats(word):
    return tuple(label for label, _ in groupby(word))


def fulfils_rule(word, visit, avoid):
    """Whether some prefix of the word fulfils the rule, with nothing avoided up to its end.

    What follows itself has to end before it is visited again.
    """
    waiting, held = list(visit), None
    if not waiting:
        return True
    for label in word:
        if label & set(avoid):
            return False
        if held not in label:
            held = None
        while waiting and waiting[0] in label and waiting[0] != held:
            last = waiting.pop(0)
            held = last if waiting and waiting[0] == last else None
        if not waiting:
            return True
    return False


def visits_all(word, visit):
    return set(visit) <= set().union(*word)


def avoids(word, avoided):
    return not any(name in label for label in word for name in avoided)


def has_before(word, first, second):
    """No label shows `second` before `first` was shown, or is shown with it."""
    firsts = [i for i, label in enumerate(word) if first in label]
    seconds = [i for i, label in enumerate(word) if second in label]
    return not seconds or (bool(firsts) and firsts[0] <= seconds[0])


def fulfilled_positions(automaton, word):
    """The lengths of the prefixes that are accepted, shortest first."""
    return [length for length in range(len(word) + 1) if automaton.accepts(word[:length])]


def all_labels(propositions):
    """Every set of the propositions, smallest first."""
    return [frozenset(some) for size in range(len(propositions) + 1) for some in combinations(propositions, size)]


def accepted_words(automaton, labels, longest):
    """For each length up to `longest`, whether each word of that length is accepted; all of them, in one order."""
    columns = [np.append(automaton.column(label), -1) for label in labels]  # the last entry is that of DEAD
    accepting = np.append(automaton.accepting, False)
    states = np.array([0], np.int32)
    yield accepting[states]
    for _ in range(longest):
        states = np.concatenate([column[states] for column in columns])
        yield accepting[states]


def accept_the_same(one, other, propositions, longest):
    """Whether two automata agree on all words over all labels, up to a length."""
    labels = all_labels(propositions)
    pairs = zip(accepted_words(one, labels, longest), accepted_words(other, labels, longest), strict=True)
    return all((a == b).all() for a, b in pairs)


def holds(formula, word, position=0):
    """The definition of LTLf over finite words, one operator at a time."""
    later = range(position, len(word))
    match formula.operator, *formula.operands:
        case ["true"]:
            return True
        case ["false"]:
            return False
        case ["proposition"]:
            return position < len(word) and formula.name in word[position]
        case ["!", one]:
            return not holds(one, word, position)
        case ["&", *parts]:
            return all(holds(one, word, position) for one in parts)
        case ["|", *parts]:
            return any(holds(one, word, position) for one in parts)
        case ["X[!]", one]:
            return position + 1 < len(word) and holds(one, word, position + 1)
        case ["WX", one]:
            return position + 1 >= len(word) or holds(one, word, position + 1)
        case ["F", one]:
            return any(holds(one, word, i) for i in later)
        case ["G", one]:
            return all(holds(one, word, i) for i in later)
        case ["U", one, other]:
            return any(holds(other, word, j) and all(holds(one, word, i) for i in range(position, j)) for j in later)
        case ["W", one, other]:
            until = any(holds(other, word, j) and all(holds(one, word, i) for i in range(position, j)) for j in later)
            return until or all(holds(one, word, i) for i in later)
        case ["R", one, other]:
            return all(holds(other, word, j) or any(holds(one, word, i) for i in range(position, j)) for j in later)
        case ["M", one, other]:
            released = [j for j in later if holds(one, word, j)]
            return bool(released) and all(holds(other, word, i) for i in range(position, released[0] + 1))
    raise ValueError(formula)


def exact_blocks(automaton, prefixes, suffixes):
    """The Hankel blocks of an automaton's own values: (alpha_0^T W_u) W_sigma (W_v beta)."""

    def product(word):
        matrices = [automaton.transitions[automaton.alphabet.index(label)] for label in word]
        return reduce(np.matmul, matrices, np.eye(len(automaton.initial)))

    before = np.array([automaton.initial @ product(prefix) for prefix in prefixes])
    after = np.array([product(suffix) @ automaton.final for suffix in suffixes]).T
    label_blocks = tuple(csr_array(before @ matrix @ after) for matrix in automaton.transitions)
    return HankelBlocks(csr_array(before @ after), label_blocks, max(map(len, prefixes)), max(map(len, suffixes)))


def change_basis(automaton, basis):
    """The same function with states alpha^T B for an invertible B, shape [m, m]."""
    final, transitions = (np.linalg.solve(basis, one) for one in (automaton.final, automaton.transitions @ basis))
    return WeightedAutomaton(automaton.alphabet, automaton.initial @ basis, final, transitions)
