from hypothesis import given
from hypothesis import strategies as st

from wfairl.core.automata.words import compress
from wfairl.core.rational.demonstrated_words import following_words

LABELS = tuple(frozenset(name) for name in ("", "a", "b", "ab"))
words = st.lists(st.lists(st.sampled_from(LABELS), min_size=1, max_size=5), min_size=1, max_size=4)
paths = st.lists(st.sampled_from((*LABELS, frozenset("c"))), min_size=1, max_size=9)


def both_forms(shown):
    """The compressed words, each with and without an empty label at its beginning."""
    found = {compress(word) for word in shown}
    return found | {word[1:] if not word[0] else (frozenset(), *word) for word in found}


def is_within(word, path):
    """Whether the labels of a word occur in a path, in their order."""
    left = iter(path)
    return all(label in left for label in word)


@given(words)
def test_what_was_demonstrated_is_accepted(shown):
    followed = following_words(shown)
    for word in shown:
        path = [label for label in word for _ in range(2)]
        assert followed.fulfilled_at((frozenset(), *path)) is not None


@given(words, paths)
def test_only_what_has_a_demonstrated_word_in_it_is_accepted(shown, path):
    known = [label for word in shown for label in word]
    if following_words(shown).accepts(path) and all(label in known for label in path):
        assert any(is_within(word, path) for word in both_forms(shown))
