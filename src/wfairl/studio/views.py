"""What a page shows of a session, as plain JSON."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from wfairl.automata.words import compress, format_label
from wfairl.logic.explanation import explain_word
from wfairl.logic.proposals import Proposal
from wfairl.studio.events import JUDGES, RULE
from wfairl.studio.keys import can_point, keys_of
from wfairl.studio.screen import ANSWER, WATCH, Screen
from wfairl.studio.session import Session
from wfairl.studio.tiles import corner_of, instruction_of
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


def stage_view(session: Session, screen: Screen) -> dict[str, Any]:
    """What is on the stage."""
    is_there = not session.scenes.missing(session.assignment, [session.seed])
    common = {
        "mode": screen.mode,
        "controls": keys_of(session.world.controls) if is_there else [],
        "map": screen.map,
        "has_model": session.model is not None,
        "frames": [],
        "tiles": [],
        "is_there": is_there,
        "places": [
            {"name": name, "x": one["x"], "y": one["y"]}
            for name, one in session.assignment.propositions.items()
            if one["is"] == "at"
        ],
    }
    if screen.mode == WATCH:
        return {**common, **_watch_view(screen)}
    if screen.mode == ANSWER:
        return {**common, **_question_view(session, screen)}
    return {**common, **(_show_view(session, screen) if is_there else {"seed": session.seed})}


def _show_view(session: Session, screen: Screen) -> dict[str, Any]:
    """The demonstration being made."""
    state, sheet = session.states[-1], screen.sheet_of(session.seed)
    path = [] if session.model is None else session.model.finite.run(session.labels)
    proposal = screen.proposal
    return {
        "seed": session.seed,
        "frames": [sheet.frame(session.world, state)],
        "tiles": sheet.tiles,
        "corner": corner_of(session.world),
        "instruction": instruction_of(session.world),
        "steps": len(session.controls),
        "word": [format_label(label) for label in compress(session.labels)],
        "available": [bool(one) for one in available_controls(session.world, state)],
        "states": path[-2:],
        "can_point": can_point(session.world),
        "can_pick": session.assignment.is_invented,
        "can_propose": session.model is not None and "alternatives" in session.model.facts,
        "proposal": [] if proposal is None or proposal.seed != session.seed else _ways(proposal),
    }


def _ways(proposal: Proposal) -> list[dict[str, Any]]:
    """What the probable automata would have done in a proposed scene."""
    return [
        {
            "text": way.text,
            "weight": way.weight,
            "word": [format_label(label) for label in compress(way.labels) if label],
            "steps": len(way.labels),
        }
        for way in proposal.ways[:SHOWN_OPINIONS]
    ]


def _watch_view(screen: Screen) -> dict[str, Any]:
    """An episode of the agent, with its reasons."""
    episode = screen.episode
    if episode is None:
        return {"episode": None}
    return {
        "seed": episode.seed,
        **asdict(screen.films[WATCH]),
        "episode": {
            "outcome": episode.outcome,
            "success": episode.is_success,
            "imposed": episode.imposed,
            "cost": episode.cost,
            "best_cost": episode.best_cost,
            "moments": [asdict(moment) for moment in episode.moments],
            "explanation": list(episode.explanation),
            "controls": list(episode.controls),
        },
    }


def _question_view(session: Session, screen: Screen) -> dict[str, Any]:
    """A walk that a person is asked about."""
    question = screen.question
    if question is None or session.model is None:
        return {"question": None}
    return {
        "seed": question.seed,
        **asdict(screen.films[ANSWER]),
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


def mind_view(session: Session, screen: Screen, understanding: dict[str, Any] | None, has_cost: bool) -> dict[str, Any]:
    """What was understood and what it rests on."""
    return {
        "model": understanding,
        "tried": [{"seed": seed, "outcome": outcome, "steps": steps} for seed, outcome, steps in screen.tried],
        "has_cost": has_cost,
        **told_view(session),
    }


def told_view(session: Session) -> dict[str, Any]:
    """What was shown, said and corrected, and what labels are about."""
    facts = {} if session.model is None else session.model.facts
    is_current = session.is_understood
    outliers = facts.get("outlier_probabilities", []) if is_current else []
    return {
        "is_current": is_current,
        "task_file": session.task_file if session.assignment.is_invented else None,
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
        "corrections": [{"sentence": one.correction.sentence, "law": one.is_law} for one in session.corrected],
        "answers": [{"seed": one.seed, "right": one.is_right} for one in session.answered],
        "propositions": _propositions_view(session),
        "judge": session.judge,
        "judges": [one for one in JUDGES if one != RULE or not session.assignment.is_invented],
    }


def _propositions_view(session: Session) -> dict[str, Any]:
    own = session.assignment.propositions
    menu: list[dict[str, Any]] = []
    if session.assignment.is_invented and not session.scenes.missing(session.assignment, [session.seed]):
        world = session.world
        menu = (
            [{"text": text, "is": one} for text, one in world.proposition_menu()]
            if isinstance(world, Inventive)
            else []
        )
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
