"""Extract a finite automaton from a recurrent network, so that a planner can search it.

The network only answers membership queries: whether it accepts a word. As in Angluin's L*, with all suffixes of a
counterexample as new tests (Maler and Pnueli), a table of answers becomes an automaton:

    a state is a prefix u, characterised by the answers to u v for every test v;
    u sigma leads to the state with the same answers, or is a new state, found breadth first;
    if automaton and network differ on a word, all suffixes of that word become tests, and the table is built again.

States that a test distinguishes stay distinct, so this ends either with an automaton that agrees with the network on
*every* compared word, or at the limit of states, with the automaton that agreed most often so far; the result reports
the agreement. The compared words are the training words, their prefixes, and likely words, in which labels follow each
other as in the training words. On words that cannot occur a network answers without any rule: agreement there would
take thousands of states.

Words are compressed: a state also has the label that was read last, and reading it again stays there. States from
which nothing is accepted are dropped.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

import numpy as np
from numpy.typing import NDArray

from experiments.baselines.recurrent import RecurrentLearner, WordNetwork
from wfairl.core.automata.automaton import Label
from wfairl.core.automata.finite import NO_LABEL, FiniteAutomaton, TooManyStatesError, end_states, quotient
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.word_corpus import Corpus, encode
from wfairl.core.automata.words import Word, as_read, read_sample
from wfairl.core.demonstrations.learners import PLAIN_READING, Reading
from wfairl.events.dfa import Dfa, to_finite

DEFAULT_MAX_STATES = 1_000

LIKELY_WORDS = 500
"""Number of random words to compare."""

Symbols = tuple[int, ...]

_COMPARED = 2
"""A random stream of a seed, beside those of the training."""


@dataclass(frozen=True, eq=False)
class RecurrentTask:
    """A task learned by a recurrent network, as the network and as a task model.

    Attributes:
        network: the network.
        model: the automaton extracted from it.
        agreement: fraction of the training words on which network and automaton agree.
        exact: whether network and automaton agree on all compared words; if not, the extraction met the limit of
            states.
    """

    network: WordNetwork
    model: TaskModel
    agreement: float
    exact: bool


def fit_recurrent_task(
    words: Sequence[Word],
    scores: Sequence[float],
    reading: Reading = PLAIN_READING,
    learner: RecurrentLearner | None = None,
) -> RecurrentTask:
    """Learn the task of scored words with a recurrent network; the counterpart of `SpectralTaskLearner`.

    Args:
        words: the words, uncompressed.
        scores: of each word.
        reading: how words are read and accepted.
        learner: the settings of the network.

    Raises:
        BadWordsError: see `RecurrentLearner.fit`.
        TooManyStatesError, NoAcceptedWordError: see `approximate_automaton`.
    """
    read_words = as_read(words, reading.keep_repeats)
    training = read_sample(words, scores, reading.keep_repeats, reading.optional_start)
    network = (learner or RecurrentLearner()).fit(*training)
    network = replace(network, threshold=reading.threshold, keep_repeats=reading.keep_repeats)
    finite, exact = approximate_automaton(network, training[0])
    model = TaskModel.of_automaton(finite, "gru", read_words, scores, keep_repeats=reading.keep_repeats)
    return RecurrentTask(network, model, agreement(network, finite, read_words), exact)


def agreement(network: WordNetwork, finite: FiniteAutomaton, words: Sequence[Word]) -> float:
    """The fraction of words, as the network reads them, on which network and automaton agree."""
    accepted = network.values(words) >= network.threshold
    return float(np.mean(accepted == finite.accepts_all(words))) if len(words) else 1.0


def approximate_automaton(
    network: WordNetwork, words: Sequence[Word] = (), max_states: int = DEFAULT_MAX_STATES
) -> tuple[FiniteAutomaton, bool]:
    """The automaton that accepts the words that a network accepts, and whether it is exact.

    An exact one agrees with the network on the given words, their prefixes, and `LIKELY_WORDS` likely ones; at the
    limit of states it is the one that agreed most often.

    Args:
        network: a trained network; its threshold is xi of the paper.
        words: words to compare, as the network reads them, of labels in its alphabet.
        max_states: the limit of states, live or not.

    Raises:
        TooManyStatesError: even the first automaton, whose only test is the empty word, has more states.
        NoAcceptedWordError: the automaton accepts no word.
    """
    best: tuple[float, Dfa] | None = None
    answers = _Answers(network)
    compared = _words_to_compare(network, words)
    corpus, truth = _corpus(compared), answers.of(compared)
    tests: dict[Symbols, None] = {(): None}
    while True:
        try:
            table = _build_table(answers, list(tests), max_states)
        except TooManyStatesError:
            if best is None:
                raise
            return _smallest(best[1], network, max_states), False
        agrees = table.accepting[end_states(table.transitions, corpus)] == truth
        if agrees.all():
            return _smallest(table, network, max_states), True
        if best is None or agrees.mean() > best[0]:
            best = float(agrees.mean()), table
        counterexample = compared[int(np.flatnonzero(~agrees)[0])]  # the shortest
        tests.update(dict.fromkeys(counterexample[i:] for i in range(len(counterexample) + 1)))


def _smallest(table: Dfa, network: WordNetwork, max_states: int) -> FiniteAutomaton:
    """The live states of a table, merged where they read all words alike."""
    live = to_finite(table, network.alphabet)
    return quotient(live.to_weighted(), max_states=max_states, keep_repeats=network.keep_repeats)


def _build_table(answers: "_Answers", tests: list[Symbols], max_states: int) -> Dfa:
    """Find the states breadth first, each by the first prefix that leads to it; dead ones are states too."""
    labels, keep_repeats = len(answers.network.alphabet), answers.network.keep_repeats
    states: list[Symbols] = [()]
    signatures = [answers.of(tests)]
    number = {(NO_LABEL, signatures[0].tobytes()): 0}
    rows: list[NDArray[np.int32]] = []
    while len(rows) < len(states):
        layer = states[len(rows) :]
        words = [(*prefix, symbol, *test) for prefix in layer for symbol in range(labels) for test in tests]
        answers_after = answers.of(words).reshape(len(layer), labels, len(tests))
        for prefix, after in zip(layer, answers_after, strict=True):
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
            raise TooManyStatesError(
                f"a finite automaton of the recurrent network needs more than {max_states} states: the network does not"
                " follow a few rules. Raise max_states, or learn from more words"
            )
    accepting = np.array([signature[0] for signature in signatures])  # the first test is the empty word
    return Dfa(np.array(rows).reshape(len(states), labels), accepting)


class _Answers:
    """Whether the network accepts words; each word is evaluated once."""

    def __init__(self, network: WordNetwork) -> None:
        self.network = network
        self.cache: dict[Symbols, bool] = {}

    def of(self, words: Sequence[Symbols]) -> NDArray[np.bool_]:
        read = words if self.network.keep_repeats else [tuple(one for one, _ in groupby(word)) for word in words]
        new = list(dict.fromkeys(word for word in read if word not in self.cache))
        if new:
            values = self.network.values_of_corpus(_corpus(new))
            self.cache.update(zip(new, (values >= self.network.threshold).tolist(), strict=True))
        return np.array([self.cache[word] for word in read], bool)


def _words_to_compare(network: WordNetwork, words: Sequence[Word]) -> list[Symbols]:
    """The words on which network and automaton must agree, the shortest first."""
    given = _symbols(words, network.alphabet)
    prefixes = [word[:i] for word in given for i in range(len(word) + 1)]
    rng = np.random.default_rng([network.seed, _COMPARED])
    return sorted({*prefixes, *likely_words(given, rng)}, key=lambda word: (len(word), word))


def likely_words(given: Sequence[Symbols], rng: np.random.Generator) -> list[Symbols]:
    """Random words, no longer than the given ones, in which a label follows another only if it does so in those.

    They are random walks, in which all labels that follow a label in the given words are equally likely.
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
    return [tuple(corpus.symbols[a:b].tolist()) for a, b in pairwise(corpus.offsets.tolist())]


def _corpus(words: Sequence[Symbols]) -> Corpus:
    offsets = np.concatenate([[0], np.cumsum([len(word) for word in words])]).astype(np.int64)
    return Corpus(np.array([i for word in words for i in word], np.int32), offsets, np.ones(len(words)))
