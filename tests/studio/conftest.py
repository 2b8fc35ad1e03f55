"""A running studio, and a browser that visits it."""

import threading
from urllib.parse import urlsplit

import pytest


@pytest.fixture(scope="session")
def studio(tmp_path_factory):
    """A studio in a thread: its URL with the token, and the directory of its sessions."""
    pytest.importorskip("nicegui", reason="the studio is not installed: pip install -e '.[studio]'")
    from wfairl.studio.server import find_port, serve

    directory = tmp_path_factory.mktemp("studio")
    announced, address = threading.Event(), []

    def announce(text):
        address.append(text)
        announced.set()

    threading.Thread(target=serve, args=(directory, find_port(None), announce), daemon=True).start()
    assert announced.wait(120)
    return address[0], directory


@pytest.fixture
def visited(browser, studio):
    """Opens pages of the studio; in the end there are no errors, and no requests to other hosts."""
    address, _ = studio
    origin = "http://" + urlsplit(address).netloc
    errors, requests, contexts = [], [], []

    def visit(path, **settings):
        context = browser.new_context(**settings)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: errors.append(message.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("dialog", lambda dialog: errors.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: requests.append(request.url))
        page.on("websocket", lambda socket: requests.append(socket.url.replace("ws:", "http:", 1)))
        page.goto(f"{origin}{path}?{urlsplit(address).query}")
        page.wait_for_selector("[data-ready]", state="attached", timeout=60_000)
        return page

    yield visit
    for context in contexts:
        context.close()
    assert errors == []
    assert [url for url in requests if not url.startswith((origin, "data:"))] == []
