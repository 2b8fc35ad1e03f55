"""The server: NiceGUI pages for sessions, bound to this machine. Only this module knows NiceGUI."""

import asyncio
import json
import os
import signal
import socket
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from websockets import http11

from wfairl.core.support.errors import BadInputError, WfairlError
from wfairl.pages.page import asset
from wfairl.runs.task_registry import all_tasks
from wfairl.studio.access_control import AccessControl
from wfairl.studio.controller import SessionController
from wfairl.studio.jobs import warm_up_worker
from wfairl.studio.registry import ENTRANCE, SessionRegistry, lock_directory, write_entrance
from wfairl.studio.task_spec import environments
from wfairl.studio.views import ANSWER, PARTS, WATCH
from wfairl.studio.workers import JobRunner

ASSETS = Path(__file__).parent / "assets"
ADDRESS, USUAL_PORT = "127.0.0.1", 8421
"""Where the studio listens."""

FAVICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="12" fill="none" '
    'stroke="#14735a" stroke-width="3"/><circle cx="16" cy="16" r="6" fill="#f0a434"/></svg>'
)

LARGEST_MESSAGE = 2**20
"""Bytes of a page's message, and of the headers of a request."""

INVENTED_IN = {
    "MiniGrid-FourRooms-v0": "four rooms and a goal",
    "MiniGrid-DoorKey-8x8-v0": "a key, a locked door and a goal",
    "MiniGrid-LavaGapS7-v0": "a goal behind lava",
    "wfairl/Terrain-8x8-v0": "floor of three colours: some may cost more",
}
"""Environments that the home page suggests for inventing a task, and what is in them."""


def open_socket(wanted: int | None) -> socket.socket:
    """A socket on the wanted port, else on the usual one or any. Raises `BadInputError` if the port is taken."""
    for port in (USUAL_PORT, 0) if wanted is None else (wanted,):
        one = socket.socket()
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind((ADDRESS, port))
            one.listen()
        except OSError:
            one.close()
        else:
            return one
    raise BadInputError(f"port {wanted} is taken; choose another with --port")


def serve(
    directory: Path,
    listening: socket.socket,
    announce: Callable[[str], None],
    task: str | None = None,
    is_new: bool = False,
    processes: int = 1,
) -> None:
    """Serve the sessions of a directory until Ctrl-C.

    Args:
        listening: the socket, from `open_socket`.
        announce: called with the address once pages can be opened.
        task: whose latest session the address opens; None for the list of tasks and sessions.
        is_new: whether it opens a new session instead.
        processes: the number of workers that learn and plan.
    """
    os.environ.setdefault("NICEGUI_STORAGE_PATH", str(directory / ".nicegui"))  # read when NiceGUI is imported
    # Browsers send the cookies of all ports. Without this, a websocket takes 8 kB.
    http11.MAX_LINE_LENGTH = LARGEST_MESSAGE
    lock, port = lock_directory(directory), int(listening.getsockname()[1])
    workers = JobRunner(processes, warm_up_worker)
    registry = SessionRegistry(directory, workers)
    path = "/"
    if task is not None:
        opened = registry.create(task) if is_new else registry.begin_or_continue(task)
        path = f"/session/{opened.session.name}"
    application = make_application(registry, port)
    config = uvicorn.Config(
        application,
        log_level="warning",
        http="h11",  # the other one takes headers without end, from everybody on this machine
        h11_max_incomplete_event_size=LARGEST_MESSAGE,
        ws_max_size=LARGEST_MESSAGE,
        ws_per_message_deflate=False,  # nothing leaves this machine
        timeout_graceful_shutdown=2,
    )
    server = uvicorn.Server(config)

    async def serve_until_stopped() -> None:
        serving = asyncio.ensure_future(server.serve(sockets=[listening]))
        while not server.started and not serving.done():
            await asyncio.sleep(0.02)
        if server.started:
            address = f"http://{ADDRESS}:{port}{path}?token={application.token}"
            write_entrance(directory, address)
            announce(address)
        await serving

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # end as with Ctrl-C
    try:
        with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
            runner.run(serve_until_stopped())
    except KeyboardInterrupt:
        pass  # the normal end
    finally:
        (directory / ENTRANCE).unlink(missing_ok=True)
        workers.close()
        lock.close()


