"""What was shown, said and corrected in a session: the fold of its events. It knows no world, no file, no browser."""

from dataclasses import dataclass, replace

from wfairl.demonstrations.collection import FIRST_TRAINING_SEED
from wfairl.errors import BadInputError
from wfairl.logic.corrections import Correction, correction_of_document
from wfairl.studio.assignment import Assignment, check_name
from wfairl.studio.events import (
    PERSON,
    RULE,
    Acted,
    Answered,
    Begun,
    Corrected,
    Dropped,
    Event,
    Forgot,
    Judged,
    Kept,
    Moved,
    Named,
    Proposed,
    Restarted,
    Undid,
    Walk,
    Withdrew,
)
from wfairl.worlds.registry import all_tasks

LONGEST_DEMONSTRATION = 10_000


@dataclass(frozen=True)
class Shown:
    """A walk as it was made, and what was said of it: labels follow from the propositions that there are."""

    seed: int
    controls: tuple[int, ...]
    is_right: bool
    judge: str = PERSON
    weight: float = 1.0


@dataclass(frozen=True)
class Correcting:
    """A correction, whether it is law, and the answers that it counts for if it is evidence."""

    correction: Correction
    is_law: bool
    answers: tuple[Shown, ...]


class Story:
    """All that a person has done so far; nothing until the first event.

    Attributes:
        assignment: what it is about.
        seed: the scene on the screen.
        controls: of the demonstration being made.
        shown: demonstrations so far.
        answered: what was said of walks that were asked about.
        corrected: the corrections.
        judge: who says whether a demonstration was right.
    """

    assignment: Assignment

    def __init__(self) -> None:
        self.seed = FIRST_TRAINING_SEED
        self.controls: list[int] = []
        self.shown: list[Shown] = []
        self.answered: list[Shown] = []
        self.corrected: list[Correcting] = []
        self.judge = PERSON
        self._is_begun = False

    @property
    def laws(self) -> tuple[Correction, ...]:
        """The corrections that are law."""
        return tuple(one.correction for one in self.corrected if one.is_law)

    @property
    def answers(self) -> list[Shown]:
        """What was said of walks, and what corrections say of them."""
        return [*self.answered, *(answer for one in self.corrected for answer in one.answers)]

    @property
    def seeds(self) -> set[int]:
        """The scenes on the screen and of all that was shown and said."""
        return {self.seed, *(one.seed for one in (*self.shown, *self.answers))}

    @property
    def next_seed(self) -> int:
        """A scene that was not on the screen yet."""
        return max([self.seed, *(one.seed for one in self.shown)]) + 1

    def check(self, event: Event) -> None:
        """Refuse what cannot be done now, as far as that can be told without a world.

        Raises:
            BadInputError: says why.
        """
        if isinstance(event, Begun) == self._is_begun:
            raise BadInputError("a session begins once")
        match event:
            case Begun():
                _ = assignment_of_event(event).task
            case Named():
                self._check_new_name(event.name)
            case Proposed() | Forgot():
                self.reassigned(event)
            case Judged(by) if by == RULE and self.assignment.is_invented:
                raise BadInputError(f"{by!r} cannot judge this task")
            case Acted() if len(self.controls) >= LONGEST_DEMONSTRATION:
                raise BadInputError("the demonstration is too long; begin again")
            case Undid() if not self.controls:
                raise BadInputError("there is nothing to undo")
            case Kept() if not self.controls:
                raise BadInputError("nothing was shown yet")
            case Dropped(number) if number >= len(self.shown):
                raise BadInputError(f"there is no demonstration {number}")
            case Withdrew(number) if number >= len(self.corrected):
                raise BadInputError(f"there is no correction {number}")
            case Corrected():
                correction_of_document(event.correction)

    def apply(self, event: Event) -> None:
        """Let an event take effect that was checked."""
        match event:
            case Begun():
                self._is_begun = True
                self.assignment = assignment_of_event(event)
                self.judge = PERSON if self.assignment.is_invented else RULE
            case Named(name):
                self.assignment = replace(self.assignment, name=name)
            case Proposed() | Forgot():
                self.assignment = self.reassigned(event)
            case Judged(by):
                self.judge = by
            case Acted(control):
                self.controls.append(control)
            case Undid():
                self.controls.pop()
            case Restarted():
                self.controls = []
            case Moved(seed):
                self.seed, self.controls = seed, []
            case Kept(is_right, judge):
                seed = self.next_seed
                self.shown.append(Shown(self.seed, tuple(self.controls), is_right, judge))
                self.seed, self.controls = seed, []
            case Dropped(number):
                del self.shown[number]
            case Answered():
                self.answered.append(answer_of(event))
            case Corrected(document, is_law, walks):
                answers = tuple(map(counterexample_of, walks))
                self.corrected.append(Correcting(correction_of_document(document), is_law, answers))
            case Withdrew(number):
                del self.corrected[number]

    def reassigned(self, event: Proposed | Forgot) -> Assignment:
        """What the session is about once labels say one thing more, or less."""
        if isinstance(event, Forgot):
            return self.assignment.without_proposition(event.name)
        return self.assignment.with_proposition(event.name, event.document)

    def _check_new_name(self, name: str) -> None:
        check_name(name)
        if not self.assignment.is_invented:
            raise BadInputError(
                f"{self.assignment.name} is known to others by that name; only a task of your own has one"
            )
        if name in {task.name for task in all_tasks()}:
            raise BadInputError(f"there is a task {name} already")


def assignment_of_event(event: Begun) -> Assignment:
    """What a new session is about."""
    return Assignment(check_name(event.name), event.environment)


def answer_of(event: Answered) -> Shown:
    """What was said of a walk."""
    return Shown(event.seed, event.controls, event.right)


def counterexample_of(walk: Walk) -> Shown:
    """What a correction says of a walk."""
    return Shown(walk.seed, walk.controls, walk.right, weight=walk.weight)
