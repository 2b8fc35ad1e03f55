"""Events: what a person does in a session, each a JSON object in its journal.

{"do": "begin", "name": "my-fourrooms", "environment": "MiniGrid-FourRooms-v0"}
{"do": "proposition", "name": "corner", "is": {"is": "at", "x": 1, "y": 1}}     {"do": "forget", "name": "corner"}
{"do": "name", "name": "corner-before-goal"}                             {"do": "judge", "by": "rule"}
{"do": "control", "control": 2}      {"do": "undo"}      {"do": "reset"}      {"do": "scene", "seed": 1000001}
{"do": "keep", "right": true, "by": "person"}                            {"do": "drop", "demonstration": 0}
{"do": "answer", "seed": 7, "controls": [..], "right": false}
{"do": "correct", "correction": {..}, "law": true, "answers": [..]}      {"do": "withdraw", "correction": 0}
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, Le, Lt

from wfairl.demonstrations.demonstration import LARGEST_SEED
from wfairl.documents import Count, parse
from wfairl.errors import BadInputError

RULE, ENVIRONMENT, PERSON = "rule", "environment", "person"
JUDGES = (RULE, ENVIRONMENT, PERSON)
"""Who says whether a demonstration was right."""

Judge = Literal["rule", "environment", "person"]
Seed = Annotated[int, Ge(0), Le(LARGEST_SEED)]
Control = Annotated[int, Ge(0), Lt(2**16)]
Weight = Annotated[float, Gt(0)]


@dataclass(frozen=True)
class Begun:
    """A session began."""

    name: str
    environment: str | None


@dataclass(frozen=True)
class Named:
    """An invented task got another name."""

    name: str


@dataclass(frozen=True)
class Proposed:
    """Labels say one thing more."""

    name: str
    document: dict[str, Any]


@dataclass(frozen=True)
class Forgot:
    """Labels say one thing less."""

    name: str


@dataclass(frozen=True)
class Judged:
    """From now on somebody else says what is right."""

    by: Judge


@dataclass(frozen=True)
class Acted:
    """A control was chosen."""

    control: Control


@dataclass(frozen=True)
class Undid:
    """The last control was taken back."""


@dataclass(frozen=True)
class Restarted:
    """All controls were taken back."""


@dataclass(frozen=True)
class Moved:
    """Another scene was chosen."""

    seed: Seed


@dataclass(frozen=True)
class Kept:
    """The demonstration was right, or wrong."""

    right: bool
    by: Judge


@dataclass(frozen=True)
class Dropped:
    """A demonstration does not count any more."""

    demonstration: Count


@dataclass(frozen=True)
class Walk:
    """A walk that a correction speaks of: whether it would be right, and how many answers that counts for."""

    seed: Seed
    controls: tuple[Control, ...]
    right: bool = False
    weight: Weight = 1.0


@dataclass(frozen=True)
class Answered:
    """A walk that was asked about would have been right, or wrong."""

    seed: Seed
    controls: tuple[Control, ...]
    right: bool


@dataclass(frozen=True)
class Corrected:
    """The automaton was corrected; a correction that is evidence counts for some answers."""

    correction: dict[str, Any]
    law: bool
    answers: tuple[Walk, ...] = field(default=())


@dataclass(frozen=True)
class Withdrew:
    """A correction does not count any more."""

    correction: Count


Event = (
    Begun | Named | Proposed | Forgot | Judged | Acted | Undid | Restarted | Moved | Kept | Dropped | Answered
    | Corrected | Withdrew
)  # fmt: skip

KINDS: dict[str, Callable[..., Event]] = {
    "begin": Begun,
    "name": Named,
    "proposition": Proposed,
    "forget": Forgot,
    "judge": Judged,
    "control": Acted,
    "undo": Undid,
    "reset": Restarted,
    "scene": Moved,
    "keep": Kept,
    "drop": Dropped,
    "answer": Answered,
    "correct": Corrected,
    "withdraw": Withdrew,
}

DURABLE = (Begun, Kept, Answered, Corrected, Proposed)
"""Events that are on the disk, not only with the operating system, before they take effect."""


def event_of_document(document: Any) -> Event:
    """Read an event, which nobody has checked yet.

    Raises:
        BadInputError: it is none.
    """
    kind = document.get("do") if isinstance(document, Mapping) else None
    if not isinstance(kind, str) or kind not in KINDS:
        raise BadInputError(f"nobody knows how to do {kind!r}")
    fields = {("document" if key == "is" else key): value for key, value in document.items() if key != "do"}
    event: Event = parse(KINDS[kind], fields)
    return event
