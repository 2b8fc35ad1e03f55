"""What the page of a session shows at the moment; none of it is saved."""

from dataclasses import dataclass, field
from typing import Any

from wfairl.demonstrations.collection import FIRST_TEST_SEED
from wfairl.logic.proposals import Proposal
from wfairl.logic.questions import Question
from wfairl.studio.episodes import AgentEpisode
from wfairl.studio.frames import EncodedFilm, FrameEncoder

DEMONSTRATE, WATCH, ANSWER = "demonstrate", "watch", "answer"
MODES = (DEMONSTRATE, WATCH, ANSWER)


@dataclass
class ViewState:
    """What the page shows.

    Attributes:
        mode: one of `MODES`.
        encoder, encoder_seed: encodes the frames of the scene that is demonstrated in.
        proposal: the scene that was proposed last.
        watched_seed: the scene that the agent was watched in last.
        episode: the agent's episode there.
        question: the current question.
        films: the films of episode and question, by mode.
        trials: seed, outcome and steps of each scene that was tried.
        map: numbers over the cells of the scene.
    """

    mode: str = DEMONSTRATE
    encoder: FrameEncoder = field(default_factory=FrameEncoder)
    encoder_seed: int | None = None
    proposal: Proposal | None = None
    watched_seed: int = FIRST_TEST_SEED
    episode: AgentEpisode | None = None
    question: Question | None = None
    films: dict[str, EncodedFilm] = field(default_factory=dict)
    trials: list[tuple[int, str, int]] = field(default_factory=list)
    map: dict[str, Any] | None = None

    def show_episode(self, episode: AgentEpisode, film: EncodedFilm) -> None:
        """Show an episode of the agent."""
        self.mode, self.watched_seed, self.map = WATCH, episode.seed, None
        self.episode, self.films[WATCH] = episode, film

    def show_question(self, question: Question, film: EncodedFilm) -> None:
        """Show a question."""
        self.mode, self.question, self.films[ANSWER] = ANSWER, question, film

    def clear(self) -> None:
        """Drop what follows from an outdated model."""
        self.episode = self.question = self.proposal = None
        self.trials = []

    def encoder_of(self, seed: int) -> FrameEncoder:
        """The encoder of the frames of the scene that is demonstrated in."""
        if self.encoder_seed != seed:
            self.encoder, self.encoder_seed = FrameEncoder(), seed
        return self.encoder
