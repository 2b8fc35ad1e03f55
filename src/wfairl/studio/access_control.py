"""Access control: only a browser that was given this run's token, and only from the studio's own pages.

    Host             must be the address that the studio is bound to, against DNS rebinding
    Origin           must be the same if the browser sends one; required for POST and for websockets
    Sec-Fetch-Site   must not name another site, nor another port of this one, except to enter with the token
    token            enters: it is exchanged for a cookie, and the browser goes on to the folder of this run
    cookie           another secret; its path is a folder whose name is a secret of the run, too
    method           GET and HEAD change nothing; POST only where the application has a POST

Browsers send a cookie to all ports of a machine, but only under its path. Another program on this machine that a
person visits does not know the folder, so that it never receives the cookie. All three secrets end with the run.

Every response forbids the browser to load anything from another host.
"""

import hmac
import secrets
from collections.abc import Mapping
from urllib.parse import parse_qs, quote, urlencode

from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from wfairl.studio.registry import going_on

POSTED = ("/_nicegui_ws/", "/begin/", "/delete/", "/restore/")
"""Paths that take a POST: a browser without websockets posts the events of a page."""

OWN_SITES = ("same-origin", "none")
"""What `Sec-Fetch-Site` says of requests by the studio's own pages, and by the person in the address bar."""

REFUSED = """<!doctype html><html lang="en"><meta name="viewport" content="width=device-width">
<title>wfairl studio</title><body style="font: 1.1rem/1.5 sans-serif; max-width: 40rem; margin: 3rem auto">
<h1>Refused</h1><p>This address belongs to another run of the studio, or the link came from another page.</p>
<p>Open the address that <code>wfairl studio</code> printed. The same command prints it again.</p>"""

BARE = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
}
"""Headers of a page that loads nothing."""


class AccessControl:
    """ASGI middleware that refuses requests from anywhere but the studio's own pages; `token` enters."""

    def __init__(self, application: ASGIApp, port: int) -> None:
        self._application, self._folder = application, f"/{secrets.token_urlsafe(12)}"
        self.token, self._secret = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._cookie = f"wfairl-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, let a browser with the token in, or refuse."""
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if not self._is_for_this_host(headers):
            await _refuse(scope, receive, send)
        elif self._is_own_request(scope, headers) and self._has_cookie(scope, headers):
            scope["root_path"] = self._folder
            await self._application(scope, receive, _with_headers(send, headers["host"]))
        elif scope.get("method") == "GET" and (admission := self._admission(scope)) is not None:
            await admission(scope, receive, send)
        else:
            await _refuse(scope, receive, send)

    def _is_for_this_host(self, headers: Mapping[str, str]) -> bool:
        host = headers.get("host", "")
        return host in self._hosts and headers.get("origin", f"http://{host}") == f"http://{host}"

    def _is_own_request(self, scope: Scope, headers: Mapping[str, str]) -> bool:
        if headers.get("sec-fetch-site", "none") not in OWN_SITES:
            return False
        if scope["type"] == "websocket":
            return "origin" in headers  # every browser sends it, also with a POST
        if scope["method"] == "POST":
            return "origin" in headers and scope["path"].removeprefix(self._folder).startswith(POSTED)
        return scope["method"] in ("GET", "HEAD")

    def _has_cookie(self, scope: Scope, headers: Mapping[str, str]) -> bool:
        known, folder = f"{self._cookie}={self._secret}".encode(), f"{self._folder}/".encode()
        given = headers.get("cookie", "").split(";")  # other programs may have set cookies of any name and text
        is_here = hmac.compare_digest(scope["path"].encode()[: len(folder)], folder)
        return is_here and any(hmac.compare_digest(one.strip().encode(), known) for one in given)

    def _admission(self, scope: Scope) -> HTMLResponse | None:
        """With the right token: set the cookie, and go on to the same page in the folder of this run.

        A page goes on, not a redirect: after a redirect the browser would still take the request for one of the page
        that had the link, and withhold the cookie.
        """
        query = parse_qs(scope["query_string"].decode("latin-1"))
        given = query.pop("token", [""])[0]
        if not hmac.compare_digest(given.encode(), self.token.encode()):
            return None
        rest = f"?{urlencode(query, doseq=True)}" if query else ""
        path = self._folder + quote("/" + scope["path"].lstrip("/")) + rest
        cookie = f"{self._cookie}={self._secret}; Path={self._folder}/; HttpOnly; SameSite=Strict"
        return HTMLResponse(going_on(path), headers={**BARE, "set-cookie": cookie})


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
    else:
        await HTMLResponse(REFUSED, 403, BARE)(scope, receive, send)


def _with_headers(send: Send, host: str) -> Send:
    """Add headers against content from other hosts and against framing."""
    policy = (
        "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; font-src 'self' data:; "
        f"script-src 'self' 'unsafe-inline' 'unsafe-eval'; connect-src 'self' ws://{host}; "
        "frame-ancestors 'none'; form-action 'none'; base-uri 'none'; object-src 'none'"
    )
    added = [
        (b"content-security-policy", policy.encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),
        (b"cross-origin-resource-policy", b"same-origin"),
    ]

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *added]
        await send(message)

    return send_with_headers
