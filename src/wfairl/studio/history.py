"""The history of a session: its acts, which can be undone and redone, and the state that is their fold."""

from dataclasses import dataclass, replace
from typing import Any

from wfairl.core.support.errors import BadInputError
from wfairl.pages.text import counted
from wfairl.questions.corrections import Correction
from wfairl.runs.collection import FIRST_TRAINING_SEED
from wfairl.runs.task_registry import all_tasks
from wfairl.studio import events
from wfairl.studio.events import PERSON, RULE, Event, HistoryMoved, JudgedPath, SessionStarted
from wfairl.studio.task_spec import TaskSpec

LONGEST_DEMONSTRATION = 2_000


class History:
    """The acts of a session, those that were undone among them; the state is the fold of the others.

    An act that follows from the one before it, as the judgement of a rule from the last control, is undone with it.

    Attributes:
        at: the number of acts that are not undone; the start of the session, which cannot be undone, is the first.
        states: of the session after each act.
    """

    def __init__(self, start: SessionStarted) -> None:
        self.begun_as = start.environment or start.name
        self.at = 1
        self._acts: list[Event] = [start]
        self.states = [first_state(start)]

    def __len__(self) -> int:
        return len(self._acts)

    @property
    def state(self) -> "SessionState":
        return self.states[self.at - 1]

    def check(self, event: Event) -> None:
        """Refuse an event that is not possible now. Raises `BadInputError`."""
        if not isinstance(event, HistoryMoved):
            self.state.check(event)
        elif event.at > len(self._acts) or self._follows(event.at):
            raise BadInputError("there is nothing to undo or redo there")

    def apply(self, event: Event) -> None:
        """Go on by an event that was checked."""
        if isinstance(event, HistoryMoved):
            self.at = event.at
            return
        self._acts[self.at :], self.states[self.at :] = [event], [self.state.after(event)]
        self.at += 1

    @property
    def undone(self) -> int | None:
        """Where the history is once the last act is undone; None if there is nothing to undo."""
        return next((at for at in range(self.at - 1, 0, -1) if not self._follows(at)), None)

    @property
    def redone(self) -> int | None:
        """Where the history is once the next act is redone; None if there is nothing to redo."""
        return next((at for at in range(self.at + 1, len(self._acts) + 1) if not self._follows(at)), None)

    def moments(self, most: int) -> list[tuple[int, str]]:
        """The last acts for people, each with where the history is after it; steps in a scene are one."""
        moments: list[tuple[int, str]] = []
        for at in range(max(1, len(self._acts) - most), len(self._acts)):
            text = self.states[at - 1].describe(self._acts[at])
            if moments and (moments[-1][1] == text or self._follows(at)):
                moments.pop()
            moments.append((at + 1, text))
        return moments

    def _follows(self, at: int) -> bool:
        """Whether the act after the first `at` follows from the one before it."""
        act = self._acts[at] if 0 < at < len(self._acts) else None
        return isinstance(act, events.DemonstrationSaved) and act.by != PERSON


