"""A session in a directory: its state, its worlds and its files. It knows no browser.

Everything that changes a session is an event (`events`), which goes into the journal before it takes effect; opening a
session replays its journal. Beside the journal are ordinary files for every other command: `demos.safetensors`,
`task.json` and, for an invented task, `NAME.task.json` for `wfairl --tasks`.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from wfairl.core.automata.automaton import DEAD
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.demonstrations import storage
from wfairl.core.demonstrations.answers import Answer
from wfairl.core.demonstrations.demonstration import FAILURE_SCORE, SUCCESS_SCORE, Dataset, Demonstration, replay
from wfairl.core.planning.path import Walk
from wfairl.core.rational.task_posterior import posterior_of
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.files import write_json
from wfairl.core.worlds.simulator import ModelSimulator
from wfairl.core.worlds.task import Task
from wfairl.core.worlds.world import World, available_controls
from wfairl.studio.events import (
    ENVIRONMENT,
    RULE,
    ControlChosen,
    CorrectionAdded,
    DemonstrationSaved,
    Event,
    JudgedPath,
    PropositionAdded,
    PropositionRemoved,
    QuestionAnswered,
    SceneChanged,
    SessionStarted,
    SessionState,
    TaskRenamed,
    event_of_document,
)
from wfairl.studio.journal import BrokenJournalError, Journal
from wfairl.studio.task_spec import TaskSpec, check_name
from wfairl.studio.world_cache import WorldCache

JOURNAL, DEMONSTRATIONS, TASK_MODEL, RUN = "journal.jsonl", "demos.safetensors", "task.json", "run"


class Session(SessionState):
    """A session in a directory; opening one makes no world.

    Args:
        spec: the task of a new session; None to open an existing one.

    Attributes:
        name: of the session, that of its directory.
        model: what was learned last; it may lack the latest events.
    """

    def __init__(self, directory: Path, spec: TaskSpec | None = None, worlds: WorldCache | None = None) -> None:
        super().__init__()
        self.directory = directory
        self.name = check_name(directory.name)
        self.worlds = worlds or WorldCache()
        self.model: TaskModel | None = None
        self._journal = Journal(directory / JOURNAL)
        self._walk: Walk | None = None
        self._replays: dict[JudgedPath, Demonstration] = {}
        for number, document in enumerate(self._journal.read(), start=1):
            try:
                event = self.parse(document)
                self.apply(event)
            except BadInputError as error:
                raise BrokenJournalError(f"{self._journal.path}: event {number}: {error}") from None
        if not self._is_started:
            if spec is None:
                raise BadInputError(f"{directory}: no session")
            self.do({"do": "begin", "name": spec.name, "environment": spec.environment})
        elif (directory / TASK_MODEL).exists():
            with suppress(BadInputError):  # of another version, or broken: it is learned again
                self.model = TaskModel.load(directory / TASK_MODEL)

    @property
    def title(self) -> str:
        """The name of the session for people."""
        return self.spec.name

    @property
    def task(self) -> Task:
        """The task; an invented one has no rule here."""
        return self.spec.task

    @property
    def world(self) -> World[Any]:
        """The world of the current scene."""
        return self.worlds.world(self.spec, self.seed)

    @property
    def walk(self) -> Walk:
        """The current demonstration in its world; only controls that are new are taken."""
        walk = self._walk
        if walk is None or walk.world is not self.world or walk.controls != self.controls[: len(walk)]:
            walk = self._walk = Walk(ModelSimulator(self.world))
        for control in self.controls[len(walk) :]:
            self._check_control(control, walk.states[-1])
            walk.take(control)
        return walk

    @property
    def dataset(self) -> Dataset:
        """Demonstrations and answers."""
        demonstrations = tuple(self._replay(one) for one in self.demonstrations)
        answers = (
            Answer(one.seed, one.controls, self._replay(one).labels, one.right, one.weight) for one in self.all_answers
        )
        return Dataset(self.task.name, demonstrations, None, tuple(answers))

    @property
    def has_success(self) -> bool:
        """Whether any demonstration is right: without one, nothing can be learned."""
        return any(one.right for one in self.demonstrations)

    @property
    def is_current(self) -> bool:
        """Whether the model was learned from all demonstrations, answers and laws."""
        if self.model is None:
            return not self.has_success
        if self.model.summary.words != len(self.demonstrations):
            return False
        posterior = posterior_of(self.model)
        if posterior is None:
            return not self.laws
        laws = [law.to_document() for law in self.laws]
        return posterior.answers == len(self.all_answers) and list(posterior.laws) == laws

    @property
    def verdict(self) -> bool | None:
        """Whether the current demonstration is right by the rule or the environment; None if undecided."""
        if not self.controls:
            return None
        if self.judge == RULE:
            path = self.task.rule.run(self.walk.labels)
            if path[-1] != DEAD and self.task.rule.accepting[path[-1]]:
                return True
            return False if path[-1] == DEAD or self._is_over() else None
        if self.judge == ENVIRONMENT and self._is_over():
            simulator = self.task.make_simulator(self.seed)
            for control in self.controls:
                simulator.step(control)
            return bool(getattr(simulator, "rewarded", False))
        return None

    def parse(self, document: Any) -> Event:
        """Parse and check an event, as far as this needs no world.

        Raises:
            BadInputError: it is no event, or not possible now.
        """
        event = event_of_document(document)
        self.check(event)
        return event

    def required_worlds(self, event: Event) -> tuple[TaskSpec, set[int]]:
        """The spec and the seeds of the worlds that an event needs."""
        match event:
            case SessionStarted(name, environment):
                return TaskSpec(name, environment), {self.seed}
            case PropositionAdded() | PropositionRemoved():
                return self.changed_spec(event), {*self.seeds, self.next_seed}
            case DemonstrationSaved():
                return self.spec, {self.seed, self.next_seed}
            case SceneChanged(seed) | QuestionAnswered(seed):
                return self.spec, {self.seed, seed}
            case CorrectionAdded(_, _, answers):
                return self.spec, {self.seed, *(one.seed for one in answers)}
        return self.spec, {self.seed}

    def do(self, document: Mapping[str, Any]) -> None:
        """Check an event, write it to the journal, and apply it.

        Raises:
            BadInputError: it is no event, or not possible now; nothing was written.
        """
        event = self.parse(document)
        self._check_in_worlds(event)
        self._journal.append(document, durable=event.is_durable)
        changes_labels = isinstance(event, PropositionAdded | PropositionRemoved)
        if changes_labels:
            (self.directory / TASK_MODEL).unlink(missing_ok=True)  # it has other propositions
        if isinstance(event, TaskRenamed):
            (self.directory / self.task_file).unlink(missing_ok=True)
        self.apply(event)
        if changes_labels:
            self.model = None
            self._replays = {}
        if event.changes_dataset:
            self.save_dataset()

    def save_model(self, model: TaskModel) -> None:
        """Take over a learned model, and write it."""
        self.model = model
        model.save(self.directory / TASK_MODEL)
        self._save_task()

    def save_dataset(self) -> None:
        """Write the demonstrations, and the invented task."""
        if self.demonstrations:
            storage.save(self.dataset, self.directory / DEMONSTRATIONS)
        else:
            (self.directory / DEMONSTRATIONS).unlink(missing_ok=True)
        self._save_task()

    def _save_task(self) -> None:
        if self.spec.is_invented:
            write_json(self.directory / self.task_file, self.spec.to_document(self.model))

    @property
    def task_file(self) -> str:
        """The name of the file of an invented task."""
        return f"{self.spec.name}.task.json"

    def _check_in_worlds(self, event: Event) -> None:
        """Refuse an event that is not possible in the worlds that it needs."""
        spec, seeds = self.required_worlds(event)
        for seed in seeds:  # refused here if a scene lacks a proposition's object
            self.worlds.world(spec, seed)
        match event:
            case ControlChosen(control):
                self._check_control(control, self.walk.states[-1])
            case DemonstrationSaved(right=True) if not any(self.walk.labels):
                raise BadInputError("no proposition became true yet: add propositions, or go on")
            case QuestionAnswered(seed, controls, right):
                self._replay(JudgedPath(seed, controls, right))
            case CorrectionAdded(_, _, answers):
                for answer in answers:
                    self._replay(answer)

    def _check_control(self, control: int, state: Any) -> None:
        if control >= len(self.world.controls):
            raise BadInputError(f"there is no control {control!r}")
        if not available_controls(self.world, state)[control]:
            raise BadInputError(f"{self.world.controls[control]} is not available here")

    def _replay(self, path: JudgedPath) -> Demonstration:
        if path not in self._replays:
            score = SUCCESS_SCORE if path.right else FAILURE_SCORE
            self._replays[path] = replay(self.worlds.world(self.spec, path.seed), path.controls, score, path.seed)
        return self._replays[path]

    def _is_over(self) -> bool:
        """Whether the horizon is reached, or no control changes anything any more."""
        if len(self.controls) >= self.task.horizon:
            return True
        world, state = self.world, self.walk.states[-1]
        controls = np.flatnonzero(available_controls(world, state))
        return all(world.step(state, int(control)) == state for control in controls)
