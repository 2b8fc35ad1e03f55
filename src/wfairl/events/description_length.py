"""Description lengths in bits: of a rule, and of the flags that it leaves unexplained.

    bits(rule, flags) = bits(rule) + bits(flags of the words it accepts) + bits(flags of the words it rejects)

A rule that explains nothing leaves the flags as they are. A rule that memorises the flags is as long as they are. Of n
flags, k are set: the code writes k first (each of 0 .. n is equally likely), then which flags are set,

    flag_bits(n, k) = log2(n + 1) + log2 binomial(n, k)

So the share of wrong flags on either side of the rule is estimated, not a setting.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wfairl.events.dfa import Dfa


def flag_bits(count: ArrayLike, flagged: ArrayLike) -> NDArray[np.float64]:
    """Bits of `count` flags of which `flagged` are set; arrays of one shape."""
    from scipy.special import gammaln  # here, because it is slow to import

    n, k = np.asarray(count, np.float64), np.asarray(flagged, np.float64)
    chosen = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    bits: NDArray[np.float64] = np.log2(n + 1) + chosen / math.log(2)
    return bits


def integer_bits(number: int) -> float:
    """Bits of a whole number from 0 on: 2 log2(number + 1) + 1 (Elias)."""
    return 2 * math.log2(number + 1) + 1


def table_bits(table: Dfa) -> float:
    """Bits of an automaton: its number of states; for each state, whether it accepts and which labels lead where.

    The code names only labels that leave a state, so that labels which do not matter cost nothing.
    """
    states, labels = table.transitions.shape
    leaving = (table.transitions != np.arange(states)[:, None]).sum(axis=1)
    edges = flag_bits(labels, leaving) + leaving * math.log2(max(states - 1, 1))
    return integer_bits(states) + states + float(edges.sum())
