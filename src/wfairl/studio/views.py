"""What a page shows of a session, as plain JSON."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from wfairl.automata.words import compress, format_label
from wfairl.demonstrations.demonstration import walk
from wfairl.logic.explanation import explain_word
from wfairl.logic.questions import Question
from wfairl.studio.acting import Episode
from wfairl.studio.session import JUDGES, RULE, Session
from wfairl.studio.tiles import TileSheet
from wfairl.worlds.documents import Inventive
from wfairl.worlds.world import available_controls

SHOWN_OPINIONS = 4


def heading_view(session: Session) -> dict[str, Any]:
    """What a session is about."""
    return {
        "title": session.assignment.name,
        "summary": session.task.summary,
        "session": session.name,
        "invented": session.assignment.is_invented,
    }


def show_view(session: Session, sheet: TileSheet) -> dict[str, Any]:
    """The demonstration being made."""
    state = session.states[-1]
    frame = sheet.frame(session.world, state)
    path = [] if session.model is None else session.model.finite.run(session.labels)
    return {
        "seed": session.seed,
        "frames": [frame],
        "tiles": sheet.tiles,
        "steps": len(session.controls),
        "word": [format_label(label) for label in compress(session.labels)],
        "available": [bool(one) for one in available_controls(session.world, state)],
        "states": path[-2:],
        "judge": session.judge,
        "can_pick": session.assignment.is_invented,
    }


def watch_view(session: Session, episode: Episode | None) -> dict[str, Any]:
    """An episode of the agent, with its reasons."""
    if episode is None or session.model is None:
        return {"frames": [], "tiles": [], "episode": None}
    _, labels = walk(session.task.make_world(episode.seed), episode.controls, episode.seed)
    return {
        "seed": episode.seed,
        **_film(session, episode.seed, episode.controls),
        "episode": {
            "outcome": episode.outcome,
            "success": episode.is_success,
            "imposed": episode.imposed,
            "cost": episode.cost,
            "best_cost": episode.best_cost,
            "moments": [asdict(moment) for moment in episode.moments],
            "explanation": explain_word(session.model, compress(labels)).sentences,
            "controls": list(episode.controls),
        },
    }


def question_view(session: Session, question: Question | None) -> dict[str, Any]:
    """A walk that a person is asked about."""
    if question is None or session.model is None:
        return {"frames": [], "tiles": [], "question": None}
    return {
        "seed": question.seed,
        **_film(session, question.seed, question.controls),
        "question": {
            "controls": list(question.controls),
            "labels": [None, *map(format_label, question.labels)],
            "states": session.model.finite.run(question.labels),
            "information": question.information,
            "probability": question.probability if question.opinions else None,
            "explanation": explain_word(session.model, compress(question.labels)).sentences,
            "opinions": [asdict(one) for one in question.opinions[:SHOWN_OPINIONS]],
        },
    }


def _film(session: Session, seed: int, controls: tuple[int, ...]) -> dict[str, Any]:
    """A frame for each state along controls."""
    world = session.task.make_world(seed)
    states, _ = walk(world, controls, seed)
    sheet = TileSheet()
    frames = [sheet.frame(world, state) for state in states]
    return {"frames": frames, "tiles": sheet.tiles}


def told_view(session: Session) -> dict[str, Any]:
    """What was shown, said and corrected, and what labels are about."""
    facts = {} if session.model is None else session.model.facts
    is_current = session.is_understood
    outliers = facts.get("outlier_probabilities", []) if is_current else []
    return {
        "is_current": is_current,
        "demonstrations": [
            {
                "number": number + 1,
                "seed": one.seed,
                "steps": len(one.controls),
                "right": one.is_right,
                "judge": one.judge,
                "outlier": outliers[number] if number < len(outliers) else 0.0,
            }
            for number, one in enumerate(session.shown)
        ],
        "corrections": [
            {"sentence": one.correction.sentence, "law": one.is_law, "answers": len(one.answers)}
            for one in session.corrected
        ],
        "answers": [{"seed": one.seed, "right": one.is_right} for one in session.answered],
        "propositions": _propositions_view(session),
        "judge": session.judge,
        "judges": [one for one in JUDGES if one != RULE or not session.assignment.is_invented],
    }


def _propositions_view(session: Session) -> dict[str, Any]:
    own, world = session.assignment.propositions, session.world
    menu: list[dict[str, Any]] = []
    if session.assignment.is_invented and isinstance(world, Inventive):
        menu = [{"text": text, "is": one} for text, one in world.proposition_menu()]
    texts = {str(one["is"]): one["text"] for one in menu}
    return {
        "invented": session.assignment.is_invented,
        "names": [
            {"name": name, "text": texts.get(str(own[name]), _place(own[name])) if name in own else ""}
            for name in session.task.propositions
        ],
        "menu": menu,
    }


def _place(document: Mapping[str, Any]) -> str:
    if document["is"] == "at":
        return f"on the cell {document['x']}, {document['y']}"
    return " ".join(str(one) for one in document.values())
