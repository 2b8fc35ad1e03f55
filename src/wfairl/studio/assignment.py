"""What a session is about: a task that is known by its name, or one that a person invents in a MiniGrid environment.

An assignment is plain JSON in the journal and in messages to workers; each makes its own task of it, so that no code
travels. The rule of an invented task is what was learned of it; until then nothing counts as success by itself.
"""

import json
import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from wfairl.automata.guarded import GuardedAutomaton
from wfairl.automata.task_model import TaskModel
from wfairl.errors import BadInputError
from wfairl.worlds.documents import check_proposition, environments, invented_document, task_of_document
from wfairl.worlds.registry import all_tasks, find_task
from wfairl.worlds.task import Task

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")
"""What a session or an invented task may be called; no name is a path."""

LONGEST_PROPOSITION = 40


def check_name(name: str) -> str:
    """A name, if it is one.

    Raises:
        BadInputError: it is not, a path for example.
    """
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise BadInputError("a name has small letters, digits and hyphens, at most 60, such as corner-before-goal")
    return name


@dataclass(frozen=True)
class Assignment:
    """What to demonstrate.

    Attributes:
        name: of the task.
        environment: Gymnasium's id, for an invented task; None for one that is known by its name.
        propositions: of an invented task, each as `worlds.documents` has it.
    """

    name: str
    environment: str | None = None
    propositions: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def is_invented(self) -> bool:
        """Whether a person says what labels are about."""
        return self.environment is not None

    @property
    def task(self) -> Task:
        """The task; the same object for equal assignments.

        Raises:
            BadInputError: there is none.
        """
        if not self.is_invented:
            return find_task(self.name)
        return _invented(json.dumps(self.to_document(None)))

    @property
    def scenery(self) -> str:
        """What its worlds follow from: equal for assignments that have the same ones."""
        return json.dumps([self.environment or self.name, self.propositions])

    def task_with(self, model: TaskModel | None) -> Task:
        """The task; an invented one with what was learned of it as its rule."""
        if model is None or not self.is_invented:
            return self.task
        return task_of_document(self.to_document(model))

    def to_document(self, model: TaskModel | None) -> dict[str, Any]:
        """An invented task, with what was learned of it, as the document that `wfairl --tasks` reads."""
        assert self.environment is not None
        automaton = None if model is None else model.automaton
        rule = automaton if isinstance(automaton, GuardedAutomaton) else None
        return invented_document(self.name, self.environment, self.propositions, rule)

    def with_proposition(self, name: str, document: dict[str, Any]) -> "Assignment":
        """The assignment with one more proposition.

        Raises:
            BadInputError: the name is no name or is taken, or there is no such proposition.
        """
        if self.environment is None:
            raise BadInputError(f"what labels of {self.name} are about is fixed; invent a task of your own")
        name = name.strip()
        if not 0 < len(name) <= LONGEST_PROPOSITION or not name.isprintable() or "&" in name or "!" in name:
            raise BadInputError(f"a proposition has a name of 1 to {LONGEST_PROPOSITION} characters without & and !")
        if name in self.propositions:
            raise BadInputError(f"there is a proposition {name} already")
        check_proposition(self.environment, document)
        return replace(self, propositions={**self.propositions, name: document})

    def without_proposition(self, name: str) -> "Assignment":
        """The assignment without a proposition."""
        if name not in self.propositions:
            raise BadInputError(f"there is no proposition {name}")
        return replace(self, propositions={key: one for key, one in self.propositions.items() if key != name})


@lru_cache(256)
def _invented(document: str) -> Task:
    return task_of_document(json.loads(document))


def assignment_of(text: str) -> Assignment:
    """What a person names on the command line or chooses from a list: a task, or an environment to invent one in.

    Raises:
        BadInputError: it is neither.
    """
    if text in {task.name for task in all_tasks()}:
        return Assignment(text)
    if text in environments():
        return Assignment(_plain(text), text)
    find_task(text)  # its error lists the tasks
    raise AssertionError(text)


def _plain(environment: str) -> str:
    """A name for a task in an environment: `my-fourrooms`."""
    words = re.sub(r"^(MiniGrid-|BabyAI-|wfairl/)|-v\d+$", "", environment)
    return check_name("my-" + re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:50])
