"""A session in a directory: its history, its worlds and its files. It knows no browser.

Everything that changes a session is an event (`events`), which goes into the journal before it takes effect; opening a
session replays its journal. Beside the journal are ordinary files for every other command: `demos.safetensors`,
`task.json` and, for an invented task, `NAME.task.json` for `wfairl --tasks`. They follow from the journal, and are
written again whenever what they are about has changed.
"""

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wfairl.core.automata.automaton import DEAD, Label
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.demonstrations.answers import Answer
from wfairl.core.demonstrations.demonstration import FAILURE_SCORE, SUCCESS_SCORE, Dataset, Demonstration, replay
from wfairl.core.planning.path import Walk
from wfairl.core.support.documents import parse
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.files import read_json, read_text, write_atomically, write_json
from wfairl.core.worlds.simulator import ModelSimulator, simulator_rng
from wfairl.core.worlds.task import Task, rule_of
from wfairl.core.worlds.world import World, available_controls, outcomes_of, slips
from wfairl.runs import data_sets
from wfairl.studio import events
from wfairl.studio.events import ENVIRONMENT, RULE, Event, JudgedPath, SessionStarted, event_of_document
from wfairl.studio.history import History, SessionState
from wfairl.studio.journal import BrokenJournalError, Journal
from wfairl.studio.task_spec import TaskSpec, check_name
from wfairl.studio.workers import WorldCache

JOURNAL, DEMONSTRATIONS, TASK_MODEL, RUN = "journal.jsonl", "demos.safetensors", "task.json", "run"

COST_WORDS = "words.json"
"""In the run: `CostWords`."""

LEARNED_FROM = ".learned-from"
"""The digest of the evidence from which the task model and the run were learned."""


@dataclass(frozen=True)
class CostWords:
    """The learned cost in words, whether it shows a preference, and the evidence and the worlds that it is about."""

    text: str
    is_shown: bool
    evidence: str
    world: str


