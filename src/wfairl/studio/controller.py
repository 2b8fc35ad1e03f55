"""The controller of a session: handles the messages of its pages, and runs jobs for it. It knows no browser.

A page sends messages, untrusted JSON, to `handle`. It shows what `view` returns for each of its parts, and listeners
learn when a part has changed. Several pages may show the same session.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from wfairl.core.automata.task_model import TaskModel
from wfairl.core.planning.product import ProductTooLargeError
from wfairl.core.support.errors import BadInputError, WfairlError
from wfairl.pages.text import capitalised, counted
from wfairl.questions.corrections import Correction, correction_of_document, enforce_laws, without_edge
from wfairl.studio import jobs, views
from wfairl.studio.downloads import ARCHIVE, PRISM, REPORT, archive, download, report_page
from wfairl.studio.events import PERSON
from wfairl.studio.keys import can_point, control_in_direction, control_towards
from wfairl.studio.session import RUN, Session
from wfairl.studio.task_spec import Inventive, TaskSpec
from wfairl.studio.views import ANSWER, DEMONSTRATE, MODES, WATCH, ViewState
from wfairl.studio.workers import JobRunner, Progress, QueuedJob, StoppedError

HEADER, PROGRESS, SCENE, UNDERSTANDING = "header", "progress", "scene", "understanding"
PARTS = (HEADER, PROGRESS, SCENE, UNDERSTANDING)
"""The parts of a page."""

TRIAL_SCENES = 10


class SessionController:
    """A session with its view state and its jobs.

    Attributes:
        listeners: called with the name of a part that has changed.
        view_state: what the pages show.
        notice: a message to the person; empty if there is none.
    """

    def __init__(self, session: Session, workers: JobRunner) -> None:
        self.session, self._workers = session, workers
        self.listeners: list[Callable[[str], None]] = []
        self.view_state = ViewState()
        self.notice, self._handled = "", 0
        self._progress = Progress(lambda: self._changed(PROGRESS))
        self._lock = asyncio.Lock()
        self._model_view: dict[str, Any] | None = None
        self._is_ready = False

    async def ready(self) -> None:
        """Make the worlds of the session, and learn what a killed server could not."""
        try:
            async with self._lock:
                if not self._is_ready:
                    await self._make_worlds(self.session.spec, self.session.seeds)
                    verdict = self.session.verdict
                    if verdict is not None:  # the server may have been killed before it was saved
                        await self._apply_save(verdict, self.session.judge)
                    if self.session.demonstrations:
                        self.session.save_dataset()  # or between journal and file
                    self._is_ready = True
            if not self.session.is_current:
                await self._learn()
            elif self.session.model is not None and self._model_view is None:
                self._model_view = await self._run("opening the session", jobs.describe_model)
        except WfairlError as error:
            self._notify(error)
        self._changed(SCENE, UNDERSTANDING)
        self._prefetch()

    async def handle(self, message: Any) -> None:
        """Do what a page asks for; a request that cannot be met changes nothing, and the notice says why."""
        actions: dict[str, Callable[[], Awaitable[None]]] = {
            "ready": self.ready,
            "mode": lambda: self._set_mode(message["mode"]),
            "control": lambda: self._choose_control(message),
            "next": self._next_scene,
            "point": lambda: self._point(message),
            "propose": self._propose_scene,
            "keep": lambda: self._save_demonstration(message["right"], message.get("by", PERSON)),
            "learn": self._learn,
            "cancel": self._cancel,
            "watch": lambda: self._watch(message),
            "ask": self._ask,
            "answer": lambda: self._answer(message["right"]),
            "correct": lambda: self._correct(correction_of_document(message["correction"]), message["law"]),
            "edge": lambda: self._correct(
                without_edge(self._model, int(message["source"]), str(message["text"])), message["law"]
            ),
            "try": self._try_scenes,
            "cost": self._learn_cost,
            "map": lambda: self._toggle_map(message["kind"], int(message.get("state", 0))),
            "cell": lambda: self._add_cell(message),
        }
        self.notice = ""
        self._handled += 1
        try:
            await actions.get(message["do"], lambda: self._do_event(message))()
        except ProductTooLargeError:
            self.notice = "The scene is too large for that: the agent can plan in it, but this needs all of its states."
        except WfairlError as error:
            self._notify(error)
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            self.notice = f"Invalid request ({error!r})."
        self._changed(SCENE)

    async def _apply(self, event: Mapping[str, Any]) -> None:
        """Apply an event once its worlds are made; the caller holds the lock, which keeps events in order."""
        await self._make_worlds(*self.session.required_worlds(self.session.parse(event)))
        self.session.do(event)
        self._prefetch()

    async def _make_worlds(self, spec: TaskSpec, seeds: Iterable[int]) -> None:
        """Fill the cache with worlds."""
        missing = self.session.worlds.missing(spec, seeds)
        if missing:
            await self._wait(f"making {counted(len(missing), 'scene')}", self.session.worlds.make(spec, missing))

    def _prefetch(self) -> None:
        """Make the next scene while the person works on the current one."""
        session = self.session
        missing = session.worlds.missing(session.spec, [session.next_seed])
        if missing and not session.worlds.missing(session.spec, [session.seed]):
            session.worlds.make(session.spec, missing)

    async def _do_event(self, event: Mapping[str, Any]) -> None:
        """Apply an event of the session, and what follows from it."""
        async with self._lock:
            await self._apply(event)
        self.view_state.map = None
        kind = event["do"]
        if kind == "name":
            self._changed(HEADER, UNDERSTANDING)
        elif kind == "judge":
            self._changed(UNDERSTANDING)
        elif kind in ("drop", "withdraw"):
            await self._learn()
        elif kind in ("proposition", "forget"):
            self.view_state.clear()
            await self._learn()

    async def _choose_control(self, event: Mapping[str, Any]) -> None:
        """Choose a control; if it ends the demonstration, save it before the next event."""
        async with self._lock:
            await self._apply(event)
            verdict = self.session.verdict
            if verdict is not None:
                await self._apply_save(verdict, self.session.judge)
        self.view_state.map = None
        if verdict is not None:
            await self._learn()

    async def _point(self, message: Mapping[str, Any]) -> None:
        """Go towards a point of the image, or in the direction of an arrow key."""
        async with self._lock:
            await self._make_worlds(self.session.spec, [self.session.seed])
        world, state, key = self.session.world, self.session.walk.states[-1], message.get("key")
        if not can_point(world):
            raise BadInputError("choose a control: this world cannot be pointed in")
        if key is not None:
            control = control_in_direction(world, state, str(key))
        else:
            control = control_towards(world, state, float(message["x"]), float(message["y"]))
        await self._choose_control({"do": "control", "control": control})

    async def _next_scene(self) -> None:
        async with self._lock:  # the next scene depends on the events before
            await self._apply({"do": "scene", "seed": self.session.next_seed})

    async def _propose_scene(self) -> None:
        """Go to the scene whose demonstration is expected to be most informative."""
        proposal = await self._run("searching for the most telling scene", jobs.propose)
        await self._do_event({"do": "scene", "seed": proposal.seed})
        self.view_state.mode, self.view_state.proposal = DEMONSTRATE, proposal

    async def _save_demonstration(self, right: bool, judge: str) -> None:
        async with self._lock:
            await self._apply_save(right, judge)
        self.view_state.map = None
        await self._learn()

    async def _apply_save(self, right: bool, judge: str) -> None:
        steps, seed = counted(len(self.session.controls), "step"), self.session.seed
        await self._apply({"do": "keep", "right": right, "by": judge})
        self.notice = f"Saved: scene {seed}, {steps}, a {'success' if right else 'failure'}."

    async def _learn(self) -> None:
        session = self.session
        if session.model is None or not session.has_success:
            session.model = self._model_view = None
        self._changed(UNDERSTANDING)
        if not session.has_success:
            return
        self._progress.cancel()
        job = self._workers.submit(jobs.learn, session.spec, session.dataset, session.laws, session.model)
        model, self._model_view = await self._wait("inferring the task", job)
        session.save_model(model)
        self.view_state.clear()
        await self._rewatch()

    async def _rewatch(self) -> None:
        """In mode watch, plan again in the current scene."""
        if self.view_state.mode == WATCH:
            await self._watch({"seed": self.view_state.watched_seed})

    async def _set_mode(self, mode: str) -> None:
        if mode not in MODES:
            raise BadInputError(f"there is no mode {mode!r}")
        if mode != DEMONSTRATE and self.session.model is None:
            raise BadInputError("Demonstrate the task first: there is nothing to watch or to ask yet.")
        state = self.view_state
        state.mode, state.map = mode, None
        self._changed(SCENE)
        if mode == WATCH and state.episode is None:
            await self._rewatch()
        elif mode == ANSWER and state.question is None:
            await self._ask()

    async def _watch(self, message: Mapping[str, Any]) -> None:
        """Watch the agent in the next scene or a given one, after controls and through waypoints of a person."""
        seed = int(message.get("seed", self.view_state.watched_seed + 1))
        imposed = tuple(int(one) for one in message.get("controls", ()))
        waypoints = tuple((float(x), float(y)) for x, y in message.get("waypoints", ()))
        self.view_state.show_episode(*await self._run("planning", jobs.run_agent, seed, imposed, waypoints))

    async def _try_scenes(self) -> None:
        first = self.view_state.watched_seed
        seeds = range(first, first + TRIAL_SCENES)
        self.view_state.trials = await self._run("trying new scenes", jobs.try_scenes, seeds)
        self._changed(UNDERSTANDING)

    async def _ask(self) -> None:
        self.view_state.show_question(*await self._run("searching for a question", jobs.ask))

    async def _answer(self, right: bool) -> None:
        question, before = self.view_state.question, self.session.model
        if question is None:
            raise BadInputError("there is no question to answer")
        event = {"do": "answer", "seed": question.seed, "controls": list(question.controls), "right": right}
        await self._do_event(event)
        await self._learn()
        now = self.session.model
        is_same = before is not None and now is not None and before.sentences == now.sentences
        effect = "It agrees with the inferred task." if is_same else "The inferred task changed."
        self.notice = f"Answer saved. {effect}"

    async def _correct(self, correction: Correction, law: Any) -> None:
        session, is_law = self.session, law is True
        answers: Any = ()
        if is_law:
            # Refused if it makes the task impossible.
            enforce_laws(self._model, (*session.laws, correction), session.dataset)
        else:
            answers = await self._run("weighing the correction", jobs.weigh, correction)
        paths = [
            {"seed": one.seed, "controls": list(one.controls), "right": one.is_right, "weight": one.weight}
            for one in answers
        ]
        document = correction.to_document()
        await self._do_event({"do": "correct", "correction": document, "law": is_law, "answers": paths})
        await self._learn()
        self.notice = f"Correction added as {'law' if is_law else 'evidence'}: {correction.sentence}."

    async def _learn_cost(self) -> None:
        summary = await self._run("learning the cost", jobs.learn_cost, self.session.directory / RUN)
        self.view_state.episode = self.view_state.map = None
        await self._rewatch()
        self.notice = f"Cost learned: {summary}."
        self._changed(UNDERSTANDING)

    async def _toggle_map(self, kind: str, automaton_state: int) -> None:
        state = self.view_state
        if state.map is not None and state.map["kind"] == kind:
            state.map = None
            return
        maps = await self._run("computing the map", jobs.map_scene, self._shown_seed, automaton_state)
        state.map = {"kind": kind, "state": automaton_state, "values": maps[kind]}

    async def _add_cell(self, message: Mapping[str, Any]) -> None:
        """Add the proposition that the agent is on a cell of the image."""
        world = self.session.world
        if not isinstance(world, Inventive):
            raise BadInputError("this world has no cells to choose")
        x, y = world.cell_at(int(message["x"]), int(message["y"]))
        name = str(message.get("name") or f"at {x},{y}")
        await self._do_event({"do": "proposition", "name": name, "is": {"is": "at", "x": x, "y": y}})

    async def _cancel(self) -> None:
        self.close()

    def close(self) -> None:
        """Stop the running job."""
        self._progress.cancel()

    async def download(self, file: str) -> tuple[bytes, str]:
        """A file of the session: its content and its media type.

        Raises:
            WfairlError: there is no such file, or it cannot be made now.
        """
        await self.ready()
        if file == REPORT:
            return (await self._run("writing the report", report_page)).encode(), "text/html"
        if file == PRISM:
            model = await self._run("writing the PRISM model", jobs.write_prism, self._shown_seed)
            return model.encode(), "text/plain"
        if file == ARCHIVE:
            page = None if self.session.model is None else await self._run("writing the report", report_page)
            return archive(self.session, page), "application/zip"
        return download(self.session, file)

    def view(self, part: str) -> dict[str, Any]:
        """What a part of the page shows, as plain JSON."""
        job = self._progress.view()
        if part == HEADER:
            return views.header_view(self.session)
        if part == PROGRESS:
            return {"job": job}
        if part == SCENE:
            common = {"notice": self.notice, "handled": self._handled, "is_busy": job is not None}
            return {**common, **views.scene_view(self.session, self.view_state)}
        has_cost = self._run_directory is not None
        view = views.understanding_view(self.session, self.view_state, self._model_view, has_cost)
        return {**view, "is_busy": job is not None}

    async def _run(self, activity: str, job: Callable[..., Any], *arguments: Any) -> Any:
        """The result of a job about a snapshot of the session."""
        session = self.session
        await self._make_worlds(session.spec, session.seeds)
        snapshot = jobs.SessionSnapshot(
            name=session.name,
            spec=session.spec,
            model=self._model,
            dataset=session.dataset,
            corrections=tuple(session.corrections),
            next_seed=session.next_seed,
            run=self._run_directory,
        )
        return await self._wait(activity, self._workers.submit(job, snapshot, *arguments))

    async def _wait(self, activity: str, job: QueuedJob) -> Any:
        self._changed(SCENE, UNDERSTANDING)  # they show that a job runs
        try:
            return await self._progress.run(activity, job)
        finally:
            self._changed(SCENE, UNDERSTANDING)

    @property
    def _model(self) -> TaskModel:
        if self.session.model is None:
            raise BadInputError("Demonstrate the task first.")
        return self.session.model

    @property
    def _shown_seed(self) -> int:
        """The scene on the page."""
        episode = self.view_state.episode if self.view_state.mode == WATCH else None
        return self.session.seed if episode is None else episode.seed

    @property
    def _run_directory(self) -> Path | None:
        run = self.session.directory / RUN  # it appears whole, or not at all
        return run if run.is_dir() else None

    def _notify(self, error: WfairlError) -> None:
        text = " ".join(str(error).split())
        if text or not isinstance(error, StoppedError):
            self.notice = capitalised(text) + ("" if text.endswith((".", "!", "?")) else ".")

    def _changed(self, *parts: str) -> None:
        for part in parts:
            for listener in list(self.listeners):
                listener(part)
