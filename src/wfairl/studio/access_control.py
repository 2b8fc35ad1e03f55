"""Access control: only a browser on this machine that has the token, and only from the studio's own pages.

    Host        must be the address that the studio is bound to, against DNS rebinding
    Origin      if the browser sends one, must be the same; required for websockets
    token       in the URL once, then in a cookie that requests from other sites do not carry
    method      GET and HEAD; POST only for the transport of events: nothing can be uploaded

Every response forbids the browser to load anything from another host.
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
"""The path of page events; a browser without websockets posts them."""

REFUSED = b"Refused. Open the address that `wfairl studio` printed."


class AccessControl:
    """ASGI middleware that refuses requests from anywhere but the studio's own pages."""

    def __init__(self, application: Application, token: str, port: int) -> None:
        self._application, self._token = application, token
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._cookie = f"wfairl-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if not self._is_same_origin(scope, headers):
            await _refuse(scope, send)
        elif self._has_cookie(headers):
            await self._application(scope, receive, _with_headers(send, headers["host"]))
        elif scope.get("method") == "GET" and (query := self._query_without_token(scope)) is not None:
            await self._admit(scope, send, query)
        else:
            await _refuse(scope, send)

    def _is_same_origin(self, scope: Scope, headers: Mapping[str, str]) -> bool:
        host = headers.get("host", "")
        if host not in self._hosts or headers.get("origin", f"http://{host}") != f"http://{host}":
            return False
        if scope["type"] == "websocket":
            return "origin" in headers  # every browser sends it
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

    def _query_without_token(self, scope: Scope) -> str | None:
        """The rest of the query if it has the right token; else None."""
        query = parse_qs(scope["query_string"].decode("latin-1"))
        given = query.pop("token", [""])[0]
        if not hmac.compare_digest(given.encode(), self._token.encode()):
            return None
        return urlencode(query, doseq=True)

    async def _admit(self, scope: Scope, send: Send, query: str) -> None:
        """Set the token as a cookie, and redirect to the same URL without it."""
        path = quote("/" + scope["path"].lstrip("/"))  # never //another-host
        location = path + (f"?{query}" if query else "")
        cookie = f"{self._cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict"
        headers = [(b"location", location.encode()), (b"set-cookie", cookie.encode()), (b"content-length", b"0")]
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
    ]

    async def send_with_headers(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *added]
        await send(message)

    return send_with_headers
