"""What each constraint says, one label at a time; nothing here is shared with what it checks."""

from itertools import pairwise


def keeps(name, propositions, word):
    """Whether a word keeps a constraint, by the words of its definition."""
    a, b = propositions[0], propositions[-1]
    has_a = [place for place, label in enumerate(word) if a in label]
    has_b = [place for place, label in enumerate(word) if b in label]
    match name:
        case "existence":
            return any(a in label for label in word)
        case "absence":
            return not any(a in label for label in word)
        case "precedence":
            return all(any(a in label for label in word[: place + 1]) for place in has_b)
        case "response":
            return all(any(b in label for label in word[place:]) for place in has_a)
        case "responded existence":
            return not has_a or bool(has_b)
        case "order":
            return not any(a in label for place in has_b for label in word[place:])
        case "not co-existence":
            return not (has_a and has_b)
        case "choice":
            return bool(has_a or has_b)
        case "init":
            return bool(word) and a in word[0]
        case "end":
            return bool(word) and a in word[-1]
        case "at most once":
            return len(has_a) in (0, 1)
        case "exactly once":
            return len(has_a) == 1
        case "not chain succession":
            return not any(a in one and b in other for one, other in pairwise(word))
        case "equally often":
            return len(has_a) == len(has_b)
    raise AssertionError(name)


def accepts(table, symbols):
    """Whether a complete table accepts the word of these symbols."""
    state = 0
    for symbol in symbols:
        state = table.transitions[state, symbol]
    return bool(table.accepting[state])


def same_language(left, right):
    """Whether two tables accept the same words: no pair of states that one word leads to tells them apart."""
    pairs = [(0, 0)]
    for i, j in pairs:  # it grows meanwhile
        pairs += set(zip(left.transitions[i], right.transitions[j], strict=True)) - set(pairs)
    return all(left.accepting[i] == right.accepting[j] for i, j in pairs)
