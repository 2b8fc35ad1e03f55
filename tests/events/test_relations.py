"""Relations of a log are what a person counts, and cases are blamed as a person would."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wfairl.core.automata.word_corpus import encode_all
from wfairl.core.automata.words import as_word
from wfairl.core.support.documents import parse_fields, plain_fields
from wfairl.core.support.errors import BadInputError
from wfairl.events.relations import MOST_COUNTED, RARE, Relations

words = st.lists(st.sampled_from("abcd"), max_size=7).map(tuple)
logs = st.lists(words, min_size=1, max_size=8).filter(lambda some: any(some))


def relations_of(some):
    return Relations.of(*encode_all([as_word(word) for word in some]))


def outcomes(word, names):
    """Every relation of a word: its kind and names, what it is counted among, and whether it holds."""
    for place, a in enumerate(word):
        before, after = word[:place], word[place + 1 :]
        since = before[len(before) - before[::-1].index(a) :] if a in before else before
        until = after[: after.index(a)] if a in after else after
        for b in names:
            if b != a:
                for kind, part in enumerate((before, since, after, until)):
                    yield (kind, a, b), ("event", a), b in part
    for a in set(word):
        for b in names:
            if b != a:
                yield ("together", a, b), ("case with", a), b in word
    counts = Counter(word)
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            yield ("equal", a, b), ("case",), counts[a] == counts[b]


def reference(log, word):
    """The deviation of a word, from its definition."""
    names = sorted({event for one in log for event in one})
    held, totals = Counter(), Counter()
    for one in log:
        totals["case",] += 1
        totals.update(("event", a) for a in one)
        totals.update(("case with", a) for a in set(one))
        held.update(key for key, _, holds in outcomes(one, names) if holds)
    numbers = Counter((a, one.count(a)) for one in log for a in names)
    follows = Counter(pair for one in log for pair in pairwise(("begin", *one, "end")))
    leaving = Counter()
    for (a, _), times in follows.items():
        leaving[a] += times

    def surprise(count, total):
        return -math.log((count + 0.5) / (total + 1)) if total and count <= RARE * total else 0.0

    known = tuple(event for event in word if event in names)
    weights = Counter()
    for key, among, holds in outcomes(known, names):
        count = held[key] if holds else totals[among] - held[key]
        weights[key[1], key[2]] += surprise(count, totals[among])
    for a in names:
        weights[a, a] += surprise(numbers[a, known.count(a)], len(log))
    for pair in pairwise(("begin", *known, "end")):
        weights[pair] += surprise(follows[pair], leaving[pair[0]])
    result = 0.0
    while True:
        shares = {a: sum(w for pair, w in weights.items() if a in pair) for a in names}
        blamed = max(shares, key=lambda name: round(shares[name], 9))
        if shares[blamed] <= 1e-9:
            return result
        result += math.sqrt(shares[blamed])
        weights = Counter({pair: w for pair, w in weights.items() if blamed not in pair})


@given(logs, words)
@settings(max_examples=60, deadline=None)
def test_deviations_are_those_of_the_definition(log, word):
    log = log * 60  # so that what one word alone does is rare
    found = relations_of(log + [word] * (word != ())).deviations([as_word(word)])
    assert found[0] == pytest.approx(reference(log + [word] * (word != ()), word), rel=1e-6, abs=1e-6)
    odd = (*word, "unknown")
    assert relations_of(log).deviations([as_word(odd)])[0] == pytest.approx(reference(log, odd), rel=1e-6)


@given(logs)
@settings(max_examples=20, deadline=None)
def test_relations_come_back_from_a_document(log):
    counted = relations_of(log)
    again = parse_fields(Relations, plain_fields(counted))
    for name in ("occurrences", "places", "together", "equal", "often", "follows"):
        assert np.array_equal(getattr(again, name), getattr(counted, name))
    for broken in ({"equal": [[1]] * 9}, {"follows": [[-1] * len(row) for row in counted.follows.tolist()]}):
        with pytest.raises(BadInputError):
            parse_fields(Relations, plain_fields(counted) | broken)


def test_reasons_name_what_is_missing_doubled_and_out_of_order():
    counted = relations_of([("order", "pay", "ship")] * 200)
    assert counted.reasons(as_word(("order", "pay", "ship"))) == []
    assert counted.reasons(as_word(("order", "pay")))[0] == "no ship"
    assert counted.reasons(as_word(("order", "pay", "pay", "ship")))[0] == "pay twice"
    assert counted.reasons(as_word(("order", "ask", "pay", "ship")))[0] == "unknown event 'ask'"
    assert len(counted.reasons(as_word(f"event {i}" for i in range(30)))) == 4
    swapped = counted.reasons(as_word(("pay", "order", "ship")))
    assert any(text in ("pay before order", "order after pay", "pay without order before") for text in swapped)
    assert counted.often.shape == (3, MOST_COUNTED + 1)


def test_reasons_say_with_what_a_case_begins_and_ends():
    counted = relations_of([("open", "a", "b", "close"), ("open", "b", "a", "close")] * 100)
    assert counted.reasons(as_word(("a", "b", "close"))) == ["no open", "it begins with a"]
    assert counted.reasons(as_word(("open", "b", "a"))) == ["no close", "it ends with a"]


def test_reasons_compare_two_events_as_the_case_has_them():
    either = [("open", "ask", "win"), ("open", "ask", "lose")] * 200
    counted = relations_of([*either, *[("open", "ask", "answer", "win")] * 200])
    assert "neither lose nor win" in counted.reasons(as_word(("open", "ask")))
    in_turn = relations_of([("open", *("ask", "answer") * times, "close") for times in (1, 2, 3)] * 100)
    assert in_turn.reasons(as_word(("open", "ask", "ask", "answer", "close")))[0] in (
        "ask again without answer between",
        "ask twice, not as often as answer",
    )


def test_reasons_say_what_is_lacking_before_what_stands_side_by_side():
    asked = [("open", "ask", "answer", "close"), ("open", "ask", "answer", "note", "close"), ("open", "close")] * 100
    counted = relations_of([*asked, *[("open", "ask", "note", "close")] * 3])
    assert counted.reasons(as_word(("open", "ask", "close"))) == ["ask without answer"]
