"""Who may talk to the studio: a browser on this machine that was given the token, from the studio's own pages.

    Host        must be the address that the studio is bound to, so that no name of elsewhere can be made to point here
    Origin      where a browser tells one, must be the same; for websockets, too
    token       in the address once, then in a cookie that no other site's request carries
    method      GET and HEAD; POST for the transport of events alone: nothing can be uploaded

Every answer forbids the browser to load anything from anywhere else.
"""

import hmac
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, quote, urlencode

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

TRANSPORT = "/_nicegui_ws/"
"""Where the events of pages go; a browser without websockets posts them."""

REFUSED = b"Refused. Open the address that `wfairl studio` has printed."


class RequestGuard:
    """Refuses what does not come from the studio's own pages.

    Args:
        application: what is behind it.
        token: what an address must carry.
        port: that the studio listens to.
    """

    def __init__(self, application: Application, token: str, port: int) -> None:
        self._application, self._token = application, token
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._cookie = f"wfairl-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if not self._comes_from_here(scope, headers):
            await _refuse(scope, send)
        elif self._has_cookie(headers):
            await self._application(scope, receive, _with_headers(send, headers["host"]))
        elif scope["type"] == "http" and scope["method"] == "GET" and (rest := self._has_token(scope)) is not None:
            await self._admit(scope, send, rest)
        else:
            await _refuse(scope, send)

    def _comes_from_here(self, scope: Scope, headers: Mapping[str, str]) -> bool:
        host = headers.get("host", "")
        if host not in self._hosts or headers.get("origin", f"http://{host}") != f"http://{host}":
            return False
        if scope["type"] == "websocket":
            return "origin" in headers  # every browser tells it
        methods = ("GET", "HEAD", "POST") if scope["path"].startswith(TRANSPORT) else ("GET", "HEAD")
        return scope["method"] in methods

    def _has_cookie(self, headers: Mapping[str, str]) -> bool:
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return False
        return self._cookie in cookies and hmac.compare_digest(
            cookies[self._cookie].value.encode(), self._token.encode()
        )

    def _has_token(self, scope: Scope) -> str | None:
        """The query without the token, if it carries the right one."""
        query = parse_qs(scope["query_string"].decode("latin-1"))
        given = query.pop("token", [""])[0]
        if not hmac.compare_digest(given.encode(), self._token.encode()):
            return None
        return urlencode(query, doseq=True)

    async def _admit(self, scope: Scope, send: Send, query: str) -> None:
        """Put the token into a cookie, and the browser to the same address without it."""
        path = quote("/" + scope["path"].lstrip("/"))  # never //elsewhere
        place = path + (f"?{query}" if query else "")
        cookie = f"{self._cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict"
        headers = [(b"location", place.encode()), (b"set-cookie", cookie.encode()), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


async def _refuse(scope: Scope, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    headers = [(b"content-type", b"text/plain"), (b"content-length", str(len(REFUSED)).encode())]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": REFUSED})


def _with_headers(send: Send, host: str) -> Send:
    """Answers that keep the browser from loading anything from elsewhere, or from showing us inside of another page."""
    policy = (
        "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; font-src 'self' data:; "
        f"script-src 'self' 'unsafe-inline' 'unsafe-eval'; connect-src 'self' ws://{host}; "
        "frame-ancestors 'none'; form-action 'none'; base-uri 'none'; object-src 'none'"
    )
    added = [
        (b"content-security-policy", policy.encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),
    ]

    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *added]
        await send(message)

    return sending
