"""State merging: a small deterministic automaton of flagged words, by the description length of automaton and flags.

    bits(A, flags) = table_bits(A) + flag_bits(of the words that end in accepting states) + flag_bits(of the others)

The states of the prefix tree are merged (`red_blue`); one state is enough if that has the shorter description.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Gt, Lt
from numpy.typing import NDArray

from wfairl.core.automata.automaton import DEAD, Label
from wfairl.core.automata.finite import FiniteAutomaton, end_states, quotient
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.weighted import WeightedAutomaton
from wfairl.core.automata.word_corpus import Corpus
from wfairl.core.automata.words import Word, format_label
from wfairl.core.demonstrations.learners import PLAIN_READING, LearnedTask, Reading, WordLearner
from wfairl.core.support.bounds import AtLeastOne, Seed, check_bounds
from wfairl.events.description_length import flag_bits, table_bits
from wfairl.events.dfa import Dfa, ignores_repeats, minimal, to_finite
from wfairl.events.flagged_corpus import FlaggedCorpus, random_part
from wfairl.events.red_blue import merge_states


@dataclass(frozen=True)
class MergingLearner(WordLearner):
    """A small automaton by state merging.

    Attributes:
        max_states: most states of the automaton, dead states included.
        max_words: most words that are merged; if there are more, a random part.
        noise: probability that a flag is wrong, while states are merged; the description estimates its own.
        seed: draws the random part.
    """

    max_states: AtLeastOne = 24
    max_words: AtLeastOne = 2_000
    noise: Annotated[float, Gt(0), Lt(0.5)] = 0.05
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
        part = random_part(len(corpus), self.max_words, np.random.default_rng(self.seed))
        single = np.zeros((1, labels), np.int32)
        merged = merge_states(corpus.take(part), succeeded[part], labels, self.noise, self.max_states, self.seed)
        described = [_describe(transitions, corpus, succeeded) for transitions in (single, merged)]
        return min(described, key=lambda one: one[0])


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
