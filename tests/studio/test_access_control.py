"""Access control: without the token, from another origin, with a path or with a file, everything is refused."""

import io
import json
import os
import re
import socket
import stat
import subprocess
import sys
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from studio_sessions import CORNER, FOUR_ROOMS, GOAL, SECONDS, InlineRunner, demonstrate_errand, send

from wfairl.core.support.errors import BadInputError
from wfairl.studio.downloads import archive
from wfairl.studio.registry import SessionRegistry, lock_directory
from wfairl.studio.server import open_socket
from wfairl.studio.session import Session
from wfairl.studio.task_spec import find_task_spec

httpx = pytest.importorskip("httpx")
client = pytest.importorskip("websockets.sync.client")

fetch = partial(httpx.request, timeout=SECONDS)


@pytest.fixture(scope="module")
def known(studio, admitted):
    """Origin, token, and a client that has been admitted."""
    address, directory = studio
    parts = urlsplit(address)
    return f"http://{parts.netloc}", parse_qs(parts.query)["token"][0], admitted, directory


@pytest.fixture
def neighbour():
    """Another program on this machine, on another port: the pages that it shows, and the cookies that it is sent."""
    pages, cookies = {}, []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            cookies.append(self.headers.get("cookie", ""))
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(pages.get(self.path, "<!doctype html>").encode())

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", pages, cookies
    server.shutdown()


def test_the_token_is_exchanged_for_a_cookie_of_the_folder_of_this_run(known):
    origin, token, admitted, _ = known
    first = fetch("GET", f"{origin}/session/x?token={token}")
    folder = admitted.base_url.path.rstrip("/")
    assert f'content="0; url={folder}/session/x"' in first.text
    cookie = first.headers["set-cookie"]
    assert all(part in cookie for part in ("HttpOnly", "SameSite=Strict", f"Path={folder}/"))
    assert token not in cookie + first.text
    assert first.headers["cache-control"] == "no-store"
    strange = fetch("GET", f"{origin}/%5Cevil.example%22%0d%0ax: y?token={token}")
    assert f'url={folder}/%5Cevil.example%22%0D%0Ax%3A%20y"' in strange.text  # never another host, never another header
    older = dict.fromkeys(first.cookies, "of-an-older-run")
    assert fetch("GET", f"{origin}{folder}/", cookies=older).status_code == 403
    answer = admitted.get("")
    assert answer.status_code == 200
    assert token not in answer.text
    policy = answer.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["referrer-policy"] == "no-referrer"


def test_a_program_on_another_port_never_receives_the_cookie(visited, neighbour, known):
    """Browsers send cookies to all ports of a machine: only the path keeps them apart."""
    page = visited("/")
    (cookie,) = page.context.cookies()
    elsewhere, pages, cookies = neighbour
    pages["/"] = "<!doctype html><img src=/a><iframe src=/session/x></iframe>"
    other = page.context.new_page()
    other.goto(elsewhere, wait_until="networkidle")
    other.goto(f"{elsewhere}/session/x")
    other.goto(known[0].replace("127.0.0.1", "localhost").rsplit(":", 1)[0] + elsewhere[elsewhere.rindex(":") :])
    assert len(cookies) >= 4
    assert not any(cookie["value"] in one or cookie["name"] in one for one in cookies)
    assert cookie["value"] != known[1]
    assert (
        fetch("GET", f"{known[0]}/", cookies={cookie["name"]: cookie["value"]}).status_code == 403
    )  # not in its folder


def test_cookies_that_a_program_on_another_port_sets_lock_nobody_out(visited, neighbour, known):
    """Browsers send its cookies to all ports, in any number, under any name, and with any text."""
    page = visited("/begin/errand")
    other = page.context.new_page()
    other.goto(neighbour[0])
    name = page.context.cookies()[0]["name"]
    other.evaluate(
        """(cookies) => cookies.forEach((one) => { document.cookie = `${one}; path=/`; })""",
        [f"{name}=x", "a", "=b", 'c="', "d[=1", "path", *(f"e{i}={'x' * 4000}" for i in range(40))],
    )
    page.reload()
    page.wait_for_selector("canvas[data-drawn]")
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector("canvas[data-drawn$='/1']")


