"""The state of a session: the fold of its events. It knows no world, no file and no browser."""

from dataclasses import replace

from wfairl.core.demonstrations.collection import FIRST_TRAINING_SEED
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.task_registry import all_tasks
from wfairl.questions.corrections import Correction
from wfairl.studio.events import (
    PERSON,
    RULE,
    ControlChosen,
    ControlUndone,
    CorrectionAdded,
    CorrectionWithdrawn,
    DemonstrationRemoved,
    DemonstrationSaved,
    Event,
    JudgeChanged,
    JudgedPath,
    PropositionAdded,
    PropositionRemoved,
    QuestionAnswered,
    SceneChanged,
    SceneRestarted,
    SessionStarted,
    TaskRenamed,
)
from wfairl.studio.task_spec import TaskSpec

LONGEST_DEMONSTRATION = 10_000


class SessionState:
    """Everything that a person has done so far.

    Attributes:
        spec: the task; unset before the first event.
        seed: the current scene.
        controls: of the current, unfinished demonstration.
        demonstrations: those that were saved.
        answers: to questions.
        corrections: those that were not withdrawn.
        judge: what decides whether a demonstration is right.
    """

    spec: TaskSpec

    def __init__(self) -> None:
        self.seed = FIRST_TRAINING_SEED
        self.controls: list[int] = []
        self.demonstrations: list[JudgedPath] = []
        self.answers: list[JudgedPath] = []
        self.corrections: list[CorrectionAdded] = []
        self.judge = PERSON
        self._is_started = False

    @property
    def laws(self) -> tuple[Correction, ...]:
        """The corrections that are laws."""
        return tuple(one.parsed for one in self.corrections if one.law)

    @property
    def all_answers(self) -> list[JudgedPath]:
        """The answers to questions, and those that corrections count as."""
        return [*self.answers, *(answer for one in self.corrections for answer in one.answers)]

    @property
    def seeds(self) -> set[int]:
        """The current scene, and those of all demonstrations and answers."""
        return {self.seed, *(one.seed for one in (*self.demonstrations, *self.all_answers))}

    @property
    def next_seed(self) -> int:
        """A scene that was not shown yet."""
        return max([self.seed, *(one.seed for one in self.demonstrations)]) + 1

    def check(self, event: Event) -> None:
        """Refuse an event that is not possible now, as far as this can be decided without a world.

        Raises:
            BadInputError: says why.
        """
        if isinstance(event, SessionStarted) == self._is_started:
            raise BadInputError("a session starts exactly once")
        match event:
            case SessionStarted(name, environment):
                _ = TaskSpec(name, environment).task
            case TaskRenamed(name):
                self._check_new_name(name)
            case PropositionAdded() | PropositionRemoved():
                self.changed_spec(event)
            case JudgeChanged(by) if by == RULE and self.spec.is_invented:
                raise BadInputError(f"{by!r} cannot judge this task")
            case ControlChosen() if len(self.controls) >= LONGEST_DEMONSTRATION:
                raise BadInputError("the demonstration is too long; start over")
            case ControlUndone() if not self.controls:
                raise BadInputError("there is nothing to undo")
            case DemonstrationSaved() if not self.controls:
                raise BadInputError("there is nothing to save yet")
            case DemonstrationRemoved(number) if number >= len(self.demonstrations):
                raise BadInputError(f"there is no demonstration {number}")
            case CorrectionWithdrawn(number) if number >= len(self.corrections):
                raise BadInputError(f"there is no correction {number}")
            case CorrectionAdded():
                _ = event.parsed

    def apply(self, event: Event) -> None:
        """Change the state by an event that was checked."""
        match event:
            case SessionStarted(name, environment):
                self._is_started = True
                self.spec = TaskSpec(name, environment)
                self.judge = PERSON if self.spec.is_invented else RULE
            case TaskRenamed(name):
                self.spec = replace(self.spec, name=name)
            case PropositionAdded() | PropositionRemoved():
                self.spec = self.changed_spec(event)
            case JudgeChanged(by):
                self.judge = by
            case ControlChosen(control):
                self.controls.append(control)
            case ControlUndone():
                self.controls.pop()
            case SceneRestarted():
                self.controls = []
            case SceneChanged(seed):
                self.seed, self.controls = seed, []
            case DemonstrationSaved(right, judge):
                seed = self.next_seed
                self.demonstrations.append(JudgedPath(self.seed, tuple(self.controls), right, judge))
                self.seed, self.controls = seed, []
            case DemonstrationRemoved(number):
                del self.demonstrations[number]
            case QuestionAnswered(seed, controls, right):
                self.answers.append(JudgedPath(seed, controls, right))
            case CorrectionAdded():
                self.corrections.append(event)
            case CorrectionWithdrawn(number):
                del self.corrections[number]

    def changed_spec(self, event: PropositionAdded | PropositionRemoved) -> TaskSpec:
        """The spec once a proposition is added or removed."""
        if isinstance(event, PropositionRemoved):
            return self.spec.without_proposition(event.name)
        return self.spec.with_proposition(event.name, event.document)

    def _check_new_name(self, name: str) -> None:
        replace(self.spec, name=name)
        if not self.spec.is_invented:
            raise BadInputError(f"{self.spec.name} cannot be renamed; only a task of your own can")
        if name in {task.name for task in all_tasks()}:
            raise BadInputError(f"there is already a task {name}")
