"""Events: what a person does in a session, each a JSON object in its journal; the state of a session is their fold.

{"do": "begin", "name": "my-fourrooms", "environment": "MiniGrid-FourRooms-v0"}
{"do": "proposition", "name": "corner", "is": {"is": "at", "x": 1, "y": 1}}     {"do": "forget", "name": "corner"}
{"do": "name", "name": "corner-before-goal"}                             {"do": "judge", "by": "rule"}
{"do": "control", "control": 2}      {"do": "undo"}      {"do": "reset"}      {"do": "scene", "seed": 1000001}
{"do": "keep", "right": true, "by": "person"}                            {"do": "drop", "demonstration": 0}
{"do": "answer", "seed": 7, "controls": [..], "right": false}
{"do": "correct", "correction": {..}, "law": true, "answers": [..]}      {"do": "withdraw", "correction": 0}
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge, Gt, Lt

from wfairl.core.demonstrations.collection import FIRST_TRAINING_SEED
from wfairl.core.support.bounds import Count, Seed
from wfairl.core.support.documents import parse
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.task_registry import all_tasks
from wfairl.questions.corrections import Correction, correction_of_document
from wfairl.studio.task_spec import TaskSpec

LONGEST_DEMONSTRATION = 10_000

RULE, ENVIRONMENT, PERSON = "rule", "environment", "person"
JUDGES = (RULE, ENVIRONMENT, PERSON)
"""What may decide whether a demonstration is right."""

Judge = Literal["rule", "environment", "person"]
Control = Annotated[int, Ge(0), Lt(2**16)]
Weight = Annotated[float, Gt(0)]


@dataclass(frozen=True)
class JudgedPath:
    """Controls in a scene, and whether they fulfil the task; labels follow from the current propositions."""

    seed: Seed
    controls: tuple[Control, ...]
    right: bool = False
    judge: Judge = "person"
    weight: Weight = 1.0


class Event:
    """An event; a subclass gives the value of its key `do` in the journal.

    Attributes:
        kinds: the subclasses by that value.
        is_durable: whether the event reaches the disk, not only the operating system, before it takes effect.
        changes_dataset: whether the files of the session have to be written again.
    """

    kinds: ClassVar[dict[str, type["Event"]]] = {}
    is_durable: ClassVar[bool]
    changes_dataset: ClassVar[bool]

    def __init_subclass__(cls, do: str, is_durable: bool = False, changes_dataset: bool = False) -> None:
        Event.kinds[do] = cls
        cls.is_durable, cls.changes_dataset = is_durable, changes_dataset


@dataclass(frozen=True)
class SessionStarted(Event, do="begin", is_durable=True):
    """A session started, with a registered task or an environment to invent one in."""

    name: str
    environment: str | None


@dataclass(frozen=True)
class TaskRenamed(Event, do="name", changes_dataset=True):
    """An invented task was renamed."""

    name: str


@dataclass(frozen=True)
class PropositionAdded(Event, do="proposition", is_durable=True, changes_dataset=True):
    """An invented task gained a proposition."""

    name: str
    document: dict[str, Any]


@dataclass(frozen=True)
class PropositionRemoved(Event, do="forget", changes_dataset=True):
    """An invented task lost a proposition."""

    name: str


@dataclass(frozen=True)
class JudgeChanged(Event, do="judge"):
    """Another judge decides what is right from now on."""

    by: Judge


@dataclass(frozen=True)
class ControlChosen(Event, do="control"):
    """A control was chosen."""

    control: Control


@dataclass(frozen=True)
class ControlUndone(Event, do="undo"):
    """The last control was undone."""


@dataclass(frozen=True)
class SceneRestarted(Event, do="reset"):
    """All controls were undone."""


@dataclass(frozen=True)
class SceneChanged(Event, do="scene"):
    """Another scene was chosen."""

    seed: Seed


@dataclass(frozen=True)
class DemonstrationSaved(Event, do="keep", is_durable=True, changes_dataset=True):
    """The controls so far became a demonstration, right or wrong."""

    right: bool
    by: Judge


@dataclass(frozen=True)
class DemonstrationRemoved(Event, do="drop", changes_dataset=True):
    """A demonstration was removed."""

    demonstration: Count


@dataclass(frozen=True)
class QuestionAnswered(Event, do="answer", is_durable=True, changes_dataset=True):
    """The person said whether a path would be right."""

    seed: Seed
    controls: tuple[Control, ...]
    right: bool


@dataclass(frozen=True)
class CorrectionAdded(Event, do="correct", is_durable=True, changes_dataset=True):
    """The automaton was corrected; a correction that is evidence counts as some answers."""

    correction: dict[str, Any]
    law: bool
    answers: tuple[JudgedPath, ...] = ()

    @property
    def parsed(self) -> Correction:
        """The correction itself, or a `BadInputError` if it is none."""
        return correction_of_document(self.correction)


@dataclass(frozen=True)
class CorrectionWithdrawn(Event, do="withdraw", changes_dataset=True):
    """A correction was withdrawn."""

    correction: Count


def event_of_document(document: Any) -> Event:
    """Parse an unchecked document. Raises `BadInputError` if it is no event."""
    kind = document.get("do") if isinstance(document, Mapping) else None
    if not isinstance(kind, str) or kind not in Event.kinds:
        raise BadInputError(f"there is no event {kind!r}")
    fields = {("document" if key == "is" else key): value for key, value in document.items() if key != "do"}
    event: Event = parse(Event.kinds[kind], fields)
    return event


class SessionState:
    """Everything that a person has done so far. It knows no world, no file and no browser.

    Attributes:
        spec: the task; unset before the first event.
        seed, controls: of the current, unfinished demonstration.
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
                self.begun_as = environment or name
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
