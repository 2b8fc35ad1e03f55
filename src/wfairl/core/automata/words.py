"""Words over labels, as automata read them and as people do."""

from collections.abc import Iterable, Sequence
from itertools import groupby, islice
from operator import eq

from wfairl.core.automata.automaton import Label, as_label
from wfairl.core.support.errors import BadInputError

Word = tuple[Label, ...]

EMPTY_LABEL_TEXT = "-"
"""The text of the label without propositions."""


class BadWordsError(BadInputError):
    """The words or scores cannot be learned from."""


def compress(word: Sequence[Label]) -> Word:
    """The word with consecutive equal labels taken once."""
    if not any(map(eq, word, islice(word, 1, None))):
        return tuple(word)
    return tuple(label for label, _ in groupby(word))


def as_word(labels: Iterable[Label | str]) -> Word:
    """The word of some labels; a string is the label with that one proposition.

    Raises:
        BadWordsError: a string instead of a list of labels.
    """
    if isinstance(labels, str):
        raise BadWordsError(f"a word is a list of labels, such as [{labels!r}], not the string {labels!r}")
    return tuple([one if isinstance(one, frozenset) else as_label(one) for one in labels])


def as_read(words: Iterable[Iterable[Label | str]], keep_repeats: bool) -> list[Word]:
    """The words as an automaton reads them: compressed unless repeated labels mean something."""
    return [as_word(word) if keep_repeats else compress(as_word(word)) for word in words]


def with_optional_start(words: Sequence[Word], scores: Sequence[float]) -> tuple[list[Word], list[float]]:
    """The words, and each also in its other form, with or without an empty label at its beginning.

    An episode begins with the empty label unless its very first control changes the label, which depends on where the
    agent starts, not on the task. A form that is among the words already keeps its own scores.
    """
    nothing: Label = frozenset()
    given = set(words)
    others = [word[1:] if word and word[0] == nothing else (nothing, *word) for word in words]
    added = [(other, score) for other, score in zip(others, scores, strict=True) if other not in given]
    return [*words, *(other for other, _ in added)], [*scores, *(score for _, score in added)]


def format_label(label: Label) -> str:
    """A label as text: `door & key`, or `-` where nothing holds."""
    return " & ".join(sorted(label)) if label else EMPTY_LABEL_TEXT


def format_word(word: Sequence[Label]) -> str:
    """A word as text: `-, key, door & key`."""
    return ", ".join(format_label(label) for label in word) if word else "(the empty word)"


def sort_labels(labels: Iterable[Label]) -> tuple[Label, ...]:
    """The distinct labels in the one order that alphabets have: by size, then by name."""
    return tuple(sorted(set(labels), key=lambda label: (len(label), sorted(label))))
