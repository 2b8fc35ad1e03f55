"""Tasks that a person invents without code, as plain JSON by the kind of their world.

A kind of world (`task_registry.KINDS`) offers this through a module with

    environments()                                  the environments in which a task can be defined
    invented_document(name, environment, ...)       such a task as a document
    task_of_document(document)                      the task of a document
    proposition_of_document(document)               refuses what is not a proposition

and its worlds through a method `proposition_menu()`: the propositions of a scene, in words and as documents.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, runtime_checkable

from wfairl.core.automata.guarded import GuardedAutomaton
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.task_registry import KINDS


@runtime_checkable
class Inventive(Protocol):
    """A world in which a person can choose the propositions."""

    def proposition_menu(self) -> Iterable[tuple[str, dict[str, Any]]]:
        """The propositions of the scene, in words and as documents."""
        ...

    def cell_at(self, x: float, y: float) -> tuple[int, int]:
        """The cell at a pixel of the scene's image.

        Raises:
            BadInputError: the agent can never be there.
        """
        ...


def environments() -> dict[str, str]:
    """The environments in which tasks can be defined, with the kind of each."""
    return {name: kind for kind in KINDS for name in KINDS[kind].environments()}


def invented_document(
    name: str, environment: str, propositions: Mapping[str, Mapping[str, Any]], rule: GuardedAutomaton | None
) -> dict[str, Any]:
    """A task as a document; without a rule, only demonstrations define it.

    Raises:
        BadInputError: there is no such environment.
    """
    kinds = environments()
    if environment not in kinds:
        raise BadInputError(f"{environment!r} is not an environment of MiniGrid or BabyAI that is known")
    document: dict[str, Any] = KINDS[kinds[environment]].invented_document(name, environment, propositions, rule)
    return document


def check_proposition(environment: str, document: Any) -> None:
    """Raise `BadInputError`, with the reason, if a document is not a proposition about an environment."""
    KINDS[environments()[environment]].proposition_of_document(document)