@pytest.mark.parametrize("header", ["x: " + "a" * 2**22, "a: b\r\n" * 2**19])
def test_headers_without_end_are_cut_off(known, header):
    """Whoever runs a program on this machine can send them: they would fill the memory."""
    parts = urlsplit(known[0])
    with socket.create_connection((parts.hostname, parts.port), timeout=SECONDS) as one:
        with suppress(ConnectionError):  # cut off meanwhile
            one.sendall(f"GET / HTTP/1.1\r\nhost: {parts.netloc}\r\n{header}".encode())
        with suppress(ConnectionError):
            assert b" 400 " in one.recv(100)


def test_a_page_of_another_port_changes_nothing_even_if_it_knew_the_folder(visited, neighbour, known):
    origin, token, admitted, directory = known
    folder = str(admitted.base_url)
    elsewhere, pages, _ = neighbour
    pages["/"] = "<!doctype html>" + "".join(
        f"<img src={base}begin/{FOUR_ROOMS}?{query}><iframe src={base}begin/{FOUR_ROOMS}?{query}></iframe>"
        for base in (folder, f"{origin}/")
        for query in ("", f"token={token}")
    )
    page = visited("/")
    other = page.context.new_page()
    before = sorted(directory.iterdir())
    other.goto(elsewhere, wait_until="networkidle")
    attack = """async (url) => {
      for (const method of ["GET", "POST"])
        await fetch(url, { method, mode: "no-cors", credentials: "include" }).catch(() => 0);
      const transport = "_nicegui_ws/socket.io/?EIO=4&transport=websocket";
      const socket = new WebSocket(url.replace("http", "ws").replace(/begin.*/, transport));
      return new Promise((resolve) => {
        socket.onmessage = () => resolve("let in");
        socket.onerror = () => resolve("refused");
      });
    }"""
    assert other.evaluate(attack, f"{folder}begin/{FOUR_ROOMS}") == "refused"
    other.set_content(f"<form method=post action={folder}begin/{FOUR_ROOMS}><button>x</button></form>")
    other.click("button")
    other.wait_for_selector("h1:has-text('Refused')")
    assert sorted(directory.iterdir()) == before


@pytest.mark.parametrize("path", ["/", "/session/x", f"/begin/{FOUR_ROOMS}", "/download/x/task.json", "/favicon.ico"])
@pytest.mark.parametrize("query", ["", "?token=", "?token=wrong", "?token=%00"])
def test_without_the_token_everything_is_refused(known, path, query):
    origin, _, admitted, directory = known
    before = sorted(directory.iterdir())
    for base in (origin, str(admitted.base_url).rstrip("/")):
        answer = fetch("GET", base + path + query, follow_redirects=True)
        assert answer.status_code == 403
        assert "Refused" in answer.text
    assert sorted(directory.iterdir()) == before


@pytest.mark.parametrize(
    "headers",
    [{"origin": "http://evil.example"}, {"origin": "null"}, {"host": "evil.example"}, {"host": "127.0.0.1"},
     {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}],
)  # fmt: skip
def test_another_origin_or_site_or_host_is_refused_even_with_the_cookie(known, headers):
    origin, token, admitted, directory = known
    before = sorted(directory.iterdir())
    assert admitted.get("", headers=headers).status_code == 403
    assert admitted.post("begin/errand", headers=headers).status_code == 403
    if "sec-fetch-site" not in headers:  # a link in another program may hold the token, and only enters
        assert fetch("GET", f"{origin}/?token={token}", headers=headers).status_code == 403
    assert sorted(directory.iterdir()) == before


def test_a_post_needs_an_origin(known):
    _, _, admitted, directory = known
    before = sorted(directory.iterdir())
    request = admitted.build_request("POST", "begin/errand")
    del request.headers["origin"]
    assert admitted.send(request).status_code == 403
    assert admitted.get("begin/errand").status_code in (404, 405)
    assert sorted(directory.iterdir()) == before


@pytest.mark.parametrize("path", ["", "session/x", "download/x/task.json", "upload", "_nicegui/x"])
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_nothing_can_be_uploaded(known, method, path):
    _, _, admitted, directory = known
    before = sorted(directory.rglob("*"))
    sent = admitted.request(method, path, files={"file": ("task.py", b"import os")})
    assert sent.status_code == 403
    assert sorted(directory.rglob("*")) == before


