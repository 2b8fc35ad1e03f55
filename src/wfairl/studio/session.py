"""A session: a person, a task, and what was shown, said and corrected so far. It knows no browser.

Everything that changes it is an event, a JSON object that goes into the journal before it takes effect:

    {"do": "begin", "name": "my-fourrooms", "environment": "MiniGrid-FourRooms-v0"}
    {"do": "proposition", "name": "corner", "is": {"is": "at", "x": 1, "y": 1}}     {"do": "forget", "name": "corner"}
    {"do": "name", "name": "corner-before-goal"}
    {"do": "control", "control": 2}      {"do": "undo"}      {"do": "reset"}      {"do": "scene", "seed": 1000001}
    {"do": "keep", "right": true, "by": "person"}                            {"do": "drop", "demonstration": 0}
    {"do": "answer", "seed": 7, "controls": [..], "right": false}            {"do": "judge", "by": "rule"}
    {"do": "correct", "correction": {..}, "law": true, "answers": [..]}      {"do": "withdraw", "correction": 0}

A session that is opened again replays them. Beside the journal lie ordinary files for every other command:
`demos.safetensors`, `task.json` and, for an invented task, `NAME.task.json` for `wfairl --tasks`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wfairl.automata.automaton import DEAD, Label
from wfairl.automata.task_model import TaskModel
from wfairl.demonstrations import storage
from wfairl.demonstrations.answers import Answer
from wfairl.demonstrations.collection import FIRST_TRAINING_SEED
from wfairl.demonstrations.demonstration import FAILURE_SCORE, LARGEST_SEED, SUCCESS_SCORE, Dataset, replay
from wfairl.errors import BadInputError
from wfairl.files import write_json
from wfairl.logic.corrections import LAWS, Correction, correction_of_document
from wfairl.logic.learners import ANSWERS
from wfairl.studio.assignment import Assignment, check_name
from wfairl.studio.journal import BrokenJournalError, Journal
from wfairl.worlds.registry import all_tasks
from wfairl.worlds.task import Task
from wfairl.worlds.world import World, available_controls

JOURNAL, DEMONSTRATIONS, TASK_MODEL, RUN = "journal.jsonl", "demos.safetensors", "task.json", "run"

RULE, ENVIRONMENT, PERSON = "rule", "environment", "person"
JUDGES = (RULE, ENVIRONMENT, PERSON)
"""Who says whether a demonstration was right."""

DURABLE = ("begin", "keep", "answer", "correct", "proposition")
"""Events that are on the disk, not only with the operating system, before they take effect."""

LONGEST_DEMONSTRATION = 10_000


@dataclass(frozen=True)
class Shown:
    """A demonstration as it was made: labels follow from the propositions that there are."""

    seed: int
    controls: tuple[int, ...]
    is_right: bool
    judge: str


@dataclass(frozen=True)
class Corrected:
    """A correction, whether it is law, and the answers that it counts for if it is evidence."""

    correction: Correction
    is_law: bool
    answers: tuple[Shown, ...]


class Session:
    """A session in a directory; a new one if there is none.

    Args:
        directory: where it is kept.
        assignment: what a new session is about; None to open one that is there.

    Attributes:
        name: of the session, that of its directory.
        assignment: what it is about.
        seed: the scene on the screen.
        controls, states, labels: the demonstration being made: T, T + 1 and T of them.
        shown: demonstrations so far.
        answered: what was said of walks that were asked about.
        corrected: the corrections.
        judge: who says whether a demonstration was right.
        model: what was learned last; it may be behind what was shown since.
    """

    assignment: Assignment
    world: World[Any]

    def __init__(self, directory: Path, assignment: Assignment | None = None) -> None:
        self.directory = directory
        self.name = check_name(directory.name)
        self._journal = Journal(directory / JOURNAL)
        self.seed = FIRST_TRAINING_SEED
        self.controls: list[int] = []
        self.states: list[Any] = []
        self.labels: list[Label] = []
        self.shown: list[Shown] = []
        self.answered: list[Shown] = []
        self.corrected: list[Corrected] = []
        self.judge = PERSON
        self.model: TaskModel | None = None
        self._begun = False
        events = list(self._journal.read())
        for number, event in enumerate(events, start=1):
            try:
                self._prepare(event)()
            except (KeyError, TypeError) as error:
                raise BrokenJournalError(f"{self._journal.path}: event {number}: {error!r}") from None
        if not events:
            if assignment is None:
                raise BadInputError(f"{directory}: no session")
            self.do({"do": "begin", "name": assignment.name, "environment": assignment.environment})
        elif (directory / TASK_MODEL).exists():
            self.model = TaskModel.load(directory / TASK_MODEL)
        if self.shown:
            self.save_dataset()  # a server may have been killed between the journal and the file

    @property
    def task(self) -> Task:
        """What is demonstrated; an invented task has no rule here."""
        return self.assignment.task

    @property
    def judged_task(self) -> Task:
        """The task as other commands know it; the rule of an invented one is what was learned."""
        return self.assignment.task_with(self.model)

    @property
    def laws(self) -> tuple[Correction, ...]:
        """The corrections that are law."""
        return tuple(one.correction for one in self.corrected if one.is_law)

    @property
    def dataset(self) -> Dataset:
        """What was shown and said, as any other command knows it."""
        answers = [*self.answered, *(answer for one in self.corrected for answer in one.answers)]
        demonstrations = tuple(
            replay(self._world_of(one.seed), one.controls, SUCCESS_SCORE if one.is_right else FAILURE_SCORE, one.seed)
            for one in self.shown
        )
        return Dataset(self.task.name, demonstrations, None, tuple(map(self._as_answer, answers)))

    @property
    def is_understood(self) -> bool:
        """Whether the model was learned from all that was shown and said."""
        answers = len(self.answered) + sum(len(one.answers) for one in self.corrected)
        if self.model is None:
            return not any(one.is_right for one in self.shown)
        facts, laws = self.model.facts, [law.to_document() for law in self.laws]
        heard = facts.get(ANSWERS, answers) == answers and facts.get(LAWS, []) == laws
        return heard and self.model.summary.words == len(self.shown)

    @property
    def next_seed(self) -> int:
        """A scene that was not on the screen yet."""
        return max([self.seed, *(one.seed for one in self.shown)]) + 1

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

    def do(self, event: Mapping[str, Any]) -> None:
        """Take in an event: it is checked, written, and then takes effect.

        Raises:
            BadInputError: it cannot be done now, or is no event; nothing was written.
        """
        try:
            commit = self._prepare(event)
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, BadInputError):
                raise
            raise BadInputError(f"not an event of a session ({error!r})") from None
        self._journal.append(event, durable=event["do"] in DURABLE)
        if event["do"] in ("proposition", "forget"):
            (self.directory / TASK_MODEL).unlink(missing_ok=True)  # it speaks of other propositions
        if event["do"] == "name":
            (self.directory / self._task_file).unlink(missing_ok=True)
        commit()
        if event["do"] in ("keep", "drop", "answer", "correct", "withdraw", "proposition", "forget", "name"):
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
            write_json(self.directory / self._task_file, self.assignment.to_document(self.model))

    @property
    def _task_file(self) -> str:
        return f"{self.assignment.name}.task.json"

    def _prepare(self, event: Mapping[str, Any]) -> Callable[[], None]:
        """Check an event, and say how it takes effect."""
        kinds: dict[str, Callable[[Mapping[str, Any]], Callable[[], None]]] = {
            "begin": self._begin,
            "name": self._name,
            "proposition": self._proposition,
            "forget": self._forget,
            "judge": self._judge,
            "control": self._control,
            "undo": self._undo,
            "reset": self._reset,
            "scene": self._scene,
            "keep": self._keep,
            "drop": self._drop,
            "answer": self._answer,
            "correct": self._correct,
            "withdraw": self._withdraw,
        }
        kind = event["do"]
        if kind not in kinds:
            raise BadInputError(f"nobody knows how to do {kind!r}")
        if (kind == "begin") == self._begun:
            raise BadInputError("a session begins once")
        return kinds[kind](event)

    def _begin(self, event: Mapping[str, Any]) -> Callable[[], None]:
        environment = event["environment"]
        assignment = Assignment(check_name(event["name"]), None if environment is None else str(environment))
        world = assignment.task.make_world(self.seed)

        def commit() -> None:
            self._begun = True
            self.assignment, self.world = assignment, world
            self.judge = PERSON if assignment.is_invented else RULE
            self._start_over()

        return commit

    def _name(self, event: Mapping[str, Any]) -> Callable[[], None]:
        if not self.assignment.is_invented:
            raise BadInputError(
                f"{self.assignment.name} is known to others by that name; only a task of your own has one"
            )
        assignment = replace(self.assignment, name=check_name(event["name"]))
        if assignment.name in {task.name for task in all_tasks()}:
            raise BadInputError(f"there is a task {assignment.name} already")

        def commit() -> None:
            self.assignment = assignment

        return commit

    def _proposition(self, event: Mapping[str, Any]) -> Callable[[], None]:
        return self._reassign(self.assignment.with_proposition(str(event["name"]), dict(event["is"])))

    def _forget(self, event: Mapping[str, Any]) -> Callable[[], None]:
        return self._reassign(self.assignment.without_proposition(str(event["name"])))

    def _reassign(self, assignment: Assignment) -> Callable[[], None]:
        scenes = {self.seed, self.next_seed, *(one.seed for one in self.shown)}
        worlds = {seed: assignment.task.make_world(seed) for seed in scenes}  # what a scene lacks is refused here

        def commit() -> None:
            self.assignment, self.world = assignment, worlds[self.seed]
            self.model = None
            controls, self.controls = self.controls, []
            self._start_over()
            for control in controls:
                self._step(control)

        return commit

    def _judge(self, event: Mapping[str, Any]) -> Callable[[], None]:
        by = event["by"]
        if by not in JUDGES or (by == RULE and self.assignment.is_invented):
            raise BadInputError(f"{by!r} cannot judge this task")

        def commit() -> None:
            self.judge = by

        return commit

    def _control(self, event: Mapping[str, Any]) -> Callable[[], None]:
        control = event["control"]
        if not isinstance(control, int) or not 0 <= control < len(self.world.controls):
            raise BadInputError(f"{control!r} is no control")
        if not available_controls(self.world, self.states[-1])[control]:
            raise BadInputError(f"{self.world.controls[control]} cannot be chosen here")
        if len(self.controls) >= LONGEST_DEMONSTRATION:
            raise BadInputError("the demonstration is too long; begin again")
        return lambda: self._step(control)

    def _undo(self, event: Mapping[str, Any]) -> Callable[[], None]:  # noqa: ARG002
        if not self.controls:
            raise BadInputError("there is nothing to undo")

        def commit() -> None:
            self.controls.pop()
            self.labels.pop()
            self.states.pop()

        return commit

    def _reset(self, event: Mapping[str, Any]) -> Callable[[], None]:  # noqa: ARG002
        return self._start_over

    def _scene(self, event: Mapping[str, Any]) -> Callable[[], None]:
        seed = event["seed"]
        if not isinstance(seed, int) or not 0 <= seed <= LARGEST_SEED:
            raise BadInputError(f"{seed!r} is no scene")
        world = self._world_of(seed)
        return lambda: self._go_to(seed, world)

    def _keep(self, event: Mapping[str, Any]) -> Callable[[], None]:
        is_right, judge = event["right"], event["by"]
        if not isinstance(is_right, bool) or judge not in JUDGES:
            raise BadInputError("a demonstration is right or wrong, as somebody says")
        if not self.controls:
            raise BadInputError("nothing was shown yet")
        if is_right and not any(self.labels):
            raise BadInputError("nothing that labels are about has happened: say what they are about, or go on")
        shown = Shown(self.seed, tuple(self.controls), is_right, judge)
        seed = self.next_seed
        world = self._world_of(seed)

        def commit() -> None:
            self.shown.append(shown)
            self._go_to(seed, world)

        return commit

    def _drop(self, event: Mapping[str, Any]) -> Callable[[], None]:
        number = _index(event["demonstration"], self.shown)
        return lambda: self.shown.__delitem__(number)

    def _answer(self, event: Mapping[str, Any]) -> Callable[[], None]:
        if not isinstance(event["right"], bool):
            raise BadInputError("an answer is yes or no")
        said = Shown(int(event["seed"]), tuple(map(int, event["controls"])), event["right"], PERSON)
        self._as_answer(said)
        return lambda: self.answered.append(said)

    def _correct(self, event: Mapping[str, Any]) -> Callable[[], None]:
        correction, is_law = correction_of_document(event["correction"]), bool(event["law"])
        answers = tuple(Shown(int(a["seed"]), tuple(map(int, a["controls"])), False, PERSON) for a in event["answers"])
        for answer in answers:
            self._as_answer(answer)
        return lambda: self.corrected.append(Corrected(correction, is_law, answers))

    def _withdraw(self, event: Mapping[str, Any]) -> Callable[[], None]:
        number = _index(event["correction"], self.corrected)
        return lambda: self.corrected.__delitem__(number)

    def _go_to(self, seed: int, world: World[Any]) -> None:
        self.seed, self.world = seed, world
        self._start_over()

    def _start_over(self) -> None:
        self.controls, self.labels, self.states = [], [], [self.world.initial_state]

    def _step(self, control: int) -> None:
        before = self.states[-1]
        after = self.world.step(before, control)
        self.labels.append(self.world.label(before, control, after))
        self.states.append(after)
        self.controls.append(control)

    def _world_of(self, seed: int) -> World[Any]:
        return self.world if self._begun and seed == self.seed else self.task.make_world(seed)

    def _as_answer(self, said: Shown) -> Answer:
        walked = replay(self._world_of(said.seed), said.controls, SUCCESS_SCORE, said.seed)
        return Answer(said.seed, walked.controls, walked.labels, said.is_right)

    def _is_over(self) -> bool:
        is_final = getattr(self.world, "is_final", None)
        return len(self.controls) >= self.task.horizon or (is_final is not None and bool(is_final(self.states[-1])))


def _index(value: Any, items: list[Any]) -> int:
    if not isinstance(value, int) or not 0 <= value < len(items):
        raise BadInputError(f"there is no number {value!r}")
    return value
