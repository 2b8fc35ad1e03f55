"""Access control: without the token, from another origin, with a path or with a file, everything is refused."""

import json
import re
import stat
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qs, urlsplit

import pytest
from studio_sessions import FOUR_ROOMS

from wfairl.core.support.errors import BadInputError
from wfairl.studio.registry import lock_directory, token_of
from wfairl.studio.server import find_port

httpx = pytest.importorskip("httpx")
client = pytest.importorskip("websockets.sync.client")


@pytest.fixture(scope="module")
def known(studio):
    """Origin, token, and a client that has been admitted."""
    address, directory = studio
    parts = urlsplit(address)
    origin, token = f"http://{parts.netloc}", parse_qs(parts.query)["token"][0]
    with httpx.Client(base_url=origin, follow_redirects=True) as admitted:
        assert admitted.get("/", params={"token": token}).status_code == 200
        yield origin, token, admitted, directory


def test_the_token_goes_from_the_address_into_a_cookie(known):
    origin, token, admitted, _ = known
    first = httpx.get(f"{origin}/begin/{FOUR_ROOMS}?token={token}")
    assert (first.status_code, first.headers["location"]) == (303, f"/begin/{FOUR_ROOMS}")
    assert "HttpOnly" in first.headers["set-cookie"]
    assert "SameSite=Strict" in first.headers["set-cookie"]
    strange = httpx.get(f"{origin}/%5Cevil.example%0d%0ax: y?token={token}")
    assert strange.headers["location"] == "/%5Cevil.example%0D%0Ax%3A%20y"  # never another host, never another header
    answer = admitted.get("/")
    assert token not in answer.text
    policy = answer.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("path", ["/", "/session/x", f"/begin/{FOUR_ROOMS}", "/download/x/task.json", "/favicon.ico"])
@pytest.mark.parametrize("query", ["", "?token=", "?token=wrong", "?token=%00"])
def test_without_the_token_everything_is_refused(known, path, query):
    origin, _, _, directory = known
    before = sorted(directory.iterdir())
    answer = httpx.get(origin + path + query, follow_redirects=True)
    assert answer.status_code == 403
    assert "Refused" in answer.text
    assert sorted(directory.iterdir()) == before


@pytest.mark.parametrize(
    "headers", [{"origin": "http://evil.example"}, {"origin": "null"}, {"host": "evil.example"}, {"host": "127.0.0.1"}]
)
def test_another_origin_or_host_is_refused_even_with_the_token(known, headers):
    origin, token, admitted, _ = known
    assert admitted.get("/", headers=headers).status_code == 403
    assert httpx.get(f"{origin}/?token={token}", headers=headers).status_code == 403


@pytest.mark.parametrize("path", ["/", f"/begin/{FOUR_ROOMS}", "/download/x/task.json", "/upload", "/_nicegui/x"])
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_nothing_can_be_uploaded(known, method, path):
    _, _, admitted, directory = known
    before = sorted(directory.rglob("*"))
    sent = admitted.request(method, path, files={"file": ("task.py", b"import os")})
    assert sent.status_code == 403
    assert sorted(directory.rglob("*")) == before


@pytest.mark.parametrize(
    "path",
    ["/session/..%2f..%2fetc", "/session/%2e%2e", "/session/a%00b", "/session/none", "/begin/..%2fx", "/begin/os:X-v0",
     "/begin/%2fetc%2fpasswd", "/download/..%2f..%2fetc/passwd", "/download/x/..%2f.token", "/download/../.token"],
)  # fmt: skip
def test_a_path_in_a_name_is_refused(known, path):
    _, _, admitted, directory = known
    before = sorted(directory.iterdir())
    assert admitted.get(path).status_code == 404
    assert sorted(directory.iterdir()) == before


def test_a_websocket_needs_the_cookie_and_the_origin(known):
    origin, _, admitted, _ = known
    address = origin.replace("http", "ws") + "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
    cookie = {"Cookie": "; ".join(f"{name}={value}" for name, value in admitted.cookies.items())}
    for headers, sent_origin in (({}, origin), (cookie, "http://evil.example"), (cookie, None)):
        with pytest.raises(Exception, match="403"):
            client.connect(address, additional_headers=headers, origin=sent_origin).close()
    with client.connect(address, additional_headers=cookie, origin=origin) as socket:
        assert "sid" in socket.recv(timeout=20)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_events_without_a_websocket_need_the_same(known, method):
    origin, _, admitted, _ = known
    address = f"{origin}/_nicegui_ws/socket.io/?EIO=4&transport=polling"
    assert httpx.request(method, address, content="40").status_code == 403
    assert httpx.request(method, f"{address}&token=wrong", content="40").status_code == 403
    assert admitted.request(method, address, content="40", headers={"origin": "http://evil.example"}).status_code == 403


def test_events_of_a_websocket_cannot_upload_or_name_files(known):
    """Whatever messages a page sends, nothing appears outside of its session."""
    origin, _, admitted, directory = known
    page = admitted.get(f"/begin/{FOUR_ROOMS}")
    name = urlsplit(str(page.url)).path.split("/")[-1]
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
    address = f"{origin.replace('http', 'ws')}/_nicegui_ws/socket.io/?{query}&tab_id=a&document_id=b"
    with client.connect(address, additional_headers=cookie, origin=origin, max_size=None) as socket:
        socket.recv(timeout=20)
        socket.send("40")
        assert str(socket.recv(timeout=20)).startswith("40")
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
        while '"judge": "environment"' not in str(socket.recv(timeout=20)).replace("\\", ""):
            pass
    assert {path for path in directory.rglob("*") if directory / name not in path.parents} == before
    lines = (directory / name / "journal.jsonl").read_text().removeprefix(journal).splitlines()
    assert [json.loads(line) for line in lines] == [{"do": "judge", "by": "environment"}]


def test_people_who_begin_at_once_have_sessions_of_their_own(known):
    _, _, admitted, _ = known
    with ThreadPoolExecutor(12) as people:
        begun = list(people.map(lambda _: admitted.get("/begin/errand", follow_redirects=False), range(12)))
    assert len({one.headers["location"] for one in begun}) == 12


def test_a_directory_has_one_server_at_a_time(tmp_path):
    lock = lock_directory(tmp_path)
    with pytest.raises(BadInputError, match="already runs there"):
        lock_directory(tmp_path)
    lock.close()
    lock_directory(tmp_path).close()


def test_a_port_that_is_taken_is_said_to_be(known):
    port = urlsplit(known[0]).port
    with pytest.raises(BadInputError, match="is taken"):
        find_port(port)
    assert find_port(None) != port


def test_the_token_is_kept_for_its_owner_alone(tmp_path):
    token = token_of(tmp_path)
    assert token_of(tmp_path) == token
    assert len(token) >= 32
    assert stat.S_IMODE((tmp_path / ".token").stat().st_mode) == 0o600
    (tmp_path / ".token").chmod(0o644)  # somebody else may have read it
    assert token_of(tmp_path) != token
