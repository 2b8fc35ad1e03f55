"""The view state of a session, and the views of its page's parts as plain JSON."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from wfairl.core.automata.words import compress, format_label
from wfairl.core.demonstrations.collection import FIRST_TEST_SEED
from wfairl.core.rational.task_posterior import posterior_of
from wfairl.core.worlds.world import available_controls
from wfairl.questions.question import Question
from wfairl.questions.scene_proposal import SceneProposal
from wfairl.specifications.explanation import explain_word
from wfairl.studio.episodes import AgentEpisode
from wfairl.studio.events import JUDGES, RULE
from wfairl.studio.frames import EncodedFilm, FrameEncoder, corner_of, instruction_of
from wfairl.studio.keys import can_point, keys_of
from wfairl.studio.session import Session
from wfairl.studio.task_spec import Inventive

DEMONSTRATE, WATCH, ANSWER = "demonstrate", "watch", "answer"
MODES = (DEMONSTRATE, WATCH, ANSWER)

SHOWN_OPINIONS = 4


@dataclass
class ViewState:
    """What the page of a session shows at the moment; none of it is saved.

    Attributes:
        mode: one of `MODES`.
        encoder, encoder_seed: encodes the frames of the scene that is demonstrated in.
        watched_seed, episode: the scene that the agent was watched in last, and its episode there.
        films: of episode and question, by mode.
        trials: seed, outcome and steps of each scene that was tried.
        map: numbers over the cells of the scene.
    """

    mode: str = DEMONSTRATE
    encoder: FrameEncoder = field(default_factory=FrameEncoder)
    encoder_seed: int | None = None
    proposal: SceneProposal | None = None
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


def header_view(session: Session) -> dict[str, Any]:
    """The task and the name of the session."""
    return {
        "title": session.spec.name,
        "summary": session.task.summary,
        "session": session.name,
        "invented": session.spec.is_invented,
    }


def scene_view(session: Session, view: ViewState) -> dict[str, Any]:
    """The scene with whatever the mode shows in it."""
    has_world = not session.worlds.missing(session.spec, [session.seed])
    common = {
        "mode": view.mode,
        "controls": keys_of(session.world.controls) if has_world else [],
        "map": view.map,
        "has_model": session.model is not None,
        "frames": [],
        "tiles": [],
        "has_world": has_world,
        "marked_cells": [
            {"name": name, "x": one["x"], "y": one["y"]}
            for name, one in session.spec.propositions.items()
            if one["is"] == "at"
        ],
    }
    if view.mode == WATCH:
        return {**common, **_watch_view(view)}
    if view.mode == ANSWER:
        return {**common, **_question_view(session, view)}
    return {**common, **(_demonstration_view(session, view) if has_world else {"seed": session.seed})}


def _demonstration_view(session: Session, view: ViewState) -> dict[str, Any]:
    """The unfinished demonstration."""
    walk, encoder = session.walk, view.encoder_of(session.seed)
    path = [] if session.model is None else session.model.finite.run(walk.labels)
    proposal = view.proposal
    return {
        "seed": session.seed,
        "frames": [encoder.encode(session.world, walk.states[-1])],
        "tiles": encoder.tiles,
        "corner": corner_of(session.world),
        "instruction": instruction_of(session.world),
        "steps": len(session.controls),
        "word": [format_label(label) for label in compress(walk.labels)],
        "available": [bool(one) for one in available_controls(session.world, walk.states[-1])],
        "states": path[-2:],
        "can_point": can_point(session.world),
        "can_pick": session.spec.is_invented,
        "can_propose": session.model is not None and posterior_of(session.model) is not None,
        "proposal": [] if proposal is None or proposal.seed != session.seed else _proposal_view(session, proposal),
    }


def _proposal_view(session: Session, proposal: SceneProposal) -> list[dict[str, Any]]:
    """What the probable automata would do in a proposed scene."""
    return [
        {
            "text": _in_words(session, plan.text),
            "weight": plan.weight,
            "word": [format_label(label) for label in compress(plan.labels) if label],
            "steps": len(plan.labels),
        }
        for plan in proposal.plans[:SHOWN_OPINIONS]
    ]


def _watch_view(view: ViewState) -> dict[str, Any]:
    """An episode of the agent, with explanations."""
    episode = view.episode
    if episode is None:
        return {"episode": None}
    return {"seed": episode.seed, **asdict(view.films[WATCH]), "episode": asdict(episode)}


def _question_view(session: Session, view: ViewState) -> dict[str, Any]:
    """A path, and the question whether it would be right."""
    question = view.question
    if question is None or session.model is None:
        return {"question": None}
    return {
        "seed": question.seed,
        **asdict(view.films[ANSWER]),
        "question": {
            "controls": list(question.controls),
            "labels": [None, *map(format_label, question.labels)],
            "states": session.model.finite.run(question.labels),
            "probability": question.probability if question.opinions else None,
            "explanation": explain_word(session.model, compress(question.labels)).sentences,
            "opinions": [
                {**asdict(one), "text": _in_words(session, one.text)} for one in question.opinions[:SHOWN_OPINIONS]
            ],
        },
    }


def _in_words(session: Session, text: str) -> str:
    """An alternative of the learned task in words."""
    posterior = None if session.model is None else posterior_of(session.model)
    return text if posterior is None else posterior.in_words(text)


def understanding_view(
    session: Session, view: ViewState, model: dict[str, Any] | None, has_cost: bool
) -> dict[str, Any]:
    """The learned task, with demonstrations, answers, corrections and propositions."""
    posterior = None if session.model is None else posterior_of(session.model)
    is_current = session.is_current
    outliers = posterior.outlier_probabilities.tolist() if posterior is not None and is_current else []
    return {
        "model": model,
        "trials": [{"seed": seed, "outcome": outcome, "steps": steps} for seed, outcome, steps in view.trials],
        "has_cost": has_cost,
        "is_current": is_current,
        "task_file": session.task_file if session.spec.is_invented else None,
        "demonstrations": [
            {
                "number": number + 1,
                "seed": one.seed,
                "steps": len(one.controls),
                "right": one.right,
                "judge": one.judge,
                "outlier": outliers[number] if number < len(outliers) else 0.0,
            }
            for number, one in enumerate(session.demonstrations)
        ],
        "corrections": [{"sentence": one.parsed.sentence, "law": one.law} for one in session.corrections],
        "answers": len(session.answers),
        "propositions": _propositions_view(session),
        "judge": session.judge,
        "judges": [one for one in JUDGES if one != RULE or not session.spec.is_invented],
    }


def _propositions_view(session: Session) -> dict[str, Any]:
    own = session.spec.propositions
    menu: list[dict[str, Any]] = []
    if session.spec.is_invented and not session.worlds.missing(session.spec, [session.seed]):
        world = session.world
        if isinstance(world, Inventive):
            menu = [{"text": text, "is": one} for text, one in world.proposition_menu()]
    texts = {str(one["is"]): one["text"] for one in menu}
    return {
        "invented": session.spec.is_invented,
        "names": [
            {"name": name, "text": texts.get(str(own[name]), _proposition_text(own[name])) if name in own else ""}
            for name in session.task.propositions
        ],
        "menu": menu,
    }


def _proposition_text(document: Mapping[str, Any]) -> str:
    if document["is"] == "at":
        return f"on cell {document['x']}, {document['y']}"
    return " ".join(str(one) for one in document.values())
