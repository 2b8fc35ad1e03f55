"""The slow and obvious versions of what the automata room computes; they share no code with it."""

from itertools import groupby


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
    """Whether some prefix of the word fulfils the rule, with nothing avoided up to its end."""
    waiting = list(visit)
    if not waiting:
        return True
    for label in word:
        if label & set(avoid):
            return False
        while waiting and waiting[0] in label:
            waiting.pop(0)
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


def statistic_of(sample, statistic, word):
    """The word, prefix, suffix or factor statistic of a word in a sample, by counting."""
    total = 0
    for seen in sample:
        n, k = len(seen), len(word)
        if statistic == "word":
            total += seen == word
        elif statistic == "prefix":
            total += seen[:k] == word
        elif statistic == "suffix":
            total += k <= n and seen[n - k :] == word
        else:
            total += sum(seen[i : i + k] == word for i in range(n - k + 1))
    return total / len(sample)
