"""The settings of the rational learner."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Gt, Lt

from wfairl.core.support.bounds import Positive, check_bounds

Probability = Annotated[float, Gt(0), Lt(1)]


@dataclass(frozen=True)
class RationalSettings:
    """What the learner assumes about demonstrators, and how far it searches."""

    temperature: Positive | None = None  # eta of the demonstrators; None if it is unknown
    outlier_probability: Probability = 0.01  # e, that a demonstration follows no task at all
    failure_error: Probability = 0.05  # probability that a demonstration that fulfils the task is reported as a failure
    # probability that an answer to a question is wrong, by inattention or misunderstanding
    answer_error: Probability = 0.02
    # prior odds that a label which no demonstration tests ends the task in failure; for caution only
    deadly_odds: float = 0.125
    needed_odds: float = 0.25  # prior odds that a demonstrated label is needed; for caution only
    # prior odds that a proposition is deadly at times, after or until another; for caution only
    phase_odds: float = 0.15
    obligation_odds: float = 0.1  # prior odds that a proposition is needed after another; for caution only
    unseen_odds: float = 0.1  # prior odds that one which no demonstration reads requires something; for caution only
    # probability that a task asks, in a new scene, what no automaton and no constraint here says, after one
    # demonstration; after n of them an n-th of it
    unforeseen: Probability = 0.04
    # how many states of each scene are planned through, those nearest to the demonstration
    max_world_states: int = 200_000
    max_alternatives: int = 20  # how many automata are kept beside the best one
    beam_width: int = 8  # how many of the best automata the search expands before it ends
    window: float = 30.0  # automata this many nats below the best are not expanded
    max_states: int = 8  # of an automaton, acceptance not counted
    max_literals: int = 3  # of a guard

    def __post_init__(self) -> None:
        check_bounds(self)
