"""A desk: what a person does with a session, and the jobs that run for it. It knows no browser either.

A page sends messages, plain JSON that nobody trusts, to `handle`; it shows what `view` gives of each of its parts, and
is told when one of them has changed. Several pages may show one desk.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from wfairl.automata.task_model import TaskModel
from wfairl.errors import BadInputError, WfairlError
from wfairl.logic.corrections import correction_of_document, obey, without_edge
from wfairl.planning.product import ProductTooLargeError
from wfairl.studio import jobs, views
from wfairl.studio.assignment import Assignment
from wfairl.studio.downloads import ARCHIVE, REPORT, SCENE, Material, archive, download, report_page
from wfairl.studio.events import PERSON
from wfairl.studio.keys import can_point, headed, pointed_at
from wfairl.studio.progress import Progress, StoppedError
from wfairl.studio.scenes import make_scenes
from wfairl.studio.screen import ANSWER, SHOW, WATCH, Screen
from wfairl.studio.session import RUN, Session
from wfairl.studio.workers import JobRunner
from wfairl.worlds.documents import Inventive

HEADING, PROGRESS, STAGE, MIND = "heading", "progress", "stage", "mind"
"""The parts of a page."""

TRIED_SCENES = 10

LISTENING = Callable[[str], None]


class Desk:
    """A session and its screen.

    Args:
        session: the session.
        workers: who learns and plans.
        makers: who makes worlds; None to make them here.
    """

    def __init__(self, session: Session, workers: JobRunner, makers: JobRunner | None = None) -> None:
        self.session, self._workers, self._makers = session, workers, makers
        self.listeners: list[LISTENING] = []
        self.screen = Screen()
        self.notice, self._handled = "", 0
        self._progress = Progress(lambda: self._changed(PROGRESS))
        self._turn = asyncio.Lock()
        self._understanding: dict[str, Any] | None = None
        self._is_ready = False
        if makers is None:
            _ = session.world

    async def ready(self) -> None:
        """Make the worlds of what was shown, and learn what a killed server had no time to."""
        try:
            async with self._turn:
                if not self._is_ready:
                    await self._fetch(self.session.assignment, self.session.seeds)
                    if self.session.shown:
                        self.session.save_dataset()  # the server may have been killed between journal and file
                    self._is_ready = True
            if not self.session.is_understood:
                await self._learn({})
            elif self.session.model is not None and self._understanding is None:
                arguments = self.session.model, self.session.dataset
                self._understanding = await self._run("opening the session", jobs.look_at, *arguments)
        except WfairlError as error:
            self._say(error)
        self._changed(STAGE, MIND)
        self._look_ahead()

    async def handle(self, message: Any) -> None:
        """Do what a page asks for; what cannot be done is said, and changes nothing."""
        actions: dict[str, Callable[[Mapping[str, Any]], Any]] = {
            "ready": lambda _: self.ready(),
            "mode": self._set_mode,
            "next": self._next,
            "point": self._point,
            "propose": self._propose,
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
        self._handled += 1
        try:
            await actions.get(message["do"], self._tell)(message)
        except ProductTooLargeError:
            self.notice = "This scene is too large for that: the agent plans in it, but this would look at all of it."
        except WfairlError as error:
            self._say(error)
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            self.notice = f"That was not understood ({error!r})."
        self._changed(STAGE)

    async def _do(self, event: Mapping[str, Any]) -> None:
        """An event of the session, once the worlds that it needs are there; events keep their order."""
        async with self._turn:
            await self._perform(event)

    async def _perform(self, event: Mapping[str, Any]) -> None:
        await self._fetch(*self.session.scenery(event))
        self.session.do(event)
        self._look_ahead()

    async def _fetch(self, assignment: Assignment, seeds: Iterable[int]) -> None:
        """See to it that worlds are there."""
        scenes = self.session.scenes
        missing = scenes.missing(assignment, seeds)
        if not missing or self._makers is None:
            return
        doing = "making the scene" if len(missing) == 1 else f"making {len(missing)} scenes"
        scenes.unpack(assignment, await self._wait(self._makers, doing, make_scenes, assignment, missing))

    def _look_ahead(self) -> None:
        """Have the next scene made while the person is busy with this one."""
        session, assignment = self.session, self.session.assignment
        missing = session.scenes.missing(assignment, [session.next_seed])
        if self._makers is None or not missing or session.scenes.missing(assignment, [session.seed]):
            return

        def keep(done: "asyncio.Future[bytes | None]") -> None:
            if not done.cancelled() and done.exception() is None:
                session.scenes.unpack(assignment, done.result())

        asyncio.wrap_future(self._makers.submit(make_scenes, assignment, missing).future).add_done_callback(keep)

    async def _tell(self, message: Mapping[str, Any]) -> None:
        """What changes the session: an event of its own, and what follows from it."""
        if message["do"] == "control":
            await self._act(message)
            return
        await self._do(message)
        self.screen.map = None
        if message["do"] == "name":
            self._changed(HEADING, MIND)
        if message["do"] == "judge":
            self._changed(MIND)
        if message["do"] in ("drop", "withdraw", "proposition", "forget"):
            if message["do"] in ("proposition", "forget"):
                self.screen.clear()
            await self._learn(message)

    async def _point(self, message: Mapping[str, Any]) -> None:
        """Go where the person points: a place in the picture, or the direction of an arrow key."""
        async with self._turn:
            await self._fetch(self.session.assignment, [self.session.seed])
        world, state = self.session.world, self.session.states[-1]
        if not can_point(world):
            raise BadInputError("in this world one chooses a control")
        key = message.get("key")
        place = () if key is not None else (float(message["x"]), float(message["y"]))
        control = headed(world, state, str(key)) if key is not None else pointed_at(world, state, *place)
        await self._tell({"do": "control", "control": control})

    async def _next(self, message: Mapping[str, Any]) -> None:  # noqa: ARG002
        async with self._turn:  # what is next depends on the keys before this one
            await self._perform({"do": "scene", "seed": self.session.next_seed})

    async def _propose(self, message: Mapping[str, Any]) -> None:  # noqa: ARG002
        """Go to the scene whose demonstration is expected to say most."""
        session = self.session
        arguments = session.assignment, self._model, session.dataset, session.next_seed
        proposal = await self._run("looking for the most telling scene", jobs.propose, *arguments)
        await self._do({"do": "scene", "seed": proposal.seed})
        self.screen.mode, self.screen.proposal = SHOW, proposal

    async def _act(self, message: Mapping[str, Any]) -> None:
        """A control; a demonstration that is over with it is kept before the next one."""
        async with self._turn:
            await self._perform(message)
            verdict = self.session.verdict
            if verdict is not None:
                await self._perform_keep(verdict, self.session.judge)
        self.screen.map = None
        if verdict is not None:
            await self._learn(message)

    async def _keep(self, message: Mapping[str, Any]) -> None:
        async with self._turn:
            await self._perform_keep(message["right"], message.get("by", PERSON))
        self.screen.map = None
        await self._learn(message)

    async def _perform_keep(self, right: bool, by: str) -> None:
        steps, seed = len(self.session.controls), self.session.seed
        await self._perform({"do": "keep", "right": right, "by": by})
        self.notice = f"Kept: scene {seed}, {steps} steps, {'a success' if right else 'a failure'}."

    async def _learn(self, message: Mapping[str, Any]) -> None:  # noqa: ARG002
        session = self.session
        if session.model is None or not any(one.is_right for one in session.shown):
            session.model = self._understanding = None
        self._changed(MIND)
        if not any(one.is_right for one in session.shown):
            return
        self._progress.cancel()
        arguments = session.assignment, session.dataset, session.laws, session.model
        model, self._understanding = await self._run("understanding", jobs.learn, *arguments)
        session.learned(model)
        self.screen.clear()
        await self._watch_again()

    async def _watch_again(self) -> None:
        """Show what the agent does now in the scene that is watched."""
        if self.screen.mode == WATCH:
            await self._watch({"seed": self.screen.watched})

    async def _set_mode(self, message: Mapping[str, Any]) -> None:
        mode, screen = message["mode"], self.screen
        if mode not in (SHOW, WATCH, ANSWER):
            raise BadInputError("there is no such place")
        if mode != SHOW and self.session.model is None:
            raise BadInputError("Show it once first: there is nothing to watch or to ask yet.")
        screen.mode, screen.map = mode, None
        self._changed(STAGE)
        if mode == WATCH and screen.episode is None:
            await self._watch_again()
        elif mode == ANSWER and screen.question is None:
            await self._ask(message)

    async def _watch(self, message: Mapping[str, Any]) -> None:
        """Watch the agent in a scene: the next one, a certain one, or one in which a person leads it at first."""
        seed = int(message.get("seed", self.screen.watched + 1))
        imposed = tuple(int(one) for one in message.get("controls", ()))
        places = tuple((float(x), float(y)) for x, y in message.get("places", ()))
        arguments = self.session.assignment, self._model, seed, self._cost, imposed, places
        self.screen.show_episode(*await self._run("planning", jobs.act, *arguments))

    async def _try(self, message: Mapping[str, Any]) -> None:  # noqa: ARG002
        seeds = range(self.screen.watched, self.screen.watched + TRIED_SCENES)
        arguments = self.session.assignment, self._model, seeds, self._cost
        self.screen.tried = await self._run("trying", jobs.try_scenes, *arguments)
        self._changed(MIND)

    async def _ask(self, message: Mapping[str, Any]) -> None:  # noqa: ARG002
        session = self.session
        arguments = session.assignment, self._model, session.dataset, session.next_seed
        self.screen.show_question(*await self._run("looking for a question", jobs.ask, *arguments))

    async def _answer(self, message: Mapping[str, Any]) -> None:
        asked, right = self.screen.question, message["right"]
        if asked is None:
            raise BadInputError("nothing was asked")
        await self._do({"do": "answer", "seed": asked.seed, "controls": list(asked.controls), "right": right})
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
            answers = await self._run("weighing", jobs.weigh, *arguments)
        walks = [
            {"seed": one.seed, "controls": list(one.controls), "right": one.is_right, "weight": one.weight}
            for one in answers
        ]
        await self._do({"do": "correct", "correction": correction.to_document(), "law": is_law, "answers": walks})
        await self._learn(message)
        self.notice = f"Corrected, as {'law' if is_law else 'evidence'}: {correction.sentence}."

    async def _delete_edge(self, message: Mapping[str, Any]) -> None:
        correction = without_edge(self._model, int(message["source"]), str(message["text"]))
        await self._correct({"correction": correction.to_document(), "law": message["law"]})

    async def _learn_cost(self, message: Mapping[str, Any]) -> None:  # noqa: ARG002
        session = self.session
        arguments = session.assignment, self._model, session.dataset, session.directory / RUN
        said = await self._run("learning the cost", jobs.learn_cost, *arguments)
        self.screen.episode = self.screen.map = None
        await self._watch_again()
        self.notice = f"The cost is learned: {said}."
        self._changed(MIND)

    async def _map(self, message: Mapping[str, Any]) -> None:
        screen, kind, state = self.screen, message["kind"], int(message.get("state", 0))
        if screen.map is not None and screen.map["kind"] == kind:
            screen.map = None
            return
        if kind not in ("step", "to_go"):
            raise BadInputError("there is no such map")
        arguments = self.session.assignment, self._model, self._seed, state, self._cost
        found = await self._run("mapping", jobs.map_scene, *arguments)
        screen.map = {"kind": kind, "state": state, "values": getattr(found, kind)}

    async def _cell(self, message: Mapping[str, Any]) -> None:
        """A cell that a person chose in the picture becomes a proposition."""
        world = self.session.world
        if not isinstance(world, Inventive):
            raise BadInputError("this world has no cells to choose")
        x, y = world.cell_at(int(message["x"]), int(message["y"]))
        name = str(message.get("name") or f"at {x},{y}")
        await self._tell({"do": "proposition", "name": name, "is": {"is": "at", "x": x, "y": y}})

    async def _cancel(self, message: Mapping[str, Any]) -> None:  # noqa: ARG002
        self._progress.cancel()

    async def download(self, file: str) -> tuple[bytes, str]:
        """A file of the session: its content and its media type.

        Raises:
            WfairlError: there is no such file, or it cannot be made now.
        """
        await self.ready()
        if file == REPORT:
            return (await self._page()).encode(), "text/html"
        if file == SCENE:
            arguments = self.session.assignment, self._model, self._seed, self._cost
            return (await self._run("writing the model", jobs.write_prism, *arguments)).encode(), "text/plain"
        if file == ARCHIVE:
            return archive(self.session, None if self.session.model is None else await self._page()), "application/zip"
        return download(self.session, file)

    async def _page(self) -> str:
        session = self.session
        material = Material(
            session.name, session.assignment, self._model, session.dataset, tuple(session.shown),
            tuple(session.corrected), self._cost,
        )  # fmt: skip
        page: str = await self._run("writing the report", report_page, material)
        return page

    def view(self, part: str) -> dict[str, Any]:
        """What a part of the page shows, as plain JSON."""
        if part == HEADING:
            return views.heading_view(self.session)
        if part == PROGRESS:
            return {"job": self._progress.view()}
        if part == STAGE:
            told = {"notice": self.notice, "handled": self._handled, "busy": self._progress.doing}
            return {**told, **views.stage_view(self.session, self.screen)}
        known = views.mind_view(self.session, self.screen, self._understanding, self._cost is not None)
        return {**known, "is_busy": self._progress.doing is not None}

    async def _run(self, doing: str, job: Callable[..., Any], *arguments: Any) -> Any:
        return await self._wait(self._workers, doing, job, *arguments)

    async def _wait(self, workers: JobRunner, doing: str, job: Callable[..., Any], *arguments: Any) -> Any:
        self._changed(STAGE, MIND)  # they tell that something is under way
        try:
            return await self._progress.run(workers, doing, job, *arguments)
        finally:
            self._changed(STAGE, MIND)

    @property
    def _model(self) -> TaskModel:
        if self.session.model is None:
            raise BadInputError("Show it once first.")
        return self.session.model

    @property
    def _seed(self) -> int:
        """The scene that is seen."""
        episode = self.screen.episode if self.screen.mode == WATCH else None
        return self.session.seed if episode is None else episode.seed

    @property
    def _cost(self) -> Path | None:
        run = self.session.directory / RUN  # it appears whole, or not at all
        return run if run.is_dir() else None

    def _say(self, error: WfairlError) -> None:
        text = " ".join(str(error).split())
        if text or not isinstance(error, StoppedError):
            self.notice = text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")

    def _changed(self, *parts: str) -> None:
        for part in parts:
            for listener in list(self.listeners):
                listener(part)
