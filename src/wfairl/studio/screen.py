"""What is on the screen of a session: a place to demonstrate, an episode to watch, a question to answer."""

from dataclasses import dataclass, field
from typing import Any

from wfairl.demonstrations.collection import FIRST_TEST_SEED
from wfairl.logic.proposals import Proposal
from wfairl.logic.questions import Question
from wfairl.studio.acting import AgentEpisode
from wfairl.studio.tiles import TiledFilm, TileSheet

SHOW, WATCH, ANSWER = "show", "watch", "answer"


@dataclass
class Screen:
    """What is on the screen; nothing of it is kept.

    Attributes:
        mode: which of the three places is seen.
        sheet, sheet_seed: tiles of the scene that is demonstrated in.
        proposal: the scene that was proposed last.
        watched: seed of the scene that the agent was watched in last.
        episode: what the agent did there.
        question: what is asked.
        films: frames of episode and question.
        tried: seed, outcome and steps of the scenes that were tried.
        map: numbers over the cells of the scene.
    """

    mode: str = SHOW
    sheet: TileSheet = field(default_factory=TileSheet)
    sheet_seed: int | None = None
    proposal: Proposal | None = None
    watched: int = FIRST_TEST_SEED
    episode: AgentEpisode | None = None
    question: Question | None = None
    films: dict[str, TiledFilm] = field(default_factory=dict)
    tried: list[tuple[int, str, int]] = field(default_factory=list)
    map: dict[str, Any] | None = None

    def show_episode(self, episode: AgentEpisode, film: TiledFilm) -> None:
        """Watch the agent."""
        self.mode, self.watched, self.map = WATCH, episode.seed, None
        self.episode, self.films[WATCH] = episode, film

    def show_question(self, question: Question, film: TiledFilm) -> None:
        """Ask something."""
        self.mode, self.question, self.films[ANSWER] = ANSWER, question, film

    def clear(self) -> None:
        """Forget what follows from a model that is no longer believed."""
        self.episode = self.question = self.proposal = None
        self.tried = []

    def sheet_of(self, seed: int) -> TileSheet:
        """Tiles for the scene that is demonstrated in."""
        if self.sheet_seed != seed:
            self.sheet, self.sheet_seed = TileSheet(), seed
        return self.sheet
