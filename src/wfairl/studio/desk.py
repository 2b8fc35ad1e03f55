"""A desk: a session with what is on its screen, and the jobs that run for it. It knows no browser either.

A page sends messages, plain JSON that nobody trusts, to `handle`; it shows what `stage_view` and `mind_view` give, and
is told when one of them has changed. Several pages may show one desk.
"""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from wfairl.automata.task_model import TaskModel
from wfairl.demonstrations.collection import FIRST_TEST_SEED
from wfairl.errors import BadInputError, FailedRunError, WfairlError
from wfairl.logic.corrections import correction_of_document, obey, without_edge
from wfairl.logic.questions import Question
from wfairl.studio import jobs, views
from wfairl.studio.acting import Episode
from wfairl.studio.keys import keys_of
from wfairl.studio.session import PERSON, RUN, Session
from wfairl.studio.tiles import TileSheet
from wfairl.studio.understanding import describe
from wfairl.studio.workers import Job, Workers
from wfairl.worlds.documents import Inventive

SHOW, WATCH, ANSWER = "show", "watch", "answer"
HEADING, STAGE, MIND = "heading", "stage", "mind"
"""The parts of a page."""

TRIED_SCENES = 10
TICK = 0.15
"""Seconds between two looks at the progress of a job."""

LISTENING = Callable[[str], None]


