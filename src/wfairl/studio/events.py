"""Events: what a person does in a session, each a JSON object in its journal.

{"do": "begin", "name": "my-fourrooms", "environment": "MiniGrid-FourRooms-v0"}
{"do": "proposition", "name": "corner", "is": {"is": "at", "x": 1, "y": 1}}     {"do": "forget", "name": "corner"}
{"do": "name", "name": "corner-before-goal"}                             {"do": "judge", "by": "rule"}
{"do": "control", "control": 2}      {"do": "reset"}                     {"do": "scene", "seed": 1000001}
{"do": "keep", "right": true, "by": "person"}                            {"do": "drop", "demonstration": 0}
{"do": "answer", "seed": 7, "controls": [..], "right": false}            {"do": "unanswer", "answer": 0}
{"do": "correct", "correction": {..}, "law": true, "answers": [..]}      {"do": "withdraw", "correction": 0}
{"do": "history", "at": 17}

All but the last are acts. The state of a session is the fold of its acts (`SessionState.after`); "history" goes back to
the state after so many acts, or forward again (`History`). A new act replaces those that were undone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, cast, dataclass_transform, get_args

from annotated_types import Ge, Gt, Lt, MaxLen

from wfairl.core.support.bounds import Count, Seed
from wfairl.core.support.documents import parse
from wfairl.core.support.errors import BadInputError
from wfairl.questions.corrections import Correction, correction_of_document

Judge = Literal["rule", "environment", "person"]
"""What may decide whether a demonstration is right."""

JUDGES = RULE, ENVIRONMENT, PERSON = get_args(Judge)
Control = Annotated[int, Ge(0), Lt(2**16)]
Controls = Annotated[tuple[Control, ...], MaxLen(10_000)]
Weight = Annotated[float, Gt(0)]


@dataclass(frozen=True)
class JudgedPath:
    """Controls in a scene, and whether they fulfil the task; labels follow from the current propositions."""

    seed: Seed
    controls: Controls
    right: bool | None = False  # None if the person was asked and does not know
    judge: Judge = "person"
    weight: Weight = 1.0
    # what happened in each step, where the world slips and the path was not a person's own; else see `Session.walk`
    effects: Controls = ()


@dataclass_transform(frozen_default=True)
class Event:
    """An event; a subclass is a frozen dataclass, and gives the value of its key `do` in the journal.

    Attributes:
        kinds: the subclasses by that value.
        is_durable: whether the event reaches the disk, not only the operating system, before it takes effect.
    """

    kinds: ClassVar[dict[str, type["Event"]]] = {}
    is_durable: ClassVar[bool]

    def __init_subclass__(cls, do: str, is_durable: bool = False) -> None:
        Event.kinds[do] = dataclass(frozen=True)(cls)
        cls.is_durable = is_durable


class SessionStarted(Event, do="begin", is_durable=True):
    """A session started, with a registered task or an environment to invent one in."""

    name: str
    environment: str | None


class Renamed(Event, do="name"):
    """The session was renamed, and with it a task that was invented in it."""

    name: str


class PropositionAdded(Event, do="proposition", is_durable=True):
    """An invented task gained a proposition."""

    name: str
    document: dict[str, Any]


class PropositionRemoved(Event, do="forget"):
    """An invented task lost a proposition, and with it the corrections that name it, here as numbers."""

    name: str
    corrections: tuple[Count, ...] = ()


class JudgeChanged(Event, do="judge"):
    """Another judge decides what is right from now on."""

    by: Judge


class ControlChosen(Event, do="control"):
    """A control was chosen."""

    control: Control


class SceneRestarted(Event, do="reset"):
    """All controls were taken back."""


class SceneChanged(Event, do="scene"):
    """Another scene was chosen."""

    seed: Seed


class DemonstrationSaved(Event, do="keep", is_durable=True):
    """The controls so far became a demonstration, right or wrong."""

    right: bool
    by: Judge


class DemonstrationRemoved(Event, do="drop"):
    """A demonstration was removed."""

    demonstration: Count


class QuestionAnswered(Event, do="answer", is_durable=True):
    """The person said whether a path would be right, or that they do not know."""

    seed: Seed
    controls: Controls
    right: bool | None
    effects: Controls = ()


class AnswerWithdrawn(Event, do="unanswer"):
    """An answer was withdrawn."""

    answer: Count


class CorrectionAdded(Event, do="correct", is_durable=True):
    """The automaton was corrected; a correction that is evidence counts as some answers."""

    correction: dict[str, Any]
    law: bool
    answers: Annotated[tuple[JudgedPath, ...], MaxLen(100)] = ()

    @property
    def parsed(self) -> Correction:
        """The correction itself, or a `BadInputError` if it is none."""
        return correction_of_document(self.correction)


class CorrectionWithdrawn(Event, do="withdraw"):
    """A correction was withdrawn."""

    correction: Count


class HistoryMoved(Event, do="history"):
    """Acts were undone or redone: the session is as it was after the first `at` of them."""

    at: Annotated[int, Ge(1)]


def event_of_document(document: Any) -> Event:
    """Parse an unchecked document. Raises `BadInputError` if it is no event."""
    kind = document.get("do") if isinstance(document, Mapping) else None
    if not isinstance(kind, str) or kind not in Event.kinds:
        raise BadInputError(f"there is no event {kind!r}")
    fields = {("document" if key == "is" else key): value for key, value in document.items() if key != "do"}
    return cast(Event, parse(Event.kinds[kind], fields))
