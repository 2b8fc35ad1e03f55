"""A finite automaton read off a recurrent network, so that a planner can search it.

The network only answers whether it accepts a word. As in Angluin's L*, with all suffixes of a counterexample as new
tests (Maler and Pnueli), a table of such answers becomes an automaton:

    a state is a prefix u, and what is known of it are the answers to u v for every test v;
    u sigma leads to the state with the same answers, or is a new state, found breadth first;
    where automaton and network differ on a word, all suffixes of that word become tests, and the table is built anew.

A word that was told apart once stays so, so this ends with an automaton that answers as the network does on *every*
word that was compared, or at the limit of states: there, the automaton that agreed with it most often so far is still
an approximation, which says how good it is. Compared are the words that the network learned from, their
beginnings, and likely words, in which labels follow each other as they do in those. On words that cannot happen a
network answers without any rule: to agree with it there would take thousands of states.

Words are compressed: a state also has the label that was read last, and reading it again stays there. States from
which nothing is accepted are dropped.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import Label
from wfairl.automata.corpus import Corpus, encode
from wfairl.automata.finite import NO_LABEL, FiniteAutomaton, TooManyStatesError, quotient
from wfairl.automata.task_model import TaskModel
from wfairl.automata.words import Word, compress, with_optional_start
from wfairl.baselines.recurrent import RecurrentLearner, Track

DEFAULT_MAX_STATES = 1_000

LIKELY_WORDS = 500
"""Random words that are compared, and as many others on which the agreement is measured."""

Symbols = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class RecurrentTask:
    """What was learned by a recurrent network, and as a task model.

    Attributes:
        learner: the network.
        model: the automaton that was read off it.
        agreement: share of the words it was learned from of which network and automaton say the same.
        likely_agreement: that share of other likely words, which were not compared when the automaton was read off; 1
            if there are none.
        held_out_accuracy: share of the held-out words that the network judged rightly before it had learned them;
            None if none were held out.
        exact: whether network and automaton agree on all words that were compared; if not, the limit of states was
            met, and `agreement` and `likely_agreement` say how faithful the automaton is.
    """

    learner: RecurrentLearner
    model: TaskModel
    agreement: float
    likely_agreement: float
    held_out_accuracy: float | None
    exact: bool = True


def fit_recurrent_task(
    words: Sequence[Word],
    scores: Sequence[float],
    *,
    threshold: float = 0.5,
    keep_repeats: bool = False,
    max_states: int = DEFAULT_MAX_STATES,
    optional_start: bool = False,
    learner: RecurrentLearner | None = None,
    track: Track | None = None,
) -> RecurrentTask:
    """Learn the task of scored words with a recurrent network; the counterpart of `fit_task_model`.

    Args:
        words: the words, as they were seen.
        scores: of each word.
        threshold: words to which the network gives this value or more are accepted.
        keep_repeats: whether repeated labels are read again.
        max_states: see `approximate_automaton`.
        optional_start: see `fit_task_model`.
        learner: the settings; the defaults unless given.
        track: shows progress.

    Raises:
        BadWordsError: see `RecurrentLearner.fit`.
        TooManyStatesError, NoAcceptedWordError: see `approximate_automaton`.
    """
    read = [tuple(word) if keep_repeats else compress(word) for word in words]
    shown, shown_scores = with_optional_start(read, scores) if optional_start else (read, list(scores))
    learner = (learner or RecurrentLearner()).fit(shown, shown_scores, track)
    return extract_task(
        learner,
        words,
        scores,
        threshold=threshold,
        keep_repeats=keep_repeats,
        max_states=max_states,
        optional_start=optional_start,
    )


def extract_task(
    learner: RecurrentLearner,
    words: Sequence[Word],
    scores: Sequence[float],
    *,
    threshold: float = 0.5,
    keep_repeats: bool = False,
    max_states: int = DEFAULT_MAX_STATES,
    optional_start: bool = False,
) -> RecurrentTask:
    """The task of a network that was trained on these words; see `fit_recurrent_task`."""
    read = [tuple(word) if keep_repeats else compress(word) for word in words]
    shown, shown_scores = with_optional_start(read, scores) if optional_start else (read, list(scores))
    finite, exact = approximate_automaton(learner, shown, threshold, keep_repeats, max_states)
    model = TaskModel.of_automaton(finite, "gru", read, scores, keep_repeats=keep_repeats)
    held_out = learner.held_out_
    right = (learner.held_out_predictions_ >= threshold) == (np.array(shown_scores)[held_out] >= threshold)
    return RecurrentTask(
        learner,
        model,
        agreement(learner, finite, read, threshold),
        agreement(learner, finite, _other_likely_words(learner, shown), threshold),
        float(right.mean()) if len(held_out) else None,
        exact,
    )


def _other_likely_words(learner: RecurrentLearner, words: Sequence[Word]) -> list[Word]:
    """Likely words that are not compared when an automaton is read off."""
    given = _symbols(words, learner.alphabet_)
    compared = set(_words_to_compare(learner, words))
    others = set(likely_words(given, np.random.default_rng([learner.seed, _MEASURED]))) - compared
    return [tuple(learner.alphabet_[i] for i in word) for word in sorted(others)]


def agreement(learner: RecurrentLearner, finite: FiniteAutomaton, words: Sequence[Word], threshold: float) -> float:
    """The share of the words, as the network reads them, of which network and automaton say the same."""
    accepted = np.array([finite.accepts(word) for word in words], bool)
    return float(np.mean(accepted == (learner.predict(words) >= threshold))) if len(words) else 1.0


def approximate_automaton(
    learner: RecurrentLearner,
    words: Sequence[Word] = (),
    threshold: float = 0.5,
    keep_repeats: bool = False,
    max_states: int = DEFAULT_MAX_STATES,
) -> tuple[FiniteAutomaton, bool]:
    """The automaton that accepts the words to which a network gives at least `threshold`, and whether it is exact.

    An exact one agrees with the network on the given words, their beginnings, and `LIKELY_WORDS` likely ones; at the
    limit of states it is the one that agreed most.

    Args:
        learner: a trained network.
        words: words that matter, as the network reads them; their labels are known to it.
        threshold: xi of the paper.
        keep_repeats: read a label also when it equals the last one.
        max_states: the limit of states, live or not.

    Raises:
        TooManyStatesError: not even the first automaton, which asks only what is accepted at once, has so few states.
        NoAcceptedWordError: no word that was met is accepted.
    """
    best: tuple[float, _Table] | None = None
    answers = _Answers(learner, threshold, keep_repeats)
    compared = _words_to_compare(learner, words)
    truth = answers.of(compared)
    tests: dict[Symbols, None] = {(): None}
    while True:
        try:
            table = _build_table(answers, list(tests), keep_repeats, max_states)
        except TooManyStatesError:
            if best is None:
                raise
            return _to_finite(best[1], learner, keep_repeats, max_states), False
        said = np.array([table.accepts(word) for word in compared], bool)
        if (said == truth).all():
            return _to_finite(table, learner, keep_repeats, max_states), True
        agreeing = float((said == truth).mean())
        if best is None or agreeing > best[0]:
            best = agreeing, table
        mistaken = compared[int(np.flatnonzero(said != truth)[0])]  # the shortest
        tests.update(dict.fromkeys(mistaken[i:] for i in range(len(mistaken) + 1)))


def _to_finite(table: "_Table", learner: RecurrentLearner, keep_repeats: bool, max_states: int) -> FiniteAutomaton:
    whole = table.to_automaton(learner.alphabet_, keep_repeats)
    return quotient(whole.to_weighted(), max_states=max_states, keep_repeats=keep_repeats)


def _too_many_states(max_states: int) -> TooManyStatesError:
    return TooManyStatesError(
        f"the recurrent network needs more than {max_states} states to be told as a finite automaton: it does "
        "not treat words by a few rules. Raise --max-states (max_states), or learn from more words"
    )


@dataclass(frozen=True)
class _Table:
    """The automaton of a table of answers, dead states and all."""

    transitions: NDArray[np.int32]
    accepting: NDArray[np.bool_]
    last_symbols: list[int]

    def accepts(self, word: Symbols) -> bool:
        state = 0
        for symbol in word:
            state = self.transitions[state, symbol]
        return bool(self.accepting[state])

    def to_automaton(self, alphabet: tuple[Label, ...], keep_repeats: bool) -> FiniteAutomaton:
        last_labels = tuple(None if i == NO_LABEL else alphabet[i] for i in self.last_symbols)
        return FiniteAutomaton(
            alphabet, self.transitions, self.accepting, self.accepting.astype(np.float64), last_labels, keep_repeats
        )


def _build_table(answers: "_Answers", tests: list[Symbols], keep_repeats: bool, max_states: int) -> _Table:
    """Find the states breadth first, each by the first prefix that leads to it."""
    labels = answers.labels
    states: list[Symbols] = [()]
    signatures = [answers.of(tests)]
    number = {(NO_LABEL, signatures[0].tobytes()): 0}
    rows: list[NDArray[np.int32]] = []
    while len(rows) < len(states):
        layer = states[len(rows) :]
        words = [(*prefix, symbol, *test) for prefix in layer for symbol in range(labels) for test in tests]
        known = answers.of(words).reshape(len(layer), labels, len(tests))
        for prefix, after in zip(layer, known, strict=True):
            row = np.full(labels, len(rows), np.int32)  # reading the last label again stays here
            for symbol in range(labels):
                if keep_repeats or prefix[-1:] != (symbol,):
                    key = (NO_LABEL if keep_repeats else symbol, after[symbol].tobytes())
                    row[symbol] = number.setdefault(key, len(states))
                    if row[symbol] == len(states):
                        states.append((*prefix, symbol))
                        signatures.append(after[symbol])
            rows.append(row)
        if len(states) > max_states:
            raise _too_many_states(max_states)
    accepting = np.array([signature[0] for signature in signatures])  # the first test is the empty word
    last = [NO_LABEL if keep_repeats or not prefix else prefix[-1] for prefix in states]
    return _Table(np.array(rows).reshape(len(states), labels), accepting, last)


class _Answers:
    """Whether the network accepts words, each asked once."""

    def __init__(self, learner: RecurrentLearner, threshold: float, keep_repeats: bool) -> None:
        self.learner, self.threshold, self.keep_repeats = learner, threshold, keep_repeats
        self.labels = len(learner.alphabet_)
        self.known: dict[Symbols, bool] = {}

    def of(self, words: Sequence[Symbols]) -> NDArray[np.bool_]:
        read = [word if self.keep_repeats else _without_repeats(word) for word in words]
        new = list(dict.fromkeys(word for word in read if word not in self.known))
        if new:
            values = self.learner.values_of_corpus(_corpus(new))
            self.known.update(zip(new, (values >= self.threshold).tolist(), strict=True))
        return np.array([self.known[word] for word in read], bool)


def _words_to_compare(learner: RecurrentLearner, words: Sequence[Word]) -> list[Symbols]:
    """The words that network and automaton must agree on, the shortest first."""
    given = _symbols(words, learner.alphabet_)
    beginnings = [word[:i] for word in given for i in range(len(word) + 1)]
    rng = np.random.default_rng([learner.seed, _COMPARED])
    return sorted({*beginnings, *likely_words(given, rng)}, key=lambda word: (len(word), word))


def likely_words(given: Sequence[Symbols], rng: np.random.Generator) -> list[Symbols]:
    """Random words, no longer than the given ones, in which a label follows another only if it does so in those.

    They are the words of a random walk, for which each label that was seen to follow is as likely as the others.
    """
    follows: dict[int, set[int]] = {}
    for before, after in (pair for word in given for pair in pairwise((NO_LABEL, *word))):
        follows.setdefault(before, set()).add(after)
    choices = {before: sorted(after) for before, after in follows.items()}
    words = []
    for length in rng.integers(max(map(len, given), default=0) + 1, size=LIKELY_WORDS):
        walk = [NO_LABEL]
        while len(walk) <= length and walk[-1] in choices:
            walk.append(int(rng.choice(choices[walk[-1]])))
        words.append(tuple(walk[1:]))
    return words


def _symbols(words: Sequence[Word], alphabet: tuple[Label, ...]) -> list[Symbols]:
    corpus = encode(words, alphabet)
    ends = corpus.offsets.tolist()
    return [tuple(corpus.symbols[a:b].tolist()) for a, b in pairwise(ends)]


def _without_repeats(word: Symbols) -> Symbols:
    return tuple(symbol for i, symbol in enumerate(word) if i == 0 or symbol != word[i - 1])


def _corpus(words: Sequence[Symbols]) -> Corpus:
    offsets = np.concatenate([[0], np.cumsum([len(word) for word in words])]).astype(np.int64)
    return Corpus(np.array([i for word in words for i in word], np.int32), offsets, np.ones(len(words)))


_COMPARED, _MEASURED = 2, 3
"""What the random numbers of a seed are for, beside those of the training."""
