"""The controller of a session: handles the messages of its pages, and runs jobs for it. It knows no browser.

A page sends messages, untrusted JSON, to `handle`. It shows what `view` returns for each of its parts, and listeners
learn when a part has changed. Several pages may show the same session, each in a mode of its own: the controller does
not know the modes. What jobs find waits in their part of the view until a person looks there.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from wfairl.core.automata.task_model import TaskModel
from wfairl.core.planning.plan import UnsatisfiableTaskError
from wfairl.core.planning.product import ProductTooLargeError
from wfairl.core.support.errors import BadInputError, WfairlError
from wfairl.pages.text import capitalised, counted
from wfairl.questions.corrections import Correction, correction_of_document, without_edge
from wfairl.studio import events, jobs, views
from wfairl.studio.downloads import ARCHIVE, MINARI, PRISM, REPORT, archive, download, minari_archive, report_page
from wfairl.studio.events import PERSON
from wfairl.studio.frames import encode_film
from wfairl.studio.history import SessionState
from wfairl.studio.journal import GONE
from wfairl.studio.keys import can_point, control_in_direction, control_towards
from wfairl.studio.session import RUN, Session
from wfairl.studio.task_spec import Inventive, TaskSpec
from wfairl.studio.views import ANSWER, HEADER, HISTORY, PROGRESS, SCENE, UNDERSTANDING, WATCH, Findings
from wfairl.studio.workers import JobRunner, Progress, QueuedJob, StoppedError

TRIAL_SCENES, REMEMBERED_MODELS = 10, 16
"""Scenes that are tried at once, and models of earlier evidence that undo and redo show again at once."""


class SessionController:
    """A session with its jobs and what they found.

    Attributes:
        listeners: called with the name of a part that has changed.
        findings: what jobs found.
        notice: a message to the person; empty if there is none.
        progress: of the running jobs.
    """

    def __init__(self, session: Session, workers: JobRunner) -> None:
        self.session, self._workers = session, workers
        self.listeners: list[Callable[[str], None]] = []
        self.findings = Findings()
        self.notice, self._handled = "", 0
        self.progress = Progress(lambda: self.changed(PROGRESS))
        self._model_jobs: set[QueuedJob] = set()
        self._lock = asyncio.Lock()
        self._models: OrderedDict[str, tuple[TaskModel, dict[str, Any]]] = OrderedDict()
        self._model_view: dict[str, Any] | None = None
        self._is_ready = False

    def join(self, listener: Callable[[str], None]) -> None:
        """Keep another page up to date; all of them show how many there are."""
        self.listeners.append(listener)
        self.changed(SCENE)

    def leave(self, listener: Callable[[str], None]) -> None:
        """A page was closed."""
        if listener in self.listeners:
            self.listeners.remove(listener)
            self.changed(SCENE)

    async def ready(self) -> None:
        """Make the worlds of the session, and do what a killed server could not."""
        try:
            async with self._lock:
                if not self._is_ready:
                    await self._make_worlds(self.session.state.spec, self.session.state.seeds)
                    await self._save_if_judged()
                    if self.session.state.demonstrations:
                        self.session.save_dataset()
                    self._is_ready = True
            if not self.session.is_current:
                await self._learn()
            elif self.session.model is not None and self._model_view is None:
                self._model_view = await self._run("opening the session", jobs.describe_model)
        except WfairlError as error:
            self._notify(error)
        self.changed(*views.PARTS)
        self._prefetch()

    async def handle(self, message: Any) -> None:
        """Do what a page asks for; a request that cannot be met changes nothing, and the notice says why."""
        actions: dict[str, Callable[[], Awaitable[None]]] = {
            "ready": self.ready,
            "undo": lambda: self._act(lambda: _go_to(self.session.history.undone)),
            "redo": lambda: self._act(lambda: _go_to(self.session.history.redone)),
            "next": lambda: self._act(lambda: {"do": "scene", "seed": self.session.state.next_seed}),
            "point": lambda: self._act(lambda: {"do": "control", "control": self._pointed(message)}),
            "propose": self._propose_scene,
            "keep": lambda: self._act({"do": "keep", "right": message["right"], "by": PERSON}),
            "learn": self._learn,
            "cancel": self._cancel,
            "watch": lambda: self._watch(message),
            "ask": self._ask,
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
            if not self.session.directory.exists():
                raise BadInputError(GONE)  # and no job may write where it was
            await actions.get(message["do"], lambda: self._act(message))()
        except ProductTooLargeError:
            self.notice = "The scene is too large for that: the agent can plan in it, but this needs all of its states."
        except WfairlError as error:
            self._notify(error)
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            self.notice = f"Invalid request ({error!r})."
        self.changed(SCENE)

    async def _act(self, document: Mapping[str, Any] | Callable[[], Mapping[str, Any]]) -> None:
        """Do an event of the session, or one that depends on those before it; save, show and learn what follows."""
        session = self.session
        async with self._lock:  # which keeps events in order
            if callable(document):
                await self._make_worlds(session.state.spec, [session.state.seed])
                document = document()
            before, event = session.state, session.parse(document)
            await self._make_worlds(*session.required_worlds(event))
            session.do(document)
            if isinstance(event, events.HistoryMoved):
                self.notice = ""
            elif not await self._save_if_judged():
                is_seen = isinstance(event, events.ControlChosen | events.SceneChanged | events.SceneRestarted)
                self.notice = "" if is_seen else f"{capitalised(before.describe(event))}. U undoes it."
        await self._follow(before)

    async def _save_if_judged(self) -> bool:
        """Save the demonstration if its judge has decided; so also one that a killed server did not save."""
        verdict, state = self.session.verdict, self.session.state
        if verdict is None:
            return False
        await self._make_worlds(state.spec, [state.next_seed])
        try:
            self.session.do({"do": "keep", "right": verdict, "by": state.judge})
        except BadInputError as error:  # as where no proposition holds; the steps stay
            self._notify(error)
            return True
        steps = counted(len(state.controls), "step")
        self.notice = f"Saved: scene {state.seed}, {steps}, a {'success' if verdict else 'failure'}."
        return True

    async def _follow(self, before: SessionState) -> None:
        """Show what has changed, and learn from it."""
        now = self.session.state
        self.changed(SCENE, HISTORY)
        self._prefetch()
        if now.spec != before.spec or now.title != before.title or now.judge != before.judge or now.seed != before.seed:
            self.changed(HEADER, UNDERSTANDING)
        if now.evidence != before.evidence:
            if now.spec.world_key != before.spec.world_key:
                self.findings.clear()
            await self._learn()
        elif now.answers != before.answers:
            self.findings.drop_question()
            self.changed(UNDERSTANDING, ANSWER)

    async def _make_worlds(self, spec: TaskSpec, seeds: Iterable[int]) -> None:
        missing = self.session.worlds.missing(spec, seeds)
        if missing:
            await self._wait(f"making {counted(len(missing), 'scene')}", self.session.worlds.make(spec, missing))

    def _prefetch(self) -> None:
        """Make the next scene while the person works on the current one."""
        worlds, state = self.session.worlds, self.session.state
        missing = worlds.missing(state.spec, [state.next_seed])
        if missing and not worlds.missing(state.spec, [state.seed]):
            worlds.make(state.spec, missing)

    def _pointed(self, message: Mapping[str, Any]) -> int:
        """The control that leads towards a point of the image, or in the direction of an arrow key."""
        world, state, key = self.session.world, self.session.walk.states[-1], message.get("key")
        if not can_point(world):
            raise BadInputError("choose a control: this world cannot be pointed in")
        if key is not None:
            return control_in_direction(world, state, str(key))
        return control_towards(world, state, float(message["x"]), float(message["y"]))

    async def _propose_scene(self) -> None:
        """Find the scene whose demonstration is expected to be most informative.

        Go there, unless the person did something else meanwhile: then the page offers it.
        """
        at, length = self.session.history.at, len(self.session.history)
        self.findings.proposal = await self._run("searching for the most telling scene", jobs.propose)
        if (at, length) == (self.session.history.at, len(self.session.history)):
            await self._act({"do": "scene", "seed": self.findings.proposal.seed})

    async def _learn(self) -> None:
        """Learn the task from the evidence of now; what was learned from it before is shown at once."""
        session, evidence = self.session, self.session.evidence
        for job in self._model_jobs:  # they would be about another task
            job.cancel()
        self.findings.outdate()
        if not session.can_learn:
            self.findings.clear()
            self._show_model(None, None)
            return
        self.changed(UNDERSTANDING, WATCH, ANSWER)
        if evidence not in self._models:
            state = session.state
            job = self._workers.submit(jobs.learn, state.spec, session.dataset, state.laws, session.model)
            self._models[evidence] = await self._wait("inferring the task", job, is_about_model=True)
            while len(self._models) > REMEMBERED_MODELS:
                self._models.popitem(last=False)
        if session.evidence == evidence:
            self._show_model(*self._models[evidence])

    def _show_model(self, model: TaskModel | None, view: dict[str, Any] | None) -> None:
        self.session.save_model(model)
        self._model_view = view
        self.changed(*views.PARTS)

    async def _watch(self, message: Mapping[str, Any]) -> None:
        """Watch the agent in the next scene or a given one, after controls and through waypoints of a person."""
        seed = int(message.get("seed", self.findings.watched_seed + 1))
        imposed = tuple(int(one) for one in message.get("controls", ()))
        waypoints = tuple((float(x), float(y)) for x, y in message.get("waypoints", ()))
        try:
            watched = await self._run("planning", jobs.run_agent, seed, imposed, waypoints)
        except UnsatisfiableTaskError as error:  # also a refusal; the advice of both is for the command line
            await self._make_worlds(self.session.state.spec, [seed])
            world = self.session.worlds.world(self.session.state.spec, seed)
            refusal = capitalised(str(error).split(". ")[0].removesuffix(".") + ".")
            watched = {"seed": seed, **encode_film(world, [world.initial_state]), "refusal": refusal}
        found = self.findings
        found.watched, found.watched_seed, found.map, found.is_outdated = watched, seed, None, False
        self.changed(WATCH)

    async def _try_scenes(self) -> None:
        first = self.findings.watched_seed
        seeds = range(first, first + TRIAL_SCENES)
        self.findings.trials = await self._run("trying new scenes", jobs.try_scenes, seeds)
        self.changed(UNDERSTANDING)

    async def _ask(self) -> None:
        asked = tuple(self.session.labels_of(one) for one in self.session.state.answers)
        self.findings.asked = await self._run("searching for a question", jobs.ask_plainly, asked)
        self.changed(ANSWER)

    async def _correct(self, correction: Correction, law: Any) -> None:
        is_law = law is True
        answers = await self._run("checking the correction", jobs.check_law if is_law else jobs.weigh, correction)
        paths = [{"seed": a.seed, "controls": a.controls, "right": a.is_right, "weight": a.weight} for a in answers]
        document = correction.to_document()
        await self._act({"do": "correct", "correction": document, "law": is_law, "answers": paths})

    async def _learn_cost(self) -> None:
        session = self.session
        await self._run("learning the cost", jobs.learn_session_cost, session.directory / RUN, session.evidence)
        self.findings.outdate()
        self.notice = "" if session.cost_words is None else f"Cost learned. {session.cost_words['text']}"
        self.changed(UNDERSTANDING, WATCH)

    async def _toggle_map(self, kind: str, automaton_state: int) -> None:
        found = self.findings
        words = self.session.cost_words
        if kind not in ("step", "to_go"):
            raise BadInputError("there is no such map")
        if not found.watched.get("episode"):
            raise BadInputError("watch the agent first: the map is of its scene")
        if kind == "step" and words is not None and not words["is_shown"]:
            raise BadInputError("there is no map of the cost: the demonstrations do not show a preference")
        if found.map is not None and found.map["kind"] == kind:
            found.map = None
        else:
            maps = await self._run("computing the map", jobs.map_scene, found.watched_seed, automaton_state)
            shown = {name: maps[name] for name in ("places", "size", "unit")}
            found.map = {"kind": kind, "state": automaton_state, "values": maps[kind], **shown}
        self.changed(WATCH)

    async def _add_cell(self, message: Mapping[str, Any]) -> None:
        world = self.session.world
        if not isinstance(world, Inventive):
            raise BadInputError("this world has no cells to choose")
        x, y = world.cell_at(int(message["x"]), int(message["y"]))
        name = str(message.get("name") or f"at {x},{y}")
        await self._act({"do": "proposition", "name": name, "is": {"is": "at", "x": x, "y": y}})

    async def _cancel(self) -> None:
        self.progress.cancel()

    async def download(self, file: str) -> tuple[bytes, str]:
        """Content and media type of a file. Raises `WfairlError` if there is none, or it cannot be made now."""
        await self.ready()
        if file == REPORT:
            return (await self._run("writing the report", report_page)).encode(), "text/html"
        if file == PRISM:
            model = await self._run("writing the PRISM model", jobs.write_prism, self.session.state.seed)
            return model.encode(), "text/plain"
        if file == MINARI:
            state, dataset = self.session.state, self.session.dataset
            job = self._workers.submit(minari_archive, state.spec, dataset, self.session.name)
            return await self._wait("writing the Minari data set", job), "application/zip"
        if file == ARCHIVE:
            page = None if self.session.model is None else await self._run("writing the report", report_page)
            return archive(self.session, page), "application/zip"
        return download(self.session, file)

    def view(self, part: str) -> dict[str, Any]:
        """What a part of the page shows, as plain JSON."""
        job, session, findings = self.progress.view(), self.session, self.findings
        busy = {"is_busy": job is not None}
        common = {"notice": self.notice, "handled": self._handled, "pages": len(self.listeners), **busy}
        makers: dict[str, Callable[[], dict[str, Any]]] = {
            HEADER: lambda: views.header_view(session),
            PROGRESS: lambda: {"job": job},
            SCENE: lambda: {**common, **views.scene_view(session, findings)},
            WATCH: lambda: views.watch_view(findings),
            ANSWER: lambda: {"question": None, "frames": [], "tiles": [], **findings.asked},
            UNDERSTANDING: lambda: {**views.understanding_view(session, findings, self._model_view), **busy},
            HISTORY: lambda: views.history_view(session),
        }
        return makers[part]()

    async def _run(self, activity: str, job: Callable[..., Any], *arguments: Any) -> Any:
        """The result of a job about a snapshot of the session; dropped if the evidence has changed meanwhile."""
        session, state = self.session, self.session.state
        await self._make_worlds(state.spec, state.seeds)
        evidence = session.evidence
        run = None if session.cost_words is None else session.directory / RUN
        snapshot = jobs.SessionSnapshot(
            session.name, state.spec, self._model, session.dataset, state.corrections, state.next_seed, run
        )
        result = await self._wait(activity, self._workers.submit(job, snapshot, *arguments), is_about_model=True)
        if session.evidence != evidence:
            raise StoppedError("")
        return result

    async def _wait(self, activity: str, job: QueuedJob, is_about_model: bool = False) -> Any:
        self.changed(SCENE, UNDERSTANDING)  # they show that a job runs
        if is_about_model:
            self._model_jobs.add(job)
        try:
            return await self.progress.run(activity, job)
        finally:
            self._model_jobs.discard(job)
            self.changed(SCENE, UNDERSTANDING)

    @property
    def _model(self) -> TaskModel:
        if self.session.model is None:
            raise BadInputError("Demonstrate the task first.")
        return self.session.model

    def _notify(self, error: WfairlError) -> None:
        text = " ".join(str(error).split())
        if text or not isinstance(error, StoppedError):
            self.notice = capitalised(text) + ("" if text.endswith((".", "!", "?")) else ".")

    def changed(self, *parts: str) -> None:
        """Tell the pages that parts of them have changed."""
        for part in parts:
            for listener in list(self.listeners):
                listener(part)


def _go_to(at: int | None) -> dict[str, Any]:
    """The event that undoes or redoes up to a place in the history."""
    if at is None:
        raise BadInputError("there is nothing more to undo or redo")
    return {"do": "history", "at": at}