@dataclass(frozen=True)
class SessionState:
    """Everything that a person has done so far. It knows no world, no file and no browser."""

    spec: TaskSpec
    title: str  # the name of the session for people
    judge: str  # what decides whether a demonstration is right
    seed: int = FIRST_TRAINING_SEED  # of the current, unfinished demonstration
    controls: tuple[int, ...] = ()  # likewise
    demonstrations: tuple[JudgedPath, ...] = ()
    answers: tuple[JudgedPath, ...] = ()  # to questions, also that the person does not know
    corrections: tuple[events.CorrectionAdded, ...] = ()  # those that were not withdrawn

    @property
    def laws(self) -> tuple[Correction, ...]:
        return tuple(one.parsed for one in self.corrections if one.law)

    @property
    def all_answers(self) -> tuple[JudgedPath, ...]:
        """The answers that are evidence, and those that corrections count as."""
        known = (one for one in self.answers if one.right is not None)
        return (*known, *(answer for one in self.corrections for answer in one.answers))

    @property
    def evidence(self) -> tuple[Any, ...]:
        """All that a model is learned from; equal where the models are."""
        laws = [one.correction for one in self.corrections if one.law]
        return self.spec.world_key, self.demonstrations, self.all_answers, laws

    @property
    def seeds(self) -> set[int]:
        """The current scene, and those of all demonstrations and answers."""
        return {self.seed, *(one.seed for one in (*self.demonstrations, *self.answers, *self.all_answers))}

    @property
    def next_seed(self) -> int:
        """A scene that was not shown yet."""
        return max([self.seed, *(one.seed for one in self.demonstrations)]) + 1

    def check(self, event: Event) -> None:
        """Refuse, with a `BadInputError`, an act that is not possible now or changes nothing; without a world."""
        match event:
            case SessionStarted():
                raise BadInputError("a session starts exactly once")
            case events.Renamed(name) if name == self.title:
                raise BadInputError(f"it is called {name} already")
            case events.Renamed(name) if self.spec.is_invented and name in {task.name for task in all_tasks()}:
                raise BadInputError(f"there is already a task {name}")
            case events.Renamed(name):
                replace(self.spec, name=name)
            case events.PropositionRemoved(name, numbers) if numbers != self.corrections_about(name):
                raise BadInputError(f"corrections name {name}; they go with it")
            case events.PropositionAdded() | events.PropositionRemoved():
                self.changed_spec(event)
            case events.JudgeChanged(by) if by == self.judge:
                raise BadInputError("they judge already")
            case events.JudgeChanged(by) if by == RULE and not self.spec.has_rule:
                raise BadInputError(f"{by!r} cannot judge this task")
            case events.ControlChosen() if len(self.controls) >= LONGEST_DEMONSTRATION:
                raise BadInputError("the demonstration is too long; start over")
            case events.DemonstrationSaved() if not self.controls:
                raise BadInputError("there is nothing to save yet")
            case events.DemonstrationRemoved(number) if number >= len(self.demonstrations):
                raise BadInputError(f"there is no demonstration {number}")
            case events.AnswerWithdrawn(number) if number >= len(self.answers):
                raise BadInputError(f"there is no answer {number}")
            case events.CorrectionWithdrawn(number) if number >= len(self.corrections):
                raise BadInputError(f"there is no correction {number}")
            case events.SceneRestarted() if not self.controls:
                raise BadInputError("there is no step to take back")
            case events.CorrectionAdded() if unknown := event.parsed.propositions - set(self.spec.task.propositions):
                raise BadInputError(f"there is no proposition {', '.join(sorted(unknown))}")
            case events.CorrectionAdded() if event.law and event.parsed in self.laws:
                raise BadInputError(f"this is a law already: {event.parsed.sentence}")

    def after(self, event: Event) -> "SessionState":
        """The state after an act that was checked."""
        match event:
            case events.Renamed(name):
                spec = replace(self.spec, name=name) if self.spec.is_invented else self.spec
                return replace(self, title=name, spec=spec)
            case events.PropositionAdded():
                return replace(self, spec=self.changed_spec(event))
            case events.PropositionRemoved(_, numbers):
                others = tuple(one for i, one in enumerate(self.corrections) if i not in numbers)
                return replace(self, spec=self.changed_spec(event), corrections=others)
            case events.JudgeChanged(by):
                return replace(self, judge=by)
            case events.ControlChosen(control):
                return replace(self, controls=(*self.controls, control))
            case events.SceneRestarted():
                return replace(self, controls=())
            case events.SceneChanged(seed):
                return replace(self, seed=seed, controls=())
            case events.DemonstrationSaved(right, judge):
                saved = JudgedPath(self.seed, self.controls, right, judge)
                return replace(self, demonstrations=(*self.demonstrations, saved), seed=self.next_seed, controls=())
            case events.DemonstrationRemoved(number):
                return replace(self, demonstrations=_without(self.demonstrations, number))
            case events.QuestionAnswered(seed, controls, right, effects):
                answered = JudgedPath(seed, controls, right, effects=effects)
                return replace(self, answers=(*self.answers, answered))
            case events.AnswerWithdrawn(number):
                return replace(self, answers=_without(self.answers, number))
            case events.CorrectionAdded():
                return replace(self, corrections=(*self.corrections, event))
            case events.CorrectionWithdrawn(number):
                return replace(self, corrections=_without(self.corrections, number))
        raise AssertionError(event)

    def changed_spec(self, event: events.PropositionAdded | events.PropositionRemoved) -> TaskSpec:
        """The spec once a proposition is added or removed."""
        if isinstance(event, events.PropositionRemoved):
            return self.spec.without_proposition(event.name)
        return self.spec.with_proposition(event.name, event.document)

    def corrections_about(self, proposition: str) -> tuple[int, ...]:
        """The numbers of the corrections that name a proposition: they make no sense without it."""
        return tuple(i for i, one in enumerate(self.corrections) if proposition in one.parsed.propositions)

    def describe(self, event: Event) -> str:
        """An act in this state, for people."""
        match event:
            case events.Renamed(name):
                return f"named it {name}"
            case events.PropositionAdded(name):
                return f"added {name}"
            case events.PropositionRemoved(name, numbers):
                also = ", ".join(self.corrections[i].parsed.sentence for i in numbers)
                return f"removed {name}" + (f", and with it: {also}" if also else "")
            case events.JudgeChanged(by):
                return f"let {'myself' if by == PERSON else f'the {by}'} judge"
            case events.ControlChosen():
                return f"acted in scene {self.seed}"
            case events.SceneRestarted():
                return f"started scene {self.seed} over"
            case events.SceneChanged(seed):
                return f"went to scene {seed}"
            case events.DemonstrationSaved(right):
                number, steps = len(self.demonstrations) + 1, counted(len(self.controls), "step")
                return f"showed #{number}: {steps}, {'right' if right else 'wrong'}"
            case events.DemonstrationRemoved(number):
                return f"removed demonstration #{number + 1}"
            case events.QuestionAnswered(_, _, right):
                return f"answered {'that I do not know' if right is None else 'yes' if right else 'no'}"
            case events.AnswerWithdrawn(number):
                return f"withdrew answer {number + 1}"
            case events.CorrectionAdded(_, law):
                return f"{'law' if law else 'evidence'}: {event.parsed.sentence}"
            case events.CorrectionWithdrawn(number):
                return f"withdrew: {self.corrections[number].parsed.sentence}"
        return "began"


def first_state(event: SessionStarted) -> SessionState:
    """The state of a session that has just started. Raises `BadInputError` if there is no such task."""
    spec = TaskSpec(event.name, event.environment)
    _ = spec.task
    return SessionState(spec, spec.name, RULE if spec.has_rule else PERSON)


def _without(items: tuple[Any, ...], number: int) -> tuple[Any, ...]:
    return (*items[:number], *items[number + 1 :])