def make_application(registry: SessionRegistry, port: int) -> AccessControl:
    """The application behind its access control."""
    from nicegui import ui

    parts = {name: _part_type(ui, name) for name in ("home", *PARTS)}
    link = f"<script>{(ASSETS / 'link.js').read_text(encoding='utf-8')}</script>"
    application = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    style = f"<style>{asset('style.css')}{(ASSETS / 'studio.css').read_text(encoding='utf-8')}</style>"

    def begin_page(title: str) -> None:
        ui.page_title(title)
        ui.add_head_html(style + link)

    @ui.page("/")
    def home() -> None:
        begin_page("wfairl studio")
        view = {
            "tasks": [{"name": task.name, "summary": task.summary} for task in all_tasks()],
            "environments": INVENTED_IN,
            "others": [name for name in environments() if name not in INVENTED_IN],
            "sessions": registry.sessions(),
            "deleted": registry.deleted(),
        }
        parts["home"](view)

    @ui.page("/session/{name}")
    async def session(name: str) -> Any:
        try:
            controller = registry.open(name)
            begin_page(f"{controller.session.state.title} \N{MIDDLE DOT} wfairl studio")
            _session_page(ui, parts, controller)
        except WfairlError as error:  # also of a view: the world has changed, or somebody edited the journal
            return PlainTextResponse(f"The session {name} does not open: {error}\n", 404)
        return None

    def changing(change: Callable[[str], str]) -> Callable[[str], Awaitable[Response]]:
        async def answer(what: str) -> Response:
            try:
                return JSONResponse({"session": change(what)})
            except WfairlError as error:
                return PlainTextResponse(f"{error}\n", 404)

        return answer

    application.post("/begin/{what:path}")(changing(lambda what: registry.create(what).session.name))
    application.post("/delete/{what}")(changing(registry.delete))
    application.post("/restore/{what}")(changing(registry.restore))

    @application.get("/download/{name}/{file}")
    async def fetch(name: str, file: str) -> Response:
        try:
            content, kind = await registry.open(name).download(file)
        except WfairlError as error:
            return PlainTextResponse(f"{error}\n", 404)
        headers = {"content-disposition": f'attachment; filename="{name}-{file}"'}
        return Response(content, media_type=kind, headers=headers)

    ui.run_with(
        application,
        title="wfairl studio",
        language="en-US",
        favicon=FAVICON,
        dark=None,
        tailwind=False,
        reconnect_timeout=20.0,
        binding_refresh_interval=None,
        show_welcome_message=False,
    )
    return AccessControl(application, port)


def _part_type(ui: Any, name: str) -> Any:
    """The type of element that renders a view with the script of that name, and emits messages."""
    script = "feed.js" if name in (WATCH, ANSWER) else f"{name}.js"  # the scene shows a feed in the mode of its name

    class Part(ui.element, component=ASSETS / script):  # type: ignore[call-arg]
        def __init__(self, view: dict[str, Any]) -> None:
            super().__init__()
            self._props["part"] = name
            self.show(view)

        def show(self, view: dict[str, Any]) -> None:
            self._props["json"] = json.dumps(view)  # as text: NiceGUI would wrap every part of it
            self.update()

    return Part


def _session_page(ui: Any, part_types: dict[str, Any], controller: SessionController) -> None:
    """The page of a session, kept up to date with its controller."""
    with ui.element("div").classes("workspace").props('id="content"'):
        parts = {name: part_types[name](controller.view(name)) for name in PARTS}
    outdated: set[str] = set()
    client = ui.context.client

    def flush() -> None:
        names = sorted(outdated)
        outdated.clear()
        try:
            for name in names:
                parts[name].show(controller.view(name))
        except WfairlError:  # the session does not fit its world; the new page says why
            with client:
                ui.navigate.reload()

    def listen(name: str) -> None:
        if not outdated:
            asyncio.get_running_loop().call_soon(flush)
        outdated.add(name)

    for one in parts.values():
        one.on("do", lambda event: controller.handle(event.args))
    controller.join(listen)
    client.on_delete(lambda: controller.leave(listen))
    background = asyncio.ensure_future(controller.ready())
    background.add_done_callback(lambda done: done.exception())
