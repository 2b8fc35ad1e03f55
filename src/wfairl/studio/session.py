"""A session: what a person has done so far, in worlds and in files. It knows no browser.

Everything that changes it is an event (`events`) that goes into the journal before it takes effect. A session that is
opened again replays them. Beside the journal lie ordinary files for every other command: `demos.safetensors`,
`task.json` and, for an invented task, `NAME.task.json` for `wfairl --tasks`.
"""

from collections.abc import Mapping
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import Any

from wfairl.automata.automaton import DEAD, Label
from wfairl.automata.task_model import TaskModel
from wfairl.demonstrations import storage
from wfairl.demonstrations.answers import Answer
from wfairl.demonstrations.demonstration import FAILURE_SCORE, SUCCESS_SCORE, Dataset, Demonstration, replay
from wfairl.errors import BadInputError
from wfairl.files import write_json
from wfairl.logic.corrections import LAWS
from wfairl.logic.learners import ANSWERS
from wfairl.studio.assignment import Assignment, check_name
from wfairl.studio.events import (
    DURABLE,
    ENVIRONMENT,
    RULE,
    Acted,
    Answered,
    Begun,
    Corrected,
    Dropped,
    Event,
    Forgot,
    Kept,
    Moved,
    Named,
    Proposed,
    Withdrew,
    event_of_document,
)
from wfairl.studio.journal import BrokenJournalError, Journal
from wfairl.studio.scenes import SceneStore
from wfairl.studio.story import Shown, Story, answer_of, assignment_of_event, counterexample_of
from wfairl.worlds.task import Task
from wfairl.worlds.world import World, available_controls

JOURNAL, DEMONSTRATIONS, TASK_MODEL, RUN = "journal.jsonl", "demos.safetensors", "task.json", "run"


