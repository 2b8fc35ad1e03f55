"""Laws of words."""

from hypothesis import given
from hypothesis import strategies as st
from oracles_automata import without_repeats
from strategies_automata import words

from wfairl.core.automata.words import compress, format_label, format_word, with_optional_start


@given(words)
def test_compression_takes_runs_once(word):
    assert compress(word) == without_repeats(word)


@given(words)
def test_compression_is_idempotent(word):
    assert compress(compress(word)) == compress(word)


def test_labels_and_words_are_readable():
    assert format_label(frozenset({"key", "door"})) == "door & key"
    assert format_label(frozenset()) == "-"
    assert format_word((frozenset(), frozenset({"key"}))) == "-, key"


@given(st.lists(st.tuples(words, st.floats(0, 1)), max_size=6))
def test_an_optional_start_adds_the_other_form_of_every_word_and_changes_no_score(scored):
    given_words, scores = [word for word, _ in scored], [score for _, score in scored]
    closed, all_scores = with_optional_start(given_words, scores)
    assert (closed[: len(scored)], all_scores[: len(scored)]) == (given_words, scores)
    for word, score in zip(given_words, scores, strict=True):
        other = word[1:] if word[:1] == (frozenset(),) else (frozenset(), *word)
        assert other in given_words or (other, score) in list(zip(closed, all_scores, strict=True))[len(scored) :]
    assert set(closed[len(scored) :]).isdisjoint(given_words)
