"""Orders and constraints learned from few words, against enumeration."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wfairl.core.automata.words import BadWordsError
from wfairl.core.demonstrations.learners import Reading, find_learner
from wfairl.events.order_learner import LearnedOrder, OrderLearner
from wfairl.events.partial_orders import ERRANDS, JOINED, OrderPrior, agreed_order, draw_orders, log_word_probability
from wfairl.events.step_names import log_affinity, name_features


def word(text):
    return tuple(frozenset(label.split("+")) if label else frozenset() for label in text.split())


def closed(edges):
    relation = set(edges)
    while more := {(a, d) for a, b in relation for c, d in relation if b == c} - relation:
        relation |= more
    return frozenset(relation)


def reduced(relation):
    return {(a, b) for a, b in relation if not any((a, c) in relation and (c, b) in relation for c, _ in relation)}


def extensions(relation, steps):
    return [one for one in permutations(range(steps)) if all(one.index(a) < one.index(b) for a, b in relation)]


def all_orders(steps):
    """Every strict partial order, by trying every set of pairs."""
    pairs = list(permutations(range(steps), 2))
    sets = [{pair for pair, held in zip(pairs, one, strict=True) if held} for one in product((0, 1), repeat=len(pairs))]
    return [frozenset(one) for one in sets if closed(one) == one and all((b, a) not in one for a, b in one)]


@st.composite
def rising_edges(draw, steps=5):
    """Edges from lower to higher steps, closed."""
    return closed(pair for pair in permutations(range(steps), 2) if pair[0] < pair[1] and draw(st.booleans()))


def word_probabilities(relation, steps):
    edges = reduced(relation)
    after = np.array([sum(1 << b for b in range(steps) if (a, b) in edges) for a in range(steps)])
    size = np.array([1.0 + sum(b == i for _, b in relation) for i in range(steps)])
    return {one: np.exp(log_word_probability(after, size, np.array(one))) for one in permutations(range(steps))}


@settings(max_examples=25, deadline=None)
@given(rising_edges())
def test_the_words_that_keep_an_order_share_all_probability(relation):
    probabilities = word_probabilities(relation, 5)
    assert {one for one, p in probabilities.items() if p > 0} == set(extensions(relation, 5))
    assert sum(probabilities.values()) == pytest.approx(1)
    if all(sum(a == i for a, _ in reduced(relation)) <= 1 for i in range(5)):
        assert {round(p, 12) for p in probabilities.values()} <= {0, round(1 / len(extensions(relation, 5)), 12)}


def oracle_posterior(words, prior, steps):
    """Prior and size principle by enumeration; every step happens once, so that nothing is repaired."""
    log_posterior = {}
    for relation in all_orders(steps):
        edges, possible = reduced(relation), extensions(relation, steps)
        out = [sum(a == i for a, _ in edges) for i in range(steps)]
        starts = sum(all(b != i for _, b in edges) for i in range(steps))
        cost = prior.edge * len(edges) + prior.first * sum(k > 0 for k in out) + prior.branch * sum(k > 1 for k in out)
        cost += prior.loose_end * (out.count(0) - 1) + prior.start * starts
        chance = 0.05 / len(extensions((), steps))
        likelihood = [0.9 / len(possible) + chance if one in possible else chance for one in words]
        log_posterior[frozenset(edges)] = np.sum(np.log(likelihood)) - cost
    total = np.logaddexp.reduce(list(log_posterior.values()))
    return {edges: np.exp(value - total) for edges, value in log_posterior.items()}


@pytest.mark.parametrize("prior", [ERRANDS, JOINED, OrderPrior()])
def test_orders_are_drawn_from_the_posterior(prior):
    words = [(0, 1, 2), (0, 1, 2), (0, 2, 1)]
    drawn = draw_orders(words, prior, np.zeros((3, 3)), 400_000, np.random.default_rng(0))
    shares = {}
    for order in drawn:
        edges = frozenset(map(tuple, np.argwhere(order).tolist()))
        shares[edges] = shares.get(edges, 0) + 1 / len(drawn)
    possible = {  # the chain tries no edge that two of three words break
        edges: p for edges, p in oracle_posterior(words, prior, 3).items() if edges <= {(0, 1), (0, 2)}
    }
    total = sum(possible.values())
    for edges, share in shares.items():
        assert share == pytest.approx(possible[edges] / total, abs=0.03)


def test_the_agreed_order_is_the_best_of_all():
    """By trying every order; the draws are mixed from two of them, so that steps lead to the best."""
    orders = np.zeros((30, 3, 3), bool)
    orders[:, 0, 1] = True
    orders[:18, 1, 2] = True
    orders[18:, 0, 2] = True

    def edges(order):
        starts = {("start", b) for b in range(3) if all(b != after for _, after in order)}
        return starts | {(a, "end") for a in range(3) if all(a != before for before, _ in order)} | set(order)

    def mean_f1(order):
        whole, drawn = edges(order), [edges({tuple(edge) for edge in np.argwhere(one).tolist()}) for one in orders]
        return np.mean([2 * len(whole & one) / (len(whole) + len(one)) for one in drawn])

    found = {tuple(edge) for edge in np.argwhere(agreed_order(orders)).tolist()}
    assert mean_f1(found) == pytest.approx(max(mean_f1(reduced(one)) for one in all_orders(3)))


@pytest.mark.parametrize("joined", [False, True])
def test_an_order_is_found_again_and_mistakes_are_named(joined):
    relation = closed({(0, 2), (1, 2), (2, 3), (3, 4)} if joined else {(0, 1), (0, 2)})
    steps = 5 if joined else 4
    rng = np.random.default_rng(1)
    kept = extensions(relation, steps)
    drawn = [kept[i] for i in rng.integers(len(kept), size=20)]
    words = [tuple(frozenset({"abcde"[i]}) for i in one) for one in drawn]
    wrong = [tuple(reversed(words[0])), (*words[1], frozenset({"x"})), words[2][:-1]]
    learned = OrderLearner(joined=joined).find_order(words + wrong)
    assert learned.always == tuple("abcde"[:steps])
    assert learned.never == ("x",)
    assert set(learned.edges) == {("abcde"[a], "abcde"[b]) for a, b in reduced(relation)}
    assert [bool(some) for some in learned.broken(words + wrong)] == [False] * 20 + [True] * 3


@pytest.mark.parametrize("repaired", ["r g b g y", "b r b g y", "y r b r b g y"])
def test_a_step_done_again_repairs_a_mistake(repaired):
    words = [word("r b g y")] * 4 + [word(repaired)]
    learned = OrderLearner().find_order(words)
    assert set(learned.edges) == {("r", "b"), ("b", "g"), ("g", "y")}
    assert [bool(some) for some in learned.broken(words)] == [False] * 4 + [True]


def test_what_no_word_has_never_happens_and_what_some_have_may():
    learned = OrderLearner().find_order([word("a"), word("a b"), word("b a"), word("a")], ["a", "z"])
    assert learned == LearnedOrder(("a",), ("z",), ())


def test_words_without_propositions_teach_nothing():
    told = [word("a b")] * 3
    assert OrderLearner().find_order([*told, (), (frozenset(),)]) == OrderLearner().find_order(told)
    with pytest.raises(BadWordsError, match="nothing happens"):
        OrderLearner().find_order([(), (frozenset(),)])


def test_too_many_steps_are_refused_with_advice():
    with pytest.raises(BadWordsError, match="at most 62"):
        OrderLearner().find_order([word(" ".join(f"s{i:02d}" for i in range(63)))])


def test_the_task_accepts_the_words_that_keep_the_rule():
    words = [word("a b c"), word("b a c")] * 6 + [word("c a b")]
    task = find_learner("order").fit(words, [1.0] * 13, Reading())
    assert task.model.values(words) == [1] * 12 + [0]
    assert "c only after a" in task.model.sentences
    assert task.notes == ("1 of 13 successful words break the rule, probably by mistake: word 13: c only after a",)


def test_affinity_is_normalised_and_needs_words_in_names():
    names = ["Chop-Chop 1 strawberry", "Serve-Serve with chopped strawberries", "Add-Add milk", "Add-Add one egg"]
    affinity = log_affinity(names)
    for i in range(4):
        assert np.mean([np.exp(affinity[i, j]) for j in range(4) if j != i]) == pytest.approx(1)
    assert affinity[0].argmax() == 1
    assert affinity[2, 3] < affinity[2, 0]
    assert not name_features(["pay", "ship", "pay2"]).any()
