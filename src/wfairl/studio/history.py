"""The history of a session: its acts, which can be undone and redone."""

from wfairl.core.support.errors import BadInputError
from wfairl.studio.events import PERSON, DemonstrationSaved, Event, HistoryMoved, SessionStarted
from wfairl.studio.session_state import SessionState, first_state

STATES_APART = 64
"""Of so many acts, the history keeps one state; those between are folded again."""


class History:
    """The acts of a session, those that were undone among them; the state is the fold of the others.

    An act that follows from the one before it, as the judgement of a rule from the last control, is undone with it.

    Attributes:
        at: the number of acts that are not undone; the start of the session, which cannot be undone, is the first.
        state: of the session now.
    """

    def __init__(self, start: SessionStarted) -> None:
        self.state = first_state(start)
        self.begun_as = start.environment or start.name
        self.at = 1
        self._acts: list[Event] = [start]
        self._states = {1: self.state}

    def __len__(self) -> int:
        return len(self._acts)

    def check(self, event: Event) -> None:
        """Refuse an event that is not possible now. Raises `BadInputError`."""
        if not isinstance(event, HistoryMoved):
            self.state.check(event)
        elif event.at > len(self._acts) or self._follows(event.at):
            raise BadInputError("there is nothing to undo or redo there")

    def apply(self, event: Event) -> None:
        """Go on by an event that was checked."""
        if isinstance(event, HistoryMoved):
            self.at, self.state = event.at, self.state_at(event.at)
            return
        del self._acts[self.at :]
        self._states = {at: state for at, state in self._states.items() if at <= self.at}
        self._acts.append(event)
        self.at, self.state = self.at + 1, self.state.after(event)
        if self.at % STATES_APART == 0:
            self._states[self.at] = self.state

    def state_at(self, at: int) -> SessionState:
        """The state after so many acts."""
        kept = at - at % STATES_APART if at >= STATES_APART else 1
        while kept not in self._states:  # the branch to which it belonged was replaced
            kept = max(1, kept - STATES_APART)
        state = self._states[kept]
        for act in self._acts[kept:at]:
            state = state.after(act)
        return state

    @property
    def undone(self) -> int | None:
        """Where the history is once the last act is undone; None if there is nothing to undo."""
        at = self.at - 1
        while self._follows(at):
            at -= 1
        return at if at >= 1 else None

    @property
    def redone(self) -> int | None:
        """Where the history is once the next act is redone; None if there is nothing to redo."""
        if self.at == len(self._acts):
            return None
        at = self.at + 1
        while self._follows(at):
            at += 1
        return at

    def moments(self, most: int) -> list[tuple[int, str]]:
        """The last acts for people, each with where the history is after it; steps in a scene are one."""
        first = max(1, len(self._acts) - most)
        state = self.state_at(first)
        moments: list[tuple[int, str]] = []
        for at, act in enumerate(self._acts[first:], start=first + 1):
            text = state.describe(act)
            if moments and (moments[-1][1] == text or self._follows(at - 1)):
                moments.pop()
            moments.append((at, text))
            state = state.after(act)
        return moments

    def _follows(self, at: int) -> bool:
        """Whether the act after the first `at` follows from the one before it."""
        act = self._acts[at] if 0 < at < len(self._acts) else None
        return isinstance(act, DemonstrationSaved) and act.by != PERSON
