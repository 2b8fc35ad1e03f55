"""State merging: a small deterministic automaton of flagged words, by the description length of automaton and flags.

    bits(A, flags) = table_bits(A) + flag_bits(of the words that end in accepting states) + flag_bits(of the others)

The states of the prefix tree are merged, red and blue (Lang, Pearlmutter and Price 1998). The red states are part of
the automaton. The blue states are their other successors. The blue state that most words pass is merged with the red
state that fits it best, or becomes red itself if no red state fits. Flags of words that end in one state mostly agree,
each wrong with a small probability e. So two states fit if their flags take fewer bits together than apart, where the
flags of a state take

    -log2 1/2 ((1 - e)^successes e^failures + e^successes (1 - e)^failures)

The automaton of a single state is taken instead if that has the shorter description.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import DEAD, Label
from wfairl.core.automata.finite import FiniteAutomaton, end_states, quotient
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.weighted import WeightedAutomaton
from wfairl.core.automata.word_corpus import Corpus, build_prefix_tree
from wfairl.core.automata.words import Word, format_label
from wfairl.core.demonstrations.learners import PLAIN_READING, LearnedTask, Reading, WordLearner
from wfairl.core.support.bounds import AtLeastOne, Seed, check_bounds
from wfairl.core.support.compiling import inner, njit
from wfairl.events.description_length import flag_bits, table_bits
from wfairl.events.dfa import Dfa, ignores_repeats, minimal, to_finite
from wfairl.events.flagged_corpus import FlaggedCorpus, random_part

TREE_CELLS = 2**26
"""Most entries of the prefix tree, a quarter of a gigabyte. If the words need more, fewer are drawn."""

WRONG = 0.05
"""e, while states are merged; the description estimates its own."""

NO_CHILD = -1
"""No successor, in the prefix tree."""


@dataclass(frozen=True)
class MergingLearner(WordLearner):
    """A small automaton by state merging.

    Attributes:
        max_states: most states of the automaton, dead states included.
        seed: draws words if there are too many.
    """

    max_states: AtLeastOne = 24
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_bounds(self)

    def fit(self, words: Sequence[Word], scores: Sequence[float], reading: Reading = PLAIN_READING) -> LearnedTask:
        data = FlaggedCorpus.of(words, scores, reading)
        bits, table = self.find_automaton(data.corpus, data.succeeded, len(data.alphabet))
        finite = to_finite(table, data.alphabet)
        if not (reading.keep_repeats or ignores_repeats(table)):
            finite = _with_repeats_taken_once(finite)
        trivial = bool(table.accepting.all())
        stated = () if trivial else stage_sentences(finite)
        model = TaskModel.of_automaton(finite, "merging", data.words, data.flags, stated=stated)
        return LearnedTask(model, bits, trivial)

    def find_automaton(self, corpus: Corpus, succeeded: NDArray[np.bool_], labels: int) -> tuple[float, Dfa]:
        """The minimal automaton over symbols 0 .. labels - 1 that tells in fewest bits which words succeeded, [words].

        The bits are those of the automaton, and of the flags of all words given the automaton.
        """
        single = np.zeros((1, labels), np.int32)
        merged = merge_states(corpus, succeeded, labels, self.max_states, np.random.default_rng(self.seed))
        described = [_describe(transitions, corpus, succeeded) for transitions in (single, merged)]
        return min(described, key=lambda one: one[0])


def _describe(transitions: NDArray[np.int32], corpus: Corpus, succeeded: NDArray[np.bool_]) -> tuple[float, Dfa]:
    """The bits on all words of the automaton that accepts in the states where most words succeed, and the automaton."""
    ends = end_states(transitions, corpus)
    totals = np.bincount(ends, minlength=len(transitions))
    right = np.bincount(ends, succeeded, len(transitions))
    accepting = 2 * right > totals
    if not accepting.any():  # then the state in which words succeed most often accepts
        accepting[np.argmax(right / np.maximum(totals, 1))] = True
    bits = sum(float(flag_bits(totals[side].sum(), right[side].sum())) for side in (accepting, ~accepting))
    table = minimal(Dfa(transitions, accepting))
    return table_bits(table) + bits, table


class MergeTree(NamedTuple):
    """The prefix tree; folding one part of it into another changes it in place."""

    children: NDArray[np.int32]  # [nodes, labels], or `NO_CHILD`
    lowest: NDArray[np.int32]  # [nodes], the smallest label that leads on, so that not all labels are tried
    highest: NDArray[np.int32]  # [nodes], the largest label that leads on
    counts: NDArray[np.float64]  # [nodes, 3], successes and failures that end here, and words that end here or below


class UndoLog(NamedTuple):
    """What a fold changed."""

    nodes: NDArray[np.int32]  # [nodes], the nodes whose counts changed
    counts: NDArray[np.float64]  # [nodes, 3], what they were before the fold
    edges: NDArray[np.int32]  # [nodes, 2], node and label of each new edge


def merge_states(
    corpus: Corpus, succeeded: NDArray[np.bool_], labels: int, max_states: int, rng: np.random.Generator
) -> NDArray[np.int32]:
    """The successors of the red states when no blue state is left, shape [states, labels].

    Words have symbols 0 .. labels - 1 and flags `succeeded`, shape [words]; of more than 2,000, `rng` draws a part.
    """
    fitting = int(np.searchsorted(corpus.offsets, TREE_CELLS // max(labels, 1), side="right")) - 1
    part = random_part(len(corpus), min(2_000, fitting), rng)
    corpus, succeeded = corpus.take(part), succeeded[part]
    tree = build_prefix_tree(corpus)
    children = np.full((len(tree), labels), NO_CHILD, np.int32)
    children[tree.parents[1:], tree.symbols[1:]] = np.arange(1, len(tree))
    lowest, highest = np.full(len(tree), labels, np.int32), np.full(len(tree), NO_CHILD, np.int32)
    np.minimum.at(lowest, tree.parents[1:], tree.symbols[1:].astype(np.int32))
    np.maximum.at(highest, tree.parents[1:], tree.symbols[1:].astype(np.int32))
    ends = [np.bincount(tree.ends, flags, len(tree)) for flags in (succeeded, ~succeeded)]
    counts = np.column_stack([*ends, np.bincount(tree.visits, minlength=len(tree))]).astype(np.float64)
    transitions: NDArray[np.int32] = _merge_red_and_blue(MergeTree(children, lowest, highest, counts), max_states)
    return transitions


@njit(cache=True, nogil=True)
def _merge_red_and_blue(tree, max_states):  # type: ignore[no-untyped-def]
    """Merge until all edges of red states lead to red states; a label that no word read in a state is a loop there."""
    children = tree.children
    nodes = len(children)
    red = [0]
    number = np.full(nodes, NO_CHILD, np.int32)
    number[0] = 0
    log = UndoLog(np.empty(nodes, np.int32), np.empty((nodes, 3)), np.empty((nodes, 2), np.int32))
    while True:
        source, label, most = NO_CHILD, NO_CHILD, -1.0
        for state in red:
            for i in range(children.shape[1]):
                blue = children[state, i]
                if blue != NO_CHILD and number[blue] == NO_CHILD and tree.counts[blue, 2] > most:
                    source, label, most = state, i, tree.counts[blue, 2]
        if source == NO_CHILD:
            break
        blue = children[source, label]
        best, best_saved = NO_CHILD, -np.inf
        for k in range(-1, len(red)):  # the source itself first: of equals, a loop is chosen
            state = source if k < 0 else red[k]
            saved, counted, linked = _fold(tree, state, blue, log)
            _unfold(tree, log, counted, linked)
            if saved > best_saved:
                best, best_saved = state, saved
        if best_saved < 0 and len(red) < max_states:
            number[blue] = len(red)
            red.append(blue)
        else:
            children[source, label] = best
            _fold(tree, best, blue, log)
    transitions = np.empty((len(red), children.shape[1]), np.int32)
    for i in range(len(red)):
        for j in range(children.shape[1]):
            after = children[red[i], j]
            transitions[i, j] = i if after == NO_CHILD else number[after]
    return transitions


@njit(cache=True, nogil=True)
def _fold(tree, state, blue, log):  # type: ignore[no-untyped-def]
    """Merge the tree below `blue` into `state`; returns the bits saved, and how many nodes and edges changed."""
    children, lowest, highest, counts = tree
    saved, counted, linked = 0.0, 0, 0
    left, right = [state], [blue]
    while len(left) > 0:
        into, node = left.pop(), right.pop()
        one, other = counts[into], counts[node]
        if one[0] + one[1] > 0 and other[0] + other[1] > 0:
            apart = _flags(one[0], one[1]) + _flags(other[0], other[1])
            saved += apart - _flags(one[0] + other[0], one[1] + other[1])
        log.nodes[counted], log.counts[counted] = into, one
        counts[into] += other
        counted += 1
        for i in range(lowest[node], highest[node] + 1):
            below = children[node, i]
            if below != NO_CHILD:
                if children[into, i] == NO_CHILD:
                    children[into, i] = below
                    lowest[into], highest[into] = min(lowest[into], i), max(highest[into], i)
                    log.edges[linked, 0], log.edges[linked, 1] = into, i
                    linked += 1
                else:
                    left.append(children[into, i])
                    right.append(below)
    return saved, counted, linked


@inner
def _unfold(tree, log, counted, linked):  # type: ignore[no-untyped-def]
    """Undo a `_fold`."""
    for k in range(counted - 1, -1, -1):
        tree.counts[log.nodes[k]] = log.counts[k]
    for k in range(linked):
        tree.children[log.edges[k, 0], log.edges[k, 1]] = NO_CHILD


@inner
def _flags(successes, failures):  # type: ignore[no-untyped-def]
    """-log2 of the probability of the flags of one state."""
    a = successes * math.log2(1 - WRONG) + failures * math.log2(WRONG)
    b = failures * math.log2(1 - WRONG) + successes * math.log2(WRONG)
    return 1 - max(a, b) - math.log2(1 + 2.0 ** (min(a, b) - max(a, b)))


def stage_sentences(automaton: FiniteAutomaton) -> tuple[str, ...]:
    """Every state, what it means to end there, and what leads to another one."""
    sentences = []
    for state, successors in enumerate(automaton.transitions):
        place = f"in stage {state + 1}" if state else "it begins in stage 1, where"
        ends = f"{place} a case {'succeeds' if automaton.accepting[state] else 'fails'}"
        goes_on = [
            f"{_named(automaton.alphabet, successors == after)} "
            + ("makes it fail whatever follows" if after == DEAD else f"leads to stage {after + 1}")
            for after in sorted({*successors.tolist()} - {state}, key=lambda one: (one == DEAD, one))
        ]
        sentences.append("; ".join([ends, *goes_on]))
    return (*sentences, "nothing else leads to another stage")


def _named(alphabet: Sequence[Label], chosen: NDArray[np.bool_]) -> str:
    """Some labels, or those that are not among them if they are fewer."""
    if chosen.all():
        return "anything"
    many = 2 * chosen.sum() > len(chosen)
    texts = [format_label(label) for label, one in zip(alphabet, chosen != many, strict=True) if one]
    return ("anything but " if many else "") + " or ".join(texts)


def _with_repeats_taken_once(automaton: FiniteAutomaton) -> FiniteAutomaton:
    """The automaton of compressed words, by way of the weighted automaton of zeros and ones."""
    units = np.vstack([np.eye(automaton.states), np.zeros(automaton.states)])  # the last row is that of DEAD
    weights = units[automaton.transitions].transpose(1, 0, 2)
    return quotient(WeightedAutomaton(automaton.alphabet, units[0], automaton.accepting.astype(np.float64), weights))
