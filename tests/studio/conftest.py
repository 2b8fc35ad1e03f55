"""A running studio, and a browser that visits it."""

import re
import threading
from urllib.parse import urlsplit

import pytest
from studio_sessions import CORNER, FOUR_ROOMS, GOAL, SECONDS, InlineRunner, demonstrate_errand, finish, send

from wfairl.studio.controller import SessionController
from wfairl.studio.session import Session
from wfairl.studio.task_spec import find_task_spec


@pytest.fixture(scope="session")
def studio(tmp_path_factory):
    """A studio in a thread: its address with the token, and the directory of its sessions."""
    pytest.importorskip("nicegui", reason="the studio is not installed: pip install -e '.[studio]'")
    from wfairl.studio.server import open_socket, serve

    directory = tmp_path_factory.mktemp("studio")
    announced, address = threading.Event(), []

    def announce(text):
        address.append(text)
        announced.set()

    threading.Thread(target=serve, args=(directory, open_socket(None), announce), daemon=True).start()
    assert announced.wait(SECONDS)
    return address[0], directory


@pytest.fixture(scope="session")
def admitted(studio):
    """A client that has entered the studio; its URLs are relative to the folder of the run."""
    httpx = pytest.importorskip("httpx")
    address, _ = studio
    origin = "http://" + urlsplit(address).netloc
    entered = httpx.get(address, timeout=SECONDS)
    folder = re.search(r"url=(/[^/]+/)", entered.text)[1]
    settings = {"cookies": entered.cookies, "headers": {"origin": origin}, "timeout": SECONDS}
    with httpx.Client(base_url=origin + folder, **settings) as client:
        yield client


@pytest.fixture(scope="session")
def begin(admitted):
    """Begins a session of a task, and returns the path of its page."""
    return lambda what: "/session/" + admitted.post(f"begin/{what}").json()["session"]


@pytest.fixture
def visited(browser, studio, begin):
    """Opens pages of the studio, "/begin/TASK" with a new session.

    In the end there are no errors, and no requests to other hosts.
    """
    address, _ = studio
    origin = "http://" + urlsplit(address).netloc
    errors, requests, contexts = [], [], []

    def visit(path, **settings):
        path = begin(path.removeprefix("/begin/")) if path.startswith("/begin/") else path
        context = browser.new_context(**settings)
        contexts.append(context)
        context.set_default_timeout(1000 * SECONDS)
        page = context.new_page()
        page.on("console", lambda message: "/download/" in message.location["url"] or errors.append(message.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("dialog", lambda dialog: errors.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: requests.append(request.url))
        page.on("websocket", lambda socket: requests.append(socket.url.replace("ws:", "http:", 1)))
        page.goto(f"{origin}{path}?{urlsplit(address).query}")
        page.wait_for_selector("[data-ready]", state="attached")
        return page

    yield visit
    for context in contexts:
        context.close()
    assert errors == []
    assert [url for url in requests if not url.startswith((origin, "data:"))] == []


@pytest.fixture(scope="module")
def errand_session(tmp_path_factory):
    """A directory with three demonstrations of corner before goal, and what was learned from them."""
    session = Session(tmp_path_factory.mktemp("sessions") / "one", find_task_spec(FOUR_ROOMS))
    session.do(CORNER)
    session.do(GOAL)
    for _ in range(3):
        demonstrate_errand(session)
    send(SessionController(session, InlineRunner()), {"do": "learn"})
    return session.directory


@pytest.fixture
def controller(errand_session, tmp_path):
    for file in errand_session.iterdir():
        (tmp_path / "one").mkdir(exist_ok=True)
        (tmp_path / "one" / file.name).write_bytes(file.read_bytes())
    controller = SessionController(Session(tmp_path / "one"), InlineRunner())
    finish(controller.ready())
    return controller
