"""What jobs found for the pages of a session, and the views of a page's parts as plain JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.words import compress, format_label
from wfairl.core.rational.task_posterior import posterior_of
from wfairl.core.worlds.world import available_controls
from wfairl.questions.scene_proposal import SceneProposal
from wfairl.runs.collection import FIRST_TEST_SEED
from wfairl.studio.events import JUDGES, RULE, JudgedPath
from wfairl.studio.frames import FrameEncoder, describe_scene, encode_film
from wfairl.studio.keys import can_point, keys_of
from wfairl.studio.session import Session
from wfairl.studio.task_spec import Inventive

HEADER, PROGRESS, SCENE, WATCH, ANSWER = "header", "progress", "scene", "watch", "answer"
HISTORY, UNDERSTANDING = "history", "understanding"
PARTS = (HEADER, PROGRESS, SCENE, WATCH, ANSWER, UNDERSTANDING, HISTORY)
"""The parts of a page, each with a view of its own: what changes with every key is small."""

SHOWN_PLANS, SHOWN_MOMENTS = 4, 60


@dataclass
class Findings:
    """What jobs found, until it is replaced; none of it is saved."""

    encoder: FrameEncoder = field(default_factory=FrameEncoder)  # of the frames of the scene that is demonstrated in
    encoder_seed: int | None = None  # that scene
    proposal: SceneProposal | None = None  # the scene most worth demonstrating
    watched_seed: int = FIRST_TEST_SEED  # the scene that the agent was watched in last
    watched: dict[str, Any] = field(default_factory=dict)  # its episode there with a film, or why there is none
    asked: dict[str, Any] = field(default_factory=dict)  # the latest question, with a film
    trials: list[dict[str, Any]] = field(default_factory=list)  # seed, outcome and steps of each scene tried
    map: dict[str, Any] | None = None  # numbers over the cells of the episode's scene
    is_outdated: bool = False  # whether the episode was planned with an earlier model or cost
    revision: int = 0  # how often something was dropped; a page asks for what it shows once for each

    def drop_question(self) -> None:
        """Drop the question: it was answered, perhaps with "I don't know"."""
        self.asked = {}
        self.revision += 1

    def outdate(self) -> None:
        """Drop what follows from an earlier model; an episode is kept, but known to be old."""
        self.drop_question()
        self.proposal = self.map = None
        self.trials, self.is_outdated = [], True

    def clear(self) -> None:
        """Drop everything: the propositions have changed."""
        self.outdate()
        self.watched = {}


def header_view(session: Session) -> dict[str, Any]:
    """The task and the name of the session."""
    named = {"title": session.state.title, "summary": session.task.summary, "session": session.name}
    return {**named, "is_deleted": not session.directory.exists()}


def history_view(session: Session) -> dict[str, Any]:
    """The last acts, those that were undone among them."""
    history = session.history
    moments = [{"at": 1, "text": "began"}] if len(history) <= SHOWN_MOMENTS else []
    moments += [{"at": at, "text": text} for at, text in history.moments(SHOWN_MOMENTS)]
    return {"at": history.at, "acts": len(history), "moments": moments}


def scene_view(session: Session, findings: Findings) -> dict[str, Any]:
    """The scene in which a person demonstrates, and what all modes need to know."""
    state = session.state
    has_world = not session.worlds.missing(state.spec, [state.seed])
    marked = [(name, one) for name, one in state.spec.propositions.items() if one["is"] == "at"]
    common: dict[str, Any] = {
        "seed": state.seed,
        "controls": [],
        "has_model": session.model is not None,
        "is_current": session.model is not None and session.is_current,
        "revision": findings.revision,
        "first_watched": findings.watched_seed,
        "can_undo": session.history.undone is not None,
        "frames": [],
        "tiles": [],
        "has_world": has_world,
        "marked_cells": [{"name": name, "x": one["x"], "y": one["y"]} for name, one in marked],
    }
    if not has_world:
        return common
    world, walk, proposal = session.world, session.walk, findings.proposal
    if findings.encoder_seed != state.seed:
        findings.encoder, findings.encoder_seed = FrameEncoder(), state.seed
    now, path = walk.states[-1], [] if session.model is None else session.model.finite.run(walk.labels)
    # what the probable automata would do in the proposed scene
    plans = () if proposal is None else proposal.plans[:SHOWN_PLANS]
    told = [{"text": one.text, "word": _word(one.labels, False), "steps": len(one.labels)} for one in plans]
    return {
        **common,
        **encode_film(world, [now], findings.encoder),
        "controls": keys_of(world.controls),
        "description": describe_scene(world, now),
        "steps": len(state.controls),
        "word": _word(walk.labels),
        "available": available_controls(world, now).tolist(),
        "states": path[-2:],
        "can_point": can_point(world),
        "can_pick": state.spec.is_invented,
        "can_propose": session.model is not None and posterior_of(session.model) is not None,
        "proposal": None if proposal is None else {"seed": proposal.seed, "plans": told},
    }


def _word(labels: Sequence[Label], shows_nothing: bool = True) -> list[str]:
    """The labels of a path as text, consecutive equal ones once; perhaps without those in which nothing holds."""
    return [format_label(label) for label in compress(labels) if label or shows_nothing]


def watch_view(findings: Findings) -> dict[str, Any]:
    """An episode of the agent, with explanations."""
    nothing: dict[str, Any] = {"episode": None, "refusal": "", "frames": [], "tiles": []}
    return {**nothing, **findings.watched, "map": findings.map, "is_outdated": findings.is_outdated}


def understanding_view(session: Session, findings: Findings, model: dict[str, Any] | None) -> dict[str, Any]:
    """The learned task, with demonstrations, answers, corrections and propositions."""
    state, is_current, known = session.state, session.is_current, session.model
    posterior = None if known is None else posterior_of(known)

    def is_rejected(path: JudgedPath) -> bool:
        """Whether the learned task does not accept a path that is right, as a law may have it."""
        has_world = not session.worlds.missing(state.spec, [path.seed])
        return known is not None and has_world and known.finite.fulfilled_at(session.labels_of(path)) is None

    outliers = posterior.outlier_probabilities.tolist() if posterior is not None and is_current else []
    return {
        "model": model,
        "trials": findings.trials,
        "cost": session.cost_words,
        "is_current": is_current,
        "task_file": session.task_file if state.spec.is_invented else None,
        "demonstrations": [
            {
                "number": number + 1,
                "seed": one.seed,
                "steps": len(one.controls),
                "right": one.right,
                "judge": one.judge,
                "outlier": outliers[number] if number < len(outliers) else 0.0,
                "is_rejected": is_current and one.right and is_rejected(one),
            }
            for number, one in enumerate(state.demonstrations)
        ],
        "corrections": [{"sentence": one.parsed.sentence, "law": one.law} for one in state.corrections],
        "answers": [
            {"number": number, "seed": one.seed, "right": one.right, "word": _word(session.labels_of(one), False)}
            for number, one in enumerate(state.answers)
            if not session.worlds.missing(state.spec, [one.seed])
        ],
        "propositions": _propositions_view(session),
        "judge": state.judge,
        "judges": [one for one in JUDGES if one != RULE or state.spec.has_rule],
    }


def _propositions_view(session: Session) -> dict[str, Any]:
    state = session.state
    world = None if session.worlds.missing(state.spec, [state.seed]) else session.world
    texts: Mapping[str, str] = world.meanings if isinstance(world, Inventive) else {}
    menu: list[dict[str, Any]] = []
    if isinstance(world, Inventive) and state.spec.is_invented:
        menu = [{"text": text, "is": one} for text, one in world.proposition_menu()]
    names = [
        {
            "name": name,
            "text": texts.get(name) or _proposition_text(state.spec.propositions.get(name, {})),
            "corrections": [state.corrections[i].parsed.sentence for i in state.corrections_about(name)],
        }
        for name in session.task.propositions
    ]
    return {"invented": state.spec.is_invented, "names": names, "menu": menu}


def _proposition_text(document: Mapping[str, Any]) -> str:
    if document.get("is") == "at":
        return f"on cell {document['x']}, {document['y']}"
    return " ".join(str(one) for one in document.values())