class Desk:
    """A session and its screen.

    Args:
        session: the session.
        workers: who does what takes long.
    """

    def __init__(self, session: Session, workers: Workers) -> None:
        self.session, self._workers = session, workers
        self.listeners: list[LISTENING] = []
        self.mode = SHOW
        self.notice = ""
        self._sheet, self._sheet_seed = TileSheet(), session.seed
        self._job: Job | None = None
        self._doing = ""
        self._before: TaskModel | None = None
        self._understanding: dict[str, Any] | None = None
        self._watched = FIRST_TEST_SEED
        self._episode: Episode | None = None
        self._question: Question | None = None
        self._tried: list[tuple[int, str, int]] = []
        self._maps: dict[str, Any] | None = None
        self._describe()

    async def handle(self, message: Any) -> None:
        """Do what a page asks for; what cannot be done is said, and changes nothing."""
        actions: dict[str, Callable[[Mapping[str, Any]], Any]] = {
            "mode": self._set_mode,
            "keep": self._keep,
            "learn": self._learn,
            "cancel": self._cancel,
            "watch": self._watch,
            "ask": self._ask,
            "answer": self._answer,
            "correct": self._correct,
            "edge": self._delete_edge,
            "try": self._try,
            "cost": self._learn_cost,
            "map": self._map,
            "cell": self._cell,
        }
        self.notice = ""
        try:
            kind = message["do"]
            if kind in actions:
                await actions[kind](message)
            elif kind == "next":
                self.session.do({"do": "scene", "seed": self.session.next_seed})
            else:
                await self._tell(message)
        except WfairlError as error:
            self.notice = _sentence(error)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            self.notice = f"That was not understood ({error!r})."
        self._changed(STAGE)

    async def _tell(self, message: Mapping[str, Any]) -> None:
        """What changes the session: an event of its own, and what follows from it."""
        self.session.do(message)
        self._maps = None
        if message["do"] == "name":
            self._changed(HEADING, MIND)
        if message["do"] == "control" and (verdict := self.session.verdict) is not None:
            await self._keep({"right": verdict, "by": self.session.judge})
        elif message["do"] in ("drop", "withdraw", "proposition", "forget"):
            if message["do"] in ("proposition", "forget"):
                self._episode = self._question = None
                self._before = None
            self._describe()
            await self._learn(message)

    async def _keep(self, message: Mapping[str, Any]) -> None:
        steps, seed = len(self.session.controls), self.session.seed
        self.session.do({"do": "keep", "right": message["right"], "by": message.get("by", PERSON)})
        said = "a success" if message["right"] else "a failure"
        self.notice = f"Kept: scene {seed}, {steps} steps, {said}."
        self._maps = None
        self._describe()
        await self._learn(message)

    async def _learn(self, message: Mapping[str, Any]) -> None:  # noqa: ARG002
        session = self.session
        if not any(one.is_right for one in session.shown):
            session.model = None
            self._describe()
            return
        if self._job is not None:
            self._job.cancel()
        before = session.model
        model = await self._run("understanding", jobs.learn, session.assignment, session.dataset, session.laws)
        if model is not None:
            session.learned(model)
            self._before = before
            self._question = self._episode = None
            self._tried = []
            self._describe()
            if self.mode == WATCH:
                await self._watch({"seed": self._watched})

    async def _set_mode(self, message: Mapping[str, Any]) -> None:
        mode = message["mode"]
        if mode not in (SHOW, WATCH, ANSWER):
            raise BadInputError("there is no such place")
        if mode != SHOW and self.session.model is None:
            raise BadInputError("Show it once first: there is nothing to watch or to ask yet.")
        self.mode, self._maps = mode, None
        self._changed(STAGE)
        if mode == WATCH and self._episode is None:
            await self._watch({"seed": self._watched})
        elif mode == ANSWER and self._question is None:
            await self._ask(message)

    async def _watch(self, message: Mapping[str, Any]) -> None:
        """Watch the agent in a scene: the next one, a certain one, or one in which a person chooses some controls."""
        seed = int(message.get("seed", self._watched + 1))
        imposed = tuple(int(one) for one in message.get("controls", ()))
        episode = await self._run("planning", jobs.act, self.session.assignment, self._model, seed, imposed, self._cost)
        if episode is not None:
            self._watched, self._episode, self.mode, self._maps = seed, episode, WATCH, None

    async def _try(self, message: Mapping[str, Any]) -> None:  # noqa: ARG002
        seeds = range(self._watched, self._watched + TRIED_SCENES)
        arguments = self.session.assignment, self._model, seeds, self._cost
        tried = await self._run("trying", jobs.try_scenes, *arguments)
        if tried is not None:
            self._tried = tried
            self._changed(MIND)

    async def _ask(self, message: Mapping[str, Any]) -> None:  # noqa: ARG002
        session = self.session
        first = session.next_seed
        question = await self._run("asking", jobs.ask, session.assignment, self._model, session.dataset, first)
        if question is not None:
            self._question, self.mode = question, ANSWER

    async def _answer(self, message: Mapping[str, Any]) -> None:
        if self._question is None:
            raise BadInputError("nothing was asked")
        asked, right = self._question, message["right"]
        self.session.do({"do": "answer", "seed": asked.seed, "controls": list(asked.controls), "right": right})
        was = self.session.model
        await self._learn(message)
        same = was is not None and self.session.model is not None and was.sentences == self.session.model.sentences
        self.notice = f"Your answer is kept. {'It agrees with what was understood.' if same else 'The task changed.'}"

    async def _correct(self, message: Mapping[str, Any]) -> None:
        session, correction = self.session, correction_of_document(message["correction"])
        is_law = message["law"] is True
        answers: Any = ()
        if is_law:
            obey(self._model, (*session.laws, correction), session.dataset)  # refused if nothing is left of the task
        else:
            arguments = session.assignment, self._model, session.dataset, correction, session.next_seed
            answers = await self._run("looking for counterexamples", jobs.refute, *arguments)
            if not answers:
                raise BadInputError(f"The task as it is understood obeys already: {correction.sentence}.")
        told = [{"seed": one.seed, "controls": list(one.controls)} for one in answers]
        event = {"do": "correct", "correction": correction.to_document(), "law": is_law, "answers": told}
        session.do(event)
        await self._learn(message)
        self.notice = f"Corrected, as {'law' if is_law else f'{len(told)} answers'}: {correction.sentence}."

    async def _delete_edge(self, message: Mapping[str, Any]) -> None:
        correction = without_edge(self._model, int(message["source"]), str(message["text"]))
        await self._correct({"correction": correction.to_document(), "law": message["law"]})

    async def _learn_cost(self, message: Mapping[str, Any]) -> None:  # noqa: ARG002
        session = self.session
        arguments = session.assignment, self._model, session.dataset, session.directory / RUN
        said = await self._run("learning the cost", jobs.learn_cost, *arguments)
        if said is not None:
            self._episode = self._maps = None
            self.notice = f"The cost is learned: {said}."
            self._changed(MIND)

    async def _map(self, message: Mapping[str, Any]) -> None:
        if self._maps is not None and self._maps["kind"] == message["kind"]:
            self._maps = None
            return
        if message["kind"] not in ("step", "to_go"):
            raise BadInputError("there is no such map")
        episode = self._episode if self.mode == WATCH else None
        seed = self.session.seed if episode is None else episode.seed
        state = int(message.get("state", 0))
        arguments = self.session.assignment, self._model, seed, state, self._cost
        found = await self._run("mapping", jobs.map_scene, *arguments)
        if found is not None:
            self._maps = {"kind": message["kind"], "state": state, "values": getattr(found, message["kind"])}

    async def _cell(self, message: Mapping[str, Any]) -> None:
        """A cell that a person chose in the picture becomes a proposition."""
        world = self.session.world
        if not isinstance(world, Inventive):
            raise BadInputError("this world has no cells to choose")
        x, y = world.cell_at(int(message["x"]), int(message["y"]))
        name = str(message.get("name") or f"at {x},{y}")
        await self._tell({"do": "proposition", "name": name, "is": {"is": "at", "x": x, "y": y}})

    async def _cancel(self, message: Mapping[str, Any]) -> None:  # noqa: ARG002
        if self._job is not None:
            self._job.cancel()

    async def _run(self, doing: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """The result of a job, None if it was cancelled; the page shows how far it is."""
        job = self._workers.submit(function, *arguments)
        self._job, self._doing = job, doing
        self._changed(MIND, STAGE)
        ticking = asyncio.ensure_future(self._tick(job))
        try:
            return await asyncio.wrap_future(job.future)
        except (jobs.CancelledJobError, asyncio.CancelledError, CancelledError):
            self.notice = f"Stopped {doing}." if self._job is job else self.notice
            return None
        except BrokenProcessPool:
            raise FailedRunError(f"The worker was lost while {doing}; try again.") from None
        finally:
            ticking.cancel()
            if self._job is job:
                self._job = None
            self._changed(MIND, STAGE)

    async def _tick(self, job: Job) -> None:
        while self._job is job:
            await asyncio.sleep(TICK)
            self._changed(MIND)

    async def catch_up(self) -> None:
        """Learn what was shown before the server was killed, if it had no time to."""
        if not self.session.is_understood:
            try:
                await self._learn({})
            except WfairlError as error:
                self.notice = _sentence(error)

    @property
    def _model(self) -> TaskModel:
        if self.session.model is None:
            raise BadInputError("Show it once first.")
        return self.session.model

    @property
    def _cost(self) -> Path | None:
        run = self.session.directory / RUN  # it appears whole, or not at all
        return run if run.is_dir() else None

    def _describe(self) -> None:
        model = self.session.model
        self._understanding = None if model is None else describe(model, self.session.dataset, self._before)
        self._changed(MIND)

    def _changed(self, *parts: str) -> None:
        for part in parts:
            for listener in list(self.listeners):
                listener(part)

    def heading_view(self) -> dict[str, Any]:
        """What the session is about, as plain JSON."""
        return views.heading_view(self.session)

    def stage_view(self) -> dict[str, Any]:
        """What is on the stage, as plain JSON."""
        return {
            "mode": self.mode,
            "notice": self.notice,
            "controls": keys_of(self.session.world.controls),
            "busy": self._doing if self._job is not None else None,
            "map": self._maps,
            "has_model": self.session.model is not None,
            **self._on_stage(),
        }

    def _on_stage(self) -> dict[str, Any]:
        if self.mode == WATCH:
            return views.watch_view(self.session, self._episode)
        if self.mode == ANSWER:
            return views.question_view(self.session, self._question)
        if self._sheet_seed != self.session.seed:
            self._sheet, self._sheet_seed = TileSheet(), self.session.seed
        return views.show_view(self.session, self._sheet)

    def mind_view(self) -> dict[str, Any]:
        """What was understood and what it rests on, as plain JSON."""
        job = self._job
        return {
            "model": self._understanding,
            "thinking": None if job is None else {"what": self._doing, "reports": job.reports},
            "tried": [{"seed": seed, "outcome": outcome, "steps": steps} for seed, outcome, steps in self._tried],
            "has_cost": self._cost is not None,
            **views.told_view(self.session),
        }


def _sentence(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