@pytest.mark.parametrize(
    "path",
    ["session/..%2f..%2fetc", "session/%2e%2e", "session/a%00b", "session/none", "begin/..%2fx", "begin/os:X-v0",
     "begin/%2fetc%2fpasswd", "download/..%2f..%2fetc/passwd", "download/x/..%2fopen.html", "delete/..", "restore/none",
     "delete/..%2f..%2fx", "delete/.nicegui"],
)  # fmt: skip
def test_a_path_in_a_name_is_refused(known, path):
    _, _, admitted, directory = known
    before = sorted(directory.iterdir())
    answer = admitted.request("POST" if path.startswith(("begin", "delete", "restore")) else "GET", path)
    assert answer.status_code in (403, 404)
    assert sorted(directory.iterdir()) == before


def test_a_websocket_needs_the_cookie_and_the_origin(known):
    origin, _, admitted, _ = known
    address = str(admitted.base_url).replace("http", "ws") + "_nicegui_ws/socket.io/?EIO=4&transport=websocket"
    cookie = {"Cookie": "; ".join(f"{name}={value}" for name, value in admitted.cookies.items())}
    for headers, sent_origin in (
        ({}, origin),
        (cookie, "http://evil.example"),
        (cookie, None),
        ({**cookie, "Sec-Fetch-Site": "same-site"}, origin),
    ):
        with pytest.raises(Exception, match="403"):
            client.connect(address, additional_headers=headers, origin=sent_origin).close()
    with client.connect(address, additional_headers=cookie, origin=origin) as socket:
        assert "sid" in socket.recv(timeout=SECONDS)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_events_without_a_websocket_need_the_same(known, method):
    origin, _, admitted, _ = known
    path = "_nicegui_ws/socket.io/?EIO=4&transport=polling"
    address = str(admitted.base_url) + path
    assert fetch(method, address, content="40").status_code == 403
    assert fetch(method, address, content="40", headers={"origin": origin}).status_code == 403
    assert admitted.request(method, path, content="40", headers={"origin": "http://evil.example"}).status_code == 403


def test_events_of_a_websocket_cannot_upload_or_name_files(known):
    """Whatever messages a page sends, nothing appears outside of its session."""
    origin, _, admitted, directory = known
    name = admitted.post(f"begin/{FOUR_ROOMS}").json()["session"]
    page = admitted.get(f"session/{name}")
    elements = json.loads(page.text.split("parseElements(String.raw`", 1)[1].split("`)", 1)[0])
    number, listener = next(
        (number, event["listener_id"])
        for number, one in elements.items()
        for event in one.get("events", ())
        if event["type"] == "do"
    )
    client_id = re.search(r"'client_id': '([^']+)'", page.text)[1]
    query = f"EIO=4&transport=websocket&client_id={client_id}&implicit_handshake=true&next_message_id=0"
    cookie = {"Cookie": "; ".join(f"{key}={value}" for key, value in admitted.cookies.items())}
    before = {path for path in directory.rglob("*") if directory / name not in path.parents}
    journal = (directory / name / "journal.jsonl").read_text()
    folder = str(admitted.base_url).replace("http", "ws")
    address = f"{folder}_nicegui_ws/socket.io/?{query}&tab_id=a&document_id=b"
    with client.connect(address, additional_headers=cookie, origin=origin, max_size=None) as socket:
        socket.recv(timeout=SECONDS)
        socket.send("40")
        assert str(socket.recv(timeout=SECONDS)).startswith("40")
        for message in (
            {"do": "upload", "file": "task.py", "content": "import os"},
            {"do": "name", "name": "../../evil"},
            {"do": "begin", "name": "../evil", "environment": None},
            {"do": "scene", "seed": "/etc/passwd"},
            {"do": "proposition", "name": "x", "is": {"is": "at", "x": "../", "y": 0}},
            {"do": "judge", "by": "environment"},  # the only one that makes sense
        ):
            event = {"id": int(number), "client_id": client_id, "listener_id": listener, "args": [json.dumps(message)]}
            socket.send(f"42{json.dumps(['event', event])}")
        while '"judge": "environment"' not in str(socket.recv(timeout=SECONDS)).replace("\\", ""):
            pass
    assert {path for path in directory.rglob("*") if directory / name not in path.parents} == before
    lines = (directory / name / "journal.jsonl").read_text().removeprefix(journal).splitlines()
    assert [json.loads(line) for line in lines] == [{"do": "judge", "by": "environment"}]


