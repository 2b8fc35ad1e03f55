"""The settings of the rational learner."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Gt, Lt

from wfairl.core.support.bounds import Positive, check_bounds

Probability = Annotated[float, Gt(0), Lt(1)]


@dataclass(frozen=True)
class RationalSettings:
    """What the learner assumes about demonstrators, and how far it searches.

    Attributes:
        temperature: eta of the demonstrators; None if it is unknown.
        outlier_probability: e, that a demonstration follows no task at all.
        failure_error: probability that a demonstration that fulfils the task is reported as a failure.
        answer_error: probability that an answer to a question is wrong, by inattention or misunderstanding.
        deadly_odds: prior odds that a label which no demonstration tests ends the task in failure; for caution only.
        needed_odds: prior odds that a demonstrated label is needed; for caution only.
        phase_odds: prior odds that a proposition is deadly at times, after or until another; for caution only.
        obligation_odds: prior odds that a proposition is needed after another; for caution only.
        unseen_odds: prior odds that one which no demonstration reads requires something; for caution only.
        unforeseen: probability that a task asks, in a new scene, what no automaton and no constraint here says, after
            one demonstration; after n of them an n-th of it.
        max_world_states: how many states of each scene are planned through, those nearest to the demonstration.
        max_alternatives: how many automata are kept beside the best one.
        beam_width: how many of the best automata the search expands before it ends.
        window: automata this many nats below the best are not expanded.
        max_states: of an automaton, acceptance not counted.
        max_literals: of a guard.
    """

    temperature: Positive | None = None
    outlier_probability: Probability = 0.01
    failure_error: Probability = 0.05
    answer_error: Probability = 0.02
    deadly_odds: float = 0.125
    needed_odds: float = 0.25
    phase_odds: float = 0.15
    obligation_odds: float = 0.1
    unseen_odds: float = 0.1
    unforeseen: Probability = 0.04
    max_world_states: int = 200_000
    max_alternatives: int = 20
    beam_width: int = 8
    window: float = 30.0
    max_states: int = 8
    max_literals: int = 3

    def __post_init__(self) -> None:
        check_bounds(self)
