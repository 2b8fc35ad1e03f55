"""State merging: a small deterministic automaton of flagged words, by the description length of automaton and flags.

    bits(A, flags) = table_bits(A) + flag_bits(of the words that end in accepting states) + flag_bits(of the others)

The states of the prefix tree are merged (`red_blue`). Long words over many labels share few suffixes, and merging then
has little evidence; so its automaton, or that of a single state if that is shorter, is improved on all words
(`improvement`).
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Gt, Lt
from numpy.typing import NDArray

from wfairl.core.automata.corpus import Corpus, random_part
from wfairl.core.automata.finite import end_states
from wfairl.core.automata.minimise import TransitionTable, minimal
from wfairl.core.support.bounds import AtLeastOne, Seed, check_bounds
from wfairl.events.description_length import flag_bits, table_bits
from wfairl.events.improvement import improve
from wfairl.events.red_blue import merge_states


@dataclass(frozen=True)
class MergingSettings:
    """Settings of `learn_merged`.

    Attributes:
        max_states: of the automaton, dead ones too.
        max_words: words that the search uses, a random part if there are more.
        noise: e, the probability that a flag is wrong, where states are merged; the description estimates its own.
        seed: of that random part.
    """

    max_states: AtLeastOne = 24
    max_words: AtLeastOne = 2_000
    noise: Annotated[float, Gt(0), Lt(0.5)] = 0.05
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_bounds(self)


@dataclass(frozen=True, eq=False)
class MergedAutomaton:
    """A learned automaton.

    Attributes:
        table: the automaton, minimal.
        rule_bits: bits of the automaton.
        data_bits: bits of the flags of all words, given the automaton.
    """

    table: TransitionTable
    rule_bits: float
    data_bits: float

    @property
    def bits(self) -> float:
        """The whole description."""
        return self.rule_bits + self.data_bits


def learn_merged(
    corpus: Corpus, succeeded: NDArray[np.bool_], labels: int, settings: MergingSettings | None = None
) -> MergedAutomaton:
    """The automaton over symbols 0 .. labels - 1 that describes in fewest bits which words succeeded, shape [words]."""
    settings = settings or MergingSettings()
    chosen = random_part(len(corpus), settings.max_words, np.random.default_rng(settings.seed))
    part, flags = corpus.take(chosen), succeeded[chosen]
    single = np.zeros((1, labels), np.int32)
    merged = merge_states(part, flags, labels, settings.noise, settings.max_states, settings.seed)
    start = min(single, merged, key=lambda transitions: _describe(transitions, part, flags).bits)
    improved = improve(start, part, flags, settings.max_states)
    described = [_describe(transitions, corpus, succeeded) for transitions in (single, start, improved)]
    return min(described, key=lambda automaton: automaton.bits)


def _describe(transitions: NDArray[np.int32], corpus: Corpus, succeeded: NDArray[np.bool_]) -> MergedAutomaton:
    """The automaton that accepts in the states where most words succeed, and its bits on all words."""
    ends = end_states(transitions, corpus)
    totals = np.bincount(ends, minlength=len(transitions))
    right = np.bincount(ends, succeeded, len(transitions))
    accepting = 2 * right > totals
    if not accepting.any():  # an automaton accepts something: where words succeed most often
        accepting[np.argmax(right / np.maximum(totals, 1))] = True
    bits = sum(float(flag_bits(totals[side].sum(), right[side].sum())) for side in (accepting, ~accepting))
    table = minimal(TransitionTable(transitions, accepting))
    return MergedAutomaton(table, table_bits(table), bits)