@pytest.mark.parametrize(
    "acts",
    [
        [{"do": "control", "control": 99}],
        [{"do": "control", "control": 99}, {"do": "keep", "right": True, "by": "person"}],
        [{"do": "answer", "seed": 1, "controls": [99], "right": True}],
        [{"do": "proposition", "name": "far", "is": {"is": "at", "x": 10**6, "y": 1}}, {"do": "control", "control": 1}],
    ],
)
def test_a_session_that_does_not_fit_its_world_says_why(visited, known, acts):
    """Somebody edited its journal, or the world is another one today."""
    name = visited(f"/begin/{FOUR_ROOMS}").url.rsplit("/", 1)[1]
    directory = known[3] / f"edited-{time.time_ns()}"
    journal = (known[3] / name / "journal.jsonl").read_text()
    directory.mkdir()
    lines = [*journal.splitlines(), *map(json.dumps, ({"do": "proposition", "name": "goal", "is": GOAL["is"]}, *acts))]
    (directory / "journal.jsonl").write_text("\n".join(lines) + "\n")
    until = time.monotonic() + SECONDS
    while (answer := known[2].get(f"session/{directory.name}")).status_code == 200:  # its scenes are not made yet
        assert time.monotonic() < until
        time.sleep(0.1)
    assert answer.status_code == 404
    assert f"The session {directory.name} does not open: " in answer.text
    assert ("99" in answer.text) or ("outside this scene" in answer.text)


@pytest.mark.parametrize(
    "document",
    [
        {"do": "answer", "seed": 1, "controls": [0] * 10_001, "right": True},
        {"do": "answer", "seed": 1, "controls": [0], "right": True, "effects": [0] * 10_001},
        {"do": "correct", "law": False, "correction": {"kind": "never", "proposition": "goal"},
         "answers": [{"seed": 1, "controls": [0]}] * 101},
    ],
)  # fmt: skip
def test_what_would_keep_everybody_waiting_is_refused(tmp_path, document):
    session = Session(tmp_path / "errand-1", find_task_spec("errand"))
    with pytest.raises(BadInputError, match="at most"):
        session.do(document)


def test_people_who_begin_at_once_have_sessions_of_their_own(known):
    _, _, admitted, _ = known
    with ThreadPoolExecutor(12) as people:
        begun = list(people.map(lambda _: admitted.post("begin/errand"), range(12)))
    assert len({one.json()["session"] for one in begun}) == 12


def test_a_deleted_session_can_be_brought_back(known):
    _, _, admitted, directory = known
    name = admitted.post("begin/errand").json()["session"]
    journal = (directory / name / "journal.jsonl").read_bytes()
    assert admitted.post(f"delete/{name}").status_code == 200
    assert admitted.get(f"session/{name}").status_code == 404
    assert name in admitted.get("").text  # the first page offers to bring it back
    assert admitted.post(f"restore/{name}").status_code == 200
    assert admitted.get(f"session/{name}").status_code == 200
    assert (directory / name / "journal.jsonl").read_bytes() == journal


def test_a_page_of_a_deleted_session_is_told_so_and_goes_on_once_it_is_back(tmp_path):
    registry = SessionRegistry(tmp_path, InlineRunner())
    controller = registry.create("errand")
    name, turn = controller.session.name, {"do": "control", "control": 0}
    send(controller, turn)
    shown = []
    controller.listeners.append(lambda part: shown.append(controller.view("header")["is_deleted"]))
    registry.delete(name)
    assert shown == [True]
    assert "was deleted" in send(controller, turn).notice
    assert not (tmp_path / name).exists()
    assert (registry.deleted(), registry.sessions()) == ([name], [])
    registry.restore(name)
    assert registry.deleted() == []
    assert not shown[-1]
    send(registry.open(name), turn)
    send(controller, turn)  # the page that was open all the time
    assert Session(tmp_path / name).state.controls == (0, 0, 0)


