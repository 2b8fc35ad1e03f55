"""Laws of files of words."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies_automata import words

from wfairl.core.automata.words import format_word
from wfairl.core.support.errors import BadInputError
from wfairl.events.scored_words import ScoredWords, parse_word, read_jsonl


@given(words)
def test_a_word_is_read_as_it_is_printed_and_as_json(word):
    assert parse_word(format_word(word) if word else "") == word
    assert parse_word(json.dumps([sorted(label) for label in word])) == word


@given(st.lists(st.tuples(words, st.floats(-1e9, 1e9)), min_size=1, max_size=5))
def test_jsonl_gives_back_what_was_written(tmp_path_factory, scored):
    path = tmp_path_factory.mktemp("jsonl") / "words.jsonl"
    documents = [{"word": [sorted(label) for label in word], "score": score} for word, score in scored]
    path.write_text("\n".join(map(json.dumps, documents)))
    assert read_jsonl(path) == ScoredWords(*zip(*scored, strict=True))


def test_words_without_scores_are_read(tmp_path):
    (tmp_path / "words.jsonl").write_text('{"word": [["a"]]}\n{"word": []}\n')
    assert read_jsonl(tmp_path / "words.jsonl") == ScoredWords(((frozenset({"a"}),), ()), None)


def test_a_bare_string_is_a_label_with_one_proposition(tmp_path):
    path = tmp_path / "words.jsonl"
    path.write_text('{"word": ["a", ["a", "b"], []], "score": 1}\n\n')
    assert read_jsonl(path).words == ((frozenset({"a"}), frozenset({"a", "b"}), frozenset()),)


GOOD = json.dumps({"word": ["a"], "score": 1})


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not JSON"),
        ("[1]", 'field "word"'),
        ('{"score": 1}', 'field "word"'),
        ('{"word": "a", "score": 1}', "not a list"),
        ('{"word": [1], "score": 1}', "neither a string"),
        ('{"word": [["a", 2]], "score": 1}', "neither a string"),
        ('{"word": [{"a": 1}], "score": 1}', "neither a string"),
        ('{"word": [[["a"]]], "score": 1}', "neither a string"),
        ('{"word": ["a"], "score": "high"}', "not a finite number"),
        ('{"word": ["a"], "score": NaN}', "not a finite number"),
        ('{"word": ["a"], "score": true}', "not a finite number"),
        ('{"word": ["a"], "score": 1e999}', "not a finite number"),
        ('{"word": ["a"], "score": 1e300}', "at most 1e+09"),
        ('{"word": ["a"]}', "some lines have a score"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_a_malformed_line_is_named_by_its_number(tmp_path, line, reason):
    path = tmp_path / "words.jsonl"
    path.write_text(f"{GOOD}\n{line}\n")
    with pytest.raises(BadInputError, match=r"words\.jsonl: line 2: ") as caught:
        read_jsonl(path)
    assert reason in str(caught.value)


def test_equal_labels_and_words_of_a_file_are_kept_once(tmp_path):
    path = tmp_path / "words.jsonl"
    path.write_text('{"word": [["a"], ["b"]]}\n{"word": [["b"]]}\n{"word": [["a"], ["b"]]}\n')
    first, second, third = read_jsonl(path).words
    assert first is third
    assert first[1] is second[0]


def test_an_empty_file_is_an_error_that_shows_a_line(tmp_path):
    (tmp_path / "words.jsonl").write_text("\n")
    with pytest.raises(BadInputError, match="no words"):
        read_jsonl(tmp_path / "words.jsonl")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(BadInputError, match=r"absent\.jsonl: no such file"):
        read_jsonl(tmp_path / "absent.jsonl")
