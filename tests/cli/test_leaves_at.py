"""Where a plan leaves what was demonstrated."""

from hypothesis import given
from hypothesis import strategies as st

from wfairl.cli.plan import leaves_at
from wfairl.core.automata.words import compress

LABELS = tuple(frozenset(name) for name in ("", "a", "b", "ab"))
words = st.lists(st.lists(st.sampled_from(LABELS), min_size=1, max_size=5), min_size=1, max_size=4)
paths = st.lists(st.sampled_from((*LABELS, frozenset("c"))), min_size=1, max_size=9)


def both_forms(shown):
    """The compressed words, each with and without an empty label at its beginning."""
    found = {compress(word) for word in shown}
    return found | {word[1:] if not word[0] else (frozenset(), *word) for word in found}


@given(words)
def test_a_demonstrated_word_is_never_left(shown):
    for word in shown:
        assert leaves_at(shown, [label for label in word for _ in range(2)]) is None


@given(words, paths)
def test_a_path_leaves_at_the_first_step_that_begins_no_demonstrated_word(shown, path):
    begins = [
        any(word[: len(start)] == start for word in both_forms(shown))
        for start in (compress(path[:step]) for step in range(1, len(path) + 1))
    ]
    expected = begins.index(False) + 1 if False in begins else None
    assert leaves_at(shown, path) == expected