class Session(Story):
    """A session in a directory; a new one if there is none. Opening one makes no world.

    Args:
        directory: where it is kept.
        assignment: what a new session is about; None to open one that is there.
        scenes: where worlds are kept.

    Attributes:
        name: of the session, that of its directory.
        model: what was learned last; it may be behind what was shown since.
    """

    def __init__(self, directory: Path, assignment: Assignment | None = None, scenes: SceneStore | None = None) -> None:
        super().__init__()
        self.directory = directory
        self.name = check_name(directory.name)
        self.scenes = scenes or SceneStore()
        self.model: TaskModel | None = None
        self._journal = Journal(directory / JOURNAL)
        self._place: int | None = None
        self._walked: list[int] = []
        self._states: list[Any] = []
        self._labels: list[Label] = []
        self._replayed: dict[Shown, Demonstration] = {}
        for number, document in enumerate(self._journal.read(), start=1):
            try:
                event = event_of_document(document)
                self.check(event)
                self.apply(event)
            except BadInputError as error:
                raise BrokenJournalError(f"{self._journal.path}: event {number}: {error}") from None
        if not self._is_begun:
            if assignment is None:
                raise BadInputError(f"{directory}: no session")
            self.do({"do": "begin", "name": assignment.name, "environment": assignment.environment})
        elif (directory / TASK_MODEL).exists():
            with suppress(BadInputError):  # of another version, or broken: it is learned again from what was shown
                self.model = TaskModel.load(directory / TASK_MODEL)

    @property
    def task(self) -> Task:
        """What is demonstrated; an invented task has no rule here."""
        return self.assignment.task

    @property
    def world(self) -> World[Any]:
        """The scene on the screen."""
        return self.scenes.world(self.assignment, self.seed)

    @property
    def states(self) -> list[Any]:
        """Of the demonstration being made, one more than controls."""
        self._walk()
        return self._states

    @property
    def labels(self) -> list[Label]:
        """Of the demonstration being made, as many as controls."""
        self._walk()
        return self._labels

    @property
    def dataset(self) -> Dataset:
        """What was shown and said, as any other command knows it."""
        demonstrations = tuple(self._replay(one) for one in self.shown)
        answers = (
            Answer(one.seed, one.controls, self._replay(one).labels, one.is_right, one.weight) for one in self.answers
        )
        return Dataset(self.task.name, demonstrations, None, tuple(answers))

    @property
    def is_understood(self) -> bool:
        """Whether the model was learned from all that was shown and said."""
        answers = len(self.answers)
        if self.model is None:
            return not any(one.is_right for one in self.shown)
        facts, laws = self.model.facts, [law.to_document() for law in self.laws]
        heard = facts.get(ANSWERS, answers) == answers and facts.get(LAWS, []) == laws
        return heard and self.model.summary.words == len(self.shown)

    @property
    def verdict(self) -> bool | None:
        """Whether what was done so far is right, as the rule or the environment says; None if neither says so yet."""
        if not self.controls:
            return None
        if self.judge == RULE:
            path = self.task.rule.run(self.labels)
            if path[-1] != DEAD and self.task.rule.accepting[path[-1]]:
                return True
            return False if path[-1] == DEAD or self._is_over() else None
        if self.judge == ENVIRONMENT and self._is_over():
            simulator = self.task.make_simulator(self.seed)
            for control in self.controls:
                simulator.step(control)
            return bool(getattr(simulator, "rewarded", False))
        return None

    def scenery(self, document: Any) -> tuple[Assignment, set[int]]:
        """The scenes whose worlds an event needs.

        Raises:
            BadInputError: it is no event, or cannot be done now.
        """
        event = event_of_document(document)
        self.check(event)
        return self._scenery(event)

    def _scenery(self, event: Event) -> tuple[Assignment, set[int]]:
        match event:
            case Begun():
                return assignment_of_event(event), {self.seed}
            case Proposed() | Forgot():
                return self.reassigned(event), {*self.seeds, self.next_seed}
            case Kept():
                return self.assignment, {self.seed, self.next_seed}
            case Moved(seed) | Answered(seed):
                return self.assignment, {self.seed, seed}
            case Corrected(_, _, walks):
                return self.assignment, {self.seed, *(walk.seed for walk in walks)}
        return self.assignment, {self.seed}

    def do(self, document: Mapping[str, Any]) -> None:
        """Take in an event: it is checked, written, and then takes effect.

        Raises:
            BadInputError: it cannot be done now, or is no event; nothing was written.
        """
        event = event_of_document(document)
        self.check(event)
        self._check_in_worlds(event)
        self._journal.append(document, durable=isinstance(event, DURABLE))
        if isinstance(event, Proposed | Forgot):
            (self.directory / TASK_MODEL).unlink(missing_ok=True)  # it speaks of other propositions
        if isinstance(event, Named):
            (self.directory / self.task_file).unlink(missing_ok=True)
        self.apply(event)
        if isinstance(event, Proposed | Forgot):
            self.model = None
            self._place, self._replayed = None, {}  # labels say other things now
        if isinstance(event, Kept | Dropped | Answered | Corrected | Withdrew | Proposed | Forgot | Named):
            self.save_dataset()

    def learned(self, model: TaskModel) -> None:
        """Keep what was learned."""
        self.model = model
        model.save(self.directory / TASK_MODEL)
        self._save_task()

    def save_dataset(self) -> None:
        """Write the demonstrations, and an invented task beside them."""
        if self.shown:
            storage.save(self.dataset, self.directory / DEMONSTRATIONS)
        else:
            (self.directory / DEMONSTRATIONS).unlink(missing_ok=True)
        self._save_task()

    def _save_task(self) -> None:
        if self.assignment.is_invented:
            write_json(self.directory / self.task_file, self.assignment.to_document(self.model))

    @property
    def task_file(self) -> str:
        """Where an invented task is kept."""
        return f"{self.assignment.name}.task.json"

    def _check_in_worlds(self, event: Event) -> None:
        """Refuse what cannot be in the worlds that an event is about."""
        assignment, seeds = self._scenery(event)
        for seed in seeds:  # what a scene lacks is refused here
            self.scenes.world(assignment, seed)
        match event:
            case Acted(control):
                self._check_control(control, self.states[-1])
            case Kept(right=True) if not any(self.labels):
                raise BadInputError("nothing that labels are about has happened: say what they are about, or go on")
            case Answered():
                self._replay(answer_of(event))
            case Corrected(_, _, walks):
                for walk in walks:
                    self._replay(counterexample_of(walk))

    def _check_control(self, control: int, state: Any) -> None:
        if control >= len(self.world.controls):
            raise BadInputError(f"{control!r} is no control")
        if not available_controls(self.world, state)[control]:
            raise BadInputError(f"{self.world.controls[control]} cannot be chosen here")

    def _walk(self) -> None:
        """Bring states and labels to where the controls are; what was walked before is not walked again."""
        if self._place != self.seed:
            self._place, self._walked, self._labels, self._states = self.seed, [], [], [self.world.initial_state]
        pairs = zip(self._walked, self.controls, strict=False)
        known = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        del self._walked[known:], self._labels[known:], self._states[known + 1 :]
        for control in self.controls[known:]:
            before = self._states[-1]
            self._check_control(control, before)
            self._states.append(self.world.step(before, control))
            self._labels.append(self.world.label(before, control, self._states[-1]))
            self._walked.append(control)

    def _replay(self, one: Shown) -> Demonstration:
        if one not in self._replayed:
            score = SUCCESS_SCORE if one.is_right else FAILURE_SCORE
            self._replayed[one] = replay(self.scenes.world(self.assignment, one.seed), one.controls, score, one.seed)
        return self._replayed[one]

    def _is_over(self) -> bool:
        is_final = getattr(self.world, "is_final", None)
        return len(self.controls) >= self.task.horizon or (is_final is not None and bool(is_final(self.states[-1])))
