"""Which task a session is about: a registered one, by its name, or one that a person invents in an environment.

A `TaskSpec` is plain JSON in the journal and in messages to workers; each process makes its own task from it, so no
code travels. The rule of an invented task is what was learned of it; until then nothing counts as success by itself.

A kind of world (`task_registry.KINDS`) lets people invent tasks through a module with

    environments()                                  the environments in which a task can be defined
    invented_document(name, environment, ...)       such a task as a document
    task_of_document(document)                      the task of a document
    proposition_of_document(document)               refuses what is not a proposition

and through worlds that are `Inventive`.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Protocol, runtime_checkable

from wfairl.core.automata.guarded import GuardedAutomaton
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.task import Task
from wfairl.runs.task_registry import KINDS, all_tasks, find_task, task_of_document

NAME, LONGEST_PROPOSITION = re.compile(r"[a-z0-9][a-z0-9.-]{0,59}"), 40
"""Names of sessions and invented tasks, none of which is a path, and the longest name of a proposition."""


@runtime_checkable
class Inventive(Protocol):
    """A world in which a person can choose the propositions."""

    def proposition_menu(self) -> Iterable[tuple[str, dict[str, Any]]]:
        """The propositions of the scene, in words and as documents."""
        ...

    @property
    def meanings(self) -> Mapping[str, str]:
        """What some of its propositions say, in words, by name."""
        ...

    def cell_at(self, x: float, y: float) -> tuple[int, int]:
        """The cell at a pixel of the scene's image. Raises `BadInputError` if the agent can never be there."""
        ...


def environments() -> dict[str, str]:
    """The environments in which tasks can be defined, with the kind of each."""
    return {name: kind for kind in KINDS for name in KINDS[kind].environments()}


def check_name(name: str) -> str:
    """Return a valid name. Raises `BadInputError` if it is not valid, a path for example."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        example = "such as corner-before-goal"
        raise BadInputError(f"a name has at most 60 lower-case letters, digits, dots and hyphens, {example}")
    return name


@dataclass(frozen=True)
class TaskSpec:
    """A registered or an invented task. Raises `BadInputError` if its name is not valid."""

    name: str  # of the task
    environment: str | None = None  # the Gymnasium id for an invented task; None for a registered one
    propositions: dict[str, dict[str, Any]] = field(default_factory=dict)  # invented, as in `minigrid.documents`

    def __post_init__(self) -> None:
        check_name(self.name)

    @property
    def is_invented(self) -> bool:
        """Whether a person defines its propositions."""
        return self.environment is not None

    @property
    def has_rule(self) -> bool:
        """Whether the task itself can judge a demonstration."""
        return not self.is_invented and self.task.rule is not None

    @property
    def task(self) -> Task:
        """The task; the same object for equal specs. Raises `BadInputError` if there is no such task."""
        return _invented_task(json.dumps(self.to_document(None))) if self.is_invented else find_task(self.name)

    @property
    def world_key(self) -> str:
        """What its worlds depend on: equal for specs that have the same worlds."""
        return json.dumps([self.environment or self.name, self.propositions])

    def task_with(self, model: TaskModel | None) -> Task:
        """The task; an invented one has the learned automaton as its rule."""
        return task_of_document(self.to_document(model)) if model is not None and self.is_invented else self.task

    def to_document(self, model: TaskModel | None) -> dict[str, Any]:
        """An invented task and its rule, for `wfairl --tasks`. Raises `BadInputError` if its environment is unknown."""
        assert self.environment is not None
        automaton = None if model is None else model.automaton
        rule = automaton if isinstance(automaton, GuardedAutomaton) else None
        kinds = environments()
        if self.environment not in kinds:
            raise BadInputError(f"{self.environment!r} is not an environment of MiniGrid or BabyAI that is known")
        kind = KINDS[kinds[self.environment]]
        return dict(kind.invented_document(self.name, self.environment, self.propositions, rule))

    def with_proposition(self, name: str, document: dict[str, Any]) -> "TaskSpec":
        """The spec with one more proposition. Raises `BadInputError` if its name or its document is not valid."""
        if self.environment is None:
            raise BadInputError(f"the propositions of {self.name} are fixed; invent a task of your own")
        name = name.strip()
        if not 0 < len(name) <= LONGEST_PROPOSITION or not name.isprintable() or "&" in name or "!" in name:
            raise BadInputError(f"a proposition has a name of 1 to {LONGEST_PROPOSITION} characters without & and !")
        if name in self.propositions:
            raise BadInputError(f"there is already a proposition {name}")
        KINDS[environments()[self.environment]].proposition_of_document(document)
        return replace(self, propositions={**self.propositions, name: document})

    def without_proposition(self, name: str) -> "TaskSpec":
        """The spec without a proposition."""
        if name not in self.propositions:
            raise BadInputError(f"there is no proposition {name}")
        return replace(self, propositions={key: one for key, one in self.propositions.items() if key != name})


@lru_cache(256)
def _invented_task(document: str) -> Task:
    return task_of_document(json.loads(document))


def find_task_spec(text: str) -> TaskSpec:
    """The spec of a task, or of an environment to invent one in. Raises `BadInputError` if it is neither."""
    if text not in environments() or text in {task.name for task in all_tasks()}:
        return TaskSpec(find_task(text).name)  # its error lists the tasks
    words = re.sub(r"^(MiniGrid-|BabyAI-|wfairl/)|-v\d+$", "", text)
    return TaskSpec("my-" + re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:50], text)
