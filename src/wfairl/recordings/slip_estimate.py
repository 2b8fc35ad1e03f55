"""How often controls slip, by logs of states and controls in worlds that do not slip in the model.

If a control is replaced by another available one with probability p, all others alike, a step in a world that does not
slip has the likelihood

    (1 - p) [its control leads there] + p (share of the other controls that lead there)

The estimate of p is the mean of its posterior, from all p alike. A step to which no control leads says nothing about p.
Where a control is clearly replaced by some others more often than by the rest, by a G-test, there is no such p.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.world import slips
from wfairl.recordings.recorded_states import Recording


@dataclass(frozen=True)
class SlipEstimate:
    """How often controls slip: the mean, and the interval of 95 %."""

    probability: float
    low: float
    high: float
    steps: int  # that say something about it


def estimate_slip(recordings: Iterable[Recording]) -> SlipEstimate:
    """How often controls slip; logs that do not tell, or controls that do not slip alike, are a `BadInputError`."""
    recordings = list(recordings)
    kinds = Counter(kind for one in recordings for kind in one.slips)
    _check_replaced(recordings, kinds)
    telling = {(own, share): count for (own, share), count in kinds.items() if own != share and (own or share)}
    if any(slips(one.path.world) for one in recordings):
        raise BadInputError("the model slips already: --estimate-slip estimates that of a model that does not")
    if not telling:
        raise BadInputError("no step tells how often controls slip: the log must give states and controls")
    p = (np.arange(10_000) + 0.5) / 10_000  # probabilities that are compared
    log_likelihood = sum(count * np.log((1 - p) * own + p * share) for (own, share), count in telling.items())
    posterior = np.exp(log_likelihood - np.max(log_likelihood))
    posterior /= posterior.sum()
    low, high = p[np.searchsorted(posterior.cumsum(), (0.025, 0.975))]
    return SlipEstimate(float(posterior @ p), float(low), float(high), sum(telling.values()))


def _check_replaced(recordings: Sequence[Recording], kinds: Counter[tuple[bool, float]]) -> None:
    """Refuse slips that no other control explains, or in which some others replace a control clearly more often."""
    controls = [str(name) for one in recordings[:1] for name in one.path.world.controls]
    seen = Counter((one.control, one.like) for read in recordings for one in read.surprises)
    often = ", ".join(f"{control}: {like} {count} times" for (control, like), count in seen.most_common(6))
    advice = (
        "Say so in the world, with `outcomes` instead of `step`. Without --estimate-slip the log can be used as it is"
    )
    if kinds[False, 0.0] > 0.1 * seen.total():
        raise BadInputError(f"no other control explains {kinds[False, 0.0]} of {seen.total()} slips: {often}. {advice}")
    alike = Counter({kind: count for kind, count in seen.items() if kind[1] in controls})
    taken = Counter(control for control, _ in alike.elements())
    others = len(controls) - 1
    statistic = 2 * sum(count * np.log(count * others / taken[control]) for (control, _), count in alike.items())
    freedom = len(taken) * (others - 1)
    if freedom > 0 and statistic > freedom + 4 * np.sqrt(2 * freedom):  # four standard deviations above its mean
        raise BadInputError(f"controls do not slip alike: {often}. {advice}")