class Session:
    """A session in a directory; opening one makes no world.

    Args:
        spec: the task of a new session; None to open an existing one.

    Attributes:
        name: of the session, that of its directory.
        history: what was done; `state` is its fold.
        model: what was learned last; it may lack the latest events.
    """

    def __init__(self, directory: Path, spec: TaskSpec | None = None, worlds: WorldCache | None = None) -> None:
        self.directory = directory
        self.name = check_name(directory.name)
        self.worlds = worlds or WorldCache()
        self.model: TaskModel | None = None
        self._learned_from = ""
        self._journal = Journal(directory / JOURNAL)
        self._walk: Walk | None = None
        self._replays: dict[tuple[str, JudgedPath], Demonstration] = {}
        documents = list(self._journal.read())
        if not documents:
            if spec is None:
                raise BadInputError(f"{directory}: no session")
            start = SessionStarted(spec.name, spec.environment)
            self.history = History(start)  # refuses an unknown task before anything is written
            self.worlds.world(spec, self.state.seed)
            self._journal.append({"do": "begin", **vars(start)}, durable=True)
        else:
            self.history = _fold(documents, self._journal.path)
            with suppress(BadInputError):  # none yet, of another version, or broken: it is learned again
                self.model = TaskModel.load(directory / TASK_MODEL)
                self._learned_from = read_text(directory / LEARNED_FROM)

    @property
    def state(self) -> SessionState:
        return self.history.state

    @property
    def task(self) -> Task:
        """The task; an invented one has no rule here."""
        return self.state.spec.task

    @property
    def world(self) -> World[Any]:
        return self.worlds.world(self.state.spec, self.state.seed)

    @property
    def walk(self) -> Walk:
        """The current demonstration in its world; only controls that are new are taken.

        Where the world slips, what happens in a step depends on the scene and the number of the step alone, as in the
        task's own simulator: the same journal always gives the same demonstrations.
        """
        walk, controls = self._walk, self.state.controls
        if walk is None or walk.world is not self.world or tuple(walk.controls) != controls[: len(walk)]:
            walk = None
        self._walk = _go_on(self.world, self.state.seed, controls, walk)
        return self._walk

    @property
    def dataset(self) -> Dataset:
        """Demonstrations and answers."""
        demonstrations = tuple(self._replay(one) for one in self.state.demonstrations)
        answers = (
            Answer(one.seed, one.controls, self._replay(one).labels, bool(one.right), one.weight)
            for one in self.state.all_answers
        )
        return Dataset(self.task.name, demonstrations, None, tuple(answers))

    def labels_of(self, path: JudgedPath) -> tuple[Label, ...]:
        """What holds after each control of a path."""
        return self._replay(path).labels

    @property
    def can_learn(self) -> bool:
        """Whether a proposition holds somewhere along a demonstration that is right; else nothing can be learned."""
        return any(one.right and any(self._replay(one).labels) for one in self.state.demonstrations)

    @property
    def evidence(self) -> str:
        """The digest of all that a model is learned from."""
        return hashlib.sha256(repr(self.state.evidence).encode()).hexdigest()

    @property
    def is_current(self) -> bool:
        """Whether the model was learned from all demonstrations, answers and laws, and from nothing else."""
        return self._learned_from == self.evidence if self.model is not None else not self.can_learn

    @property
    def verdict(self) -> bool | None:
        """Whether the current demonstration is right by the rule or the environment; None if undecided."""
        if not self.state.controls:
            return None
        if self.state.judge == RULE:
            rule = rule_of(self.task)
            path = rule.run(self.walk.labels)
            if path[-1] != DEAD and rule.accepting[path[-1]]:
                return True
            return False if path[-1] == DEAD or self._is_over() else None
        if self.state.judge == ENVIRONMENT and self._is_over():
            simulator = self.task.make_simulator(self.state.seed)
            for control in self.state.controls:
                simulator.step(control)
            return bool(getattr(simulator, "rewarded", False))
        return None

    def parse(self, document: Mapping[str, Any]) -> Event:
        """Parse and check a new event, as far as this needs no world. Raises `BadInputError` if it is not possible."""
        event = event_of_document(self._with_dependents(document))
        self.history.check(event)
        return event

    def _with_dependents(self, document: Mapping[str, Any]) -> Mapping[str, Any]:
        """A proposition takes along the corrections that name it."""
        if isinstance(document, Mapping) and document.get("do") == "forget":
            return {**document, "corrections": list(self.state.corrections_about(str(document.get("name"))))}
        return document

    def required_worlds(self, event: Event) -> tuple[TaskSpec, set[int]]:
        """The spec and the seeds of the worlds that an event needs."""
        state = self.state
        match event:
            case events.PropositionAdded() | events.PropositionRemoved():
                return state.changed_spec(event), {*state.seeds, state.next_seed}
            case events.HistoryMoved(at):
                moved = self.history.states[at - 1]
                return moved.spec, moved.seeds
            case events.DemonstrationSaved():
                return state.spec, {state.seed, state.next_seed}
            case events.SceneChanged(seed) | events.QuestionAnswered(seed):
                return state.spec, {state.seed, seed}
            case events.CorrectionAdded(_, _, answers):
                return state.spec, {state.seed, *(one.seed for one in answers)}
        return state.spec, {state.seed}

    def do(self, document: Mapping[str, Any]) -> None:
        """Check an event, write it to the journal, and apply it; a `BadInputError` means that nothing was written."""
        event = self.parse(document)
        self._check_in_worlds(event)
        self._journal.append(self._with_dependents(document), durable=event.is_durable)
        before = self.state
        self.history.apply(event)
        self._follow(before)

    def _follow(self, before: SessionState) -> None:
        """Let the files follow from the new state."""
        now = self.state
        if now.spec.world_key != before.spec.world_key:
            self.model = None  # it has other propositions
            (self.directory / TASK_MODEL).unlink(missing_ok=True)
        if now.spec.name != before.spec.name:
            (self.directory / f"{before.spec.name}.task.json").unlink(missing_ok=True)
        if (now.evidence, now.spec) != (before.evidence, before.spec):
            self.save_dataset()

    def save_model(self, model: TaskModel | None) -> None:
        """Take over what was learned from the evidence of now, and write it."""
        self.model, self._learned_from = model, self.evidence
        if model is None:
            (self.directory / TASK_MODEL).unlink(missing_ok=True)
        else:
            model.save(self.directory / TASK_MODEL)
            write_atomically(self.directory / LEARNED_FROM, self._learned_from)
        self._save_task()

    def save_dataset(self) -> None:
        """Write the demonstrations, and the invented task."""
        if self.state.demonstrations:
            data_sets.save(self.dataset, self.directory / DEMONSTRATIONS)
        else:
            (self.directory / DEMONSTRATIONS).unlink(missing_ok=True)
        self._save_task()

    def _save_task(self) -> None:
        if self.state.spec.is_invented:
            write_json(self.directory / self.task_file, self.state.spec.to_document(self.model))

    @property
    def cost_words(self) -> dict[str, Any] | None:
        """What is known of the learned cost of these worlds, see `COST_WORDS`; None if there is none."""
        with suppress(BadInputError):
            words: CostWords = parse(CostWords, read_json(self.directory / RUN / COST_WORDS))
            if words.world == self.state.spec.world_key:
                return {**vars(words), "is_current": words.evidence == self.evidence}
        return None

    @property
    def task_file(self) -> str:
        """The name of the file of an invented task."""
        return f"{self.state.spec.name}.task.json"

    def _check_in_worlds(self, event: Event) -> None:
        """Refuse an event that is not possible in the worlds that it needs."""
        spec, seeds = self.required_worlds(event)
        for seed in seeds:  # refused here if a scene lacks a proposition's object
            self.worlds.world(spec, seed)
        match event:
            case events.ControlChosen(control):
                check_control(self.world, control, self.walk.states[-1])
            case events.DemonstrationSaved(right=True) if not any(self.walk.labels):
                raise BadInputError("no proposition became true yet: add propositions, or go on")
            case events.QuestionAnswered(seed, controls, right, effects):
                self._replay(JudgedPath(seed, controls, right, effects=effects))
            case events.CorrectionAdded(_, _, answers):
                for answer in answers:
                    self._replay(answer)

    def _replay(self, path: JudgedPath) -> Demonstration:
        spec = self.state.spec
        key = spec.world_key, path
        if key not in self._replays:
            score = SUCCESS_SCORE if path.right else FAILURE_SCORE
            world = self.worlds.world(spec, path.seed)
            if slips(world) and not path.effects:
                walked = _go_on(world, path.seed, path.controls).path
                self._replays[key] = Demonstration.of(walked, score, path.seed)
            else:
                self._replays[key] = replay(world, path.controls, score, path.seed, path.effects)
        return self._replays[key]

    def _is_over(self) -> bool:
        """Whether the horizon is reached, or no control changes anything any more."""
        if len(self.state.controls) >= self.task.horizon:
            return True
        world, state = self.world, self.walk.states[-1]
        controls = np.flatnonzero(available_controls(world, state))
        return all(after == state for control in controls for _, after in outcomes_of(world, state, int(control)))