def test_nothing_appears_where_a_deleted_session_was_and_nothing_else_is_replaced(tmp_path):
    registry = SessionRegistry(tmp_path, InlineRunner())
    controller = registry.create(FOUR_ROOMS)
    for proposition in (CORNER, GOAL):
        controller.session.do(proposition)
    demonstrate_errand(controller.session)
    name = registry.delete(controller.session.name)
    for what in ("ready", "learn", "cost", "watch", "ask", "try", "undo", "next", "propose"):
        assert "was deleted" in send(controller, {"do": what}).notice
    assert not (tmp_path / name).exists()
    (tmp_path / name).mkdir()
    (tmp_path / name / "notes").touch()
    with pytest.raises(BadInputError, match="is in the way"):
        registry.restore(name)
    (tmp_path / name / "notes").unlink()
    registry.restore(name)
    assert "was deleted" not in send(controller, {"do": "undo"}).notice


def test_a_directory_has_one_server_at_a_time(tmp_path):
    lock = lock_directory(tmp_path)
    with pytest.raises(BadInputError, match="already runs there"):
        lock_directory(tmp_path)
    lock.close()
    lock_directory(tmp_path).close()


def test_a_port_that_is_taken_is_said_to_be(known):
    port = urlsplit(known[0]).port
    with pytest.raises(BadInputError, match="is taken"):
        open_socket(port)
    with open_socket(None) as other:
        assert other.getsockname()[1] != port


def test_other_users_of_the_machine_read_nothing(known):
    _, _, admitted, directory = known
    name = admitted.post("begin/errand").json()["session"]
    assert stat.S_IMODE((directory / "open.html").stat().st_mode) == 0o600
    for path in (directory / name, *(directory / name).rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


def test_sessions_that_others_could_read_are_the_owners_alone_once_a_studio_runs(tmp_path):
    Session(tmp_path / "errand-1", find_task_spec("errand"))
    (tmp_path / "errand-1").chmod(0o755)
    lock_directory(tmp_path).close()
    assert stat.S_IMODE((tmp_path / "errand-1").stat().st_mode) == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o770, 0o702])
def test_a_directory_in_which_others_write_is_refused(tmp_path, mode):
    """They could put links to files of the person there, or journals."""
    target = tmp_path / "notes"
    target.write_text("keep")
    directory = tmp_path / "shared"
    directory.mkdir()
    (directory / ".lock").symlink_to(target)
    directory.chmod(mode)
    with pytest.raises(BadInputError, match="others can write there"):
        lock_directory(directory)
    assert target.read_text() == "keep"


def test_a_link_in_a_session_does_not_lead_an_archive_out_of_it(tmp_path):
    session = Session(tmp_path / "errand-1", find_task_spec("errand"))
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (session.directory / "notes").symlink_to(secret)
    with zipfile.ZipFile(io.BytesIO(archive(session, None))) as archived:
        assert archived.namelist() == ["errand-1/journal.jsonl"]


def test_no_command_line_holds_the_token_and_a_running_studio_gives_its_address(tmp_path):
    """The browser is a program that writes down its arguments."""
    program, arguments = tmp_path / "browser", tmp_path / "arguments"
    program.write_text(f'#!/bin/sh\necho "$@" >> {arguments}\n')
    program.chmod(0o755)
    directory = tmp_path / "studio"
    command = [sys.executable, "-m", "wfairl", "studio", "-d", str(directory)]
    settings = {**os.environ, "BROWSER": f"{program} %s"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=settings)
    try:
        address = re.search(r"http://\S+", process.stdout.readline())[0]
        again = subprocess.run(command, capture_output=True, text=True, env=settings, check=True)
        assert address in again.stdout.replace("\n", "")
        until = time.monotonic() + SECONDS
        while time.monotonic() < until and (not arguments.exists() or len(arguments.read_text().split()) < 2):
            time.sleep(0.1)
        assert set(arguments.read_text().split()) == {(directory / "open.html").as_uri()}
        token = parse_qs(urlsplit(address).query)["token"][0]
        lines = [one.read_bytes() for one in Path("/proc").glob("[0-9]*/cmdline") if os.access(one, os.R_OK)]
        assert lines
        assert not any(token.encode() in one for one in lines)
        assert token in (directory / "open.html").read_text()
    finally:
        process.terminate()
        process.wait(SECONDS)
    assert not (directory / "open.html").exists()
