"""The settings of the rational learner."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Gt, Lt

from wfairl.core.support.bounds import Positive, check_bounds

Probability = Annotated[float, Gt(0), Lt(1)]


@dataclass(frozen=True)
class RationalSettings:
    """What the learner assumes about demonstrators, and how far it plans."""

    temperature: Positive | None = None  # eta of the demonstrators; None if it is unknown
    outlier_probability: Probability = 0.01  # e, that a demonstration follows no task at all
    failure_error: Probability = 0.05  # probability that a demonstration that fulfils the task is reported as a failure
    # probability that an answer to a question is wrong, by inattention or misunderstanding
    answer_error: Probability = 0.02
    # how many states of each scene are planned through, those nearest to the demonstration
    max_world_states: int = 200_000

    def __post_init__(self) -> None:
        check_bounds(self)