def check_control(world: World[Any], control: int, state: Any) -> None:
    """Refuse a control that a world does not have, or not in a state. Raises `BadInputError`."""
    if control >= len(world.controls):
        raise BadInputError(f"there is no control {control!r}")
    if not available_controls(world, state)[control]:
        raise BadInputError(f"{world.controls[control]} is not available here")


def _go_on(world: World[Any], seed: int, controls: Sequence[int], walk: Walk | None = None) -> Walk:
    """A walk along controls, from its start or from where another one has come to."""
    walk = Walk(ModelSimulator(world, simulator_rng(seed))) if walk is None else walk
    for control in controls[len(walk) :]:
        check_control(world, control, walk.states[-1])
        walk.take(control)
    return walk


def _fold(documents: list[dict[str, Any]], path: Path) -> History:
    """The history of a journal's events. Raises `BrokenJournalError` with the number of one that is impossible."""
    history: History | None = None
    for number, document in enumerate(documents, start=1):
        try:
            event = event_of_document(document)
            if history is not None:
                history.check(event)
                history.apply(event)
            elif isinstance(event, SessionStarted):
                history = History(event)
            else:
                raise BadInputError("a session begins with its task")
        except BadInputError as error:
            raise BrokenJournalError(f"{path}: event {number}: {error}") from None
    assert history is not None
    return history
