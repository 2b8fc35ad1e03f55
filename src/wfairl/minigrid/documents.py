"""Tasks in MiniGrid as plain JSON: made without code, in a file that cannot run any.

    {"format": "wfairl-task", "version": 1, "kind": "minigrid", "name": "corner-first", "summary": "...",
     "environment": "MiniGrid-FourRooms-v0", "horizon": 100, "rule": null,
     "propositions": {"corner": {"is": "at", "x": 1, "y": 1}, "goal": {"is": "on", "terrain": "goal"}}}

A task without a rule is defined by demonstrations alone: nothing counts as success by itself.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from wfairl.core.automata.guarded import GuardedAutomaton
from wfairl.core.support.documents import parse
from wfairl.core.support.errors import BadInputError
from wfairl.minigrid.propositions import AgentAt, AgentOn, AwayFromDoor, Carrying, DoorOpen, Facing, Proposition
from wfairl.minigrid.tasks import MiniGridTask

TASK_HEADER = {"format": "wfairl-task", "version": 1, "kind": "minigrid"}

PROPOSITION_KINDS: dict[str, type[Any]] = {
    "at": AgentAt,
    "on": AgentOn,
    "carrying": Carrying,
    "facing": Facing,
    "door open": DoorOpen,
    "away from door": AwayFromDoor,
}
"""The propositions by their names in a document."""

NO_RULE = GuardedAutomaton(((),), np.array([False]))
"""The rule of a task that demonstrations alone define: it accepts nothing."""

INVENTED_HORIZON = 200
"""Steps of an episode of a task that a person invents."""

ENVIRONMENT_ID = re.compile(r"(?!.*(-WFC-|Dynamic-Obstacles))(MiniGrid-|BabyAI-|wfairl/)[\w-]+")
"""Ids that a document may name. The wheel of minigrid cannot make WFC levels; the model does not know moving obstacles.

Gymnasium imports a module that an id names before a colon, so a colon is refused.
"""


def environments() -> tuple[str, ...]:
    """The ids of the environments that a document may name."""
    import gymnasium

    import wfairl.minigrid.environment  # noqa: F401 - registers them

    return tuple(sorted(filter(ENVIRONMENT_ID.fullmatch, gymnasium.registry)))


def task_of_document(document: Any) -> MiniGridTask:
    """The task of a document.

    Raises:
        BadInputError: says what is wrong with it.
    """
    try:
        if any(document[name] != value for name, value in TASK_HEADER.items()):
            raise BadInputError(
                f"not a task of the {', '.join(f'{name} {value}' for name, value in TASK_HEADER.items())}"
            )
        environment = str(document["environment"])
        if not ENVIRONMENT_ID.fullmatch(environment):
            raise BadInputError(f"{environment!r} is not a known environment of MiniGrid or BabyAI")
        propositions = {str(name): proposition_of_document(one) for name, one in document["propositions"].items()}
        rule = NO_RULE if document["rule"] is None else GuardedAutomaton.from_document(document["rule"])
        return MiniGridTask(
            name=str(document["name"]),
            summary=str(document["summary"]),
            environment_id=environment,
            scene_propositions=lambda _: propositions,
            rule=rule,
            horizon=int(document["horizon"]),
        )
    except BadInputError:
        raise
    except KeyError as error:
        raise BadInputError(f"a task without {error}") from None
    except (TypeError, ValueError, AttributeError) as error:
        raise BadInputError(f"not a task ({error})") from None


def invented_document(
    name: str, environment: str, propositions: Mapping[str, Mapping[str, Any]], rule: GuardedAutomaton | None
) -> dict[str, Any]:
    """A task that a person invents in an environment, as a document."""
    return {
        **TASK_HEADER,
        "name": name,
        "summary": f"a task of your own in {environment}",
        "environment": environment,
        "horizon": INVENTED_HORIZON,
        "rule": None if rule is None else rule.to_document(),
        "propositions": {name: dict(one) for name, one in propositions.items()},
    }


def proposition_document(proposition: Proposition) -> dict[str, Any]:
    """A proposition as a document, without what is None."""
    name = next(name for name, kind in PROPOSITION_KINDS.items() if type(proposition) is kind)
    given = {key: value for key, value in asdict(proposition).items() if value is not None}  # type: ignore[call-overload]
    return {"is": name, **given}


def proposition_of_document(document: Any) -> Proposition:
    """The proposition of a document.

    Raises:
        BadInputError: it has an unknown kind, or a part that is missing or of the wrong type.
    """
    kind = document.get("is") if isinstance(document, Mapping) else None
    if not isinstance(kind, str) or kind not in PROPOSITION_KINDS:
        raise BadInputError(f"a proposition is one of {', '.join(PROPOSITION_KINDS)}, not {document!r}")
    given = {name: one for name, one in document.items() if name != "is"}
    proposition: Proposition = parse(PROPOSITION_KINDS[kind], given)
    return proposition
