"""Response times of the studio: key press to new frame, demonstration to automaton; with one user and with many.

    python benchmarks/studio.py [--json] [--quick] [--keys 300] [--sessions 20]

The server runs in its own process. One user acts in a real browser (Chromium): the time from a key press until the
canvas shows the next state and the browser is about to paint it. A demonstration of T1 (doorkey) ends with the key that
reaches the goal: the time until the page shows the automaton learned from it.

Many users demonstrate T1 at the same time, each in their own session, with four keys per second. They are plain clients
that speak the pages' own protocol (HTTP, then Socket.IO over a websocket) and draw nothing, so that the figures measure
the server and not twenty browsers on its cores: the time from the key to the view with the next frame. The real browser
runs beside them, to measure what a user experiences meanwhile.

The limits: 100 ms for a key at the 95th percentile; 2 s for a demonstration of T1.
"""

import asyncio
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx
import numpy as np
import websockets
from playwright.sync_api import Browser, Page, sync_playwright
from reporting import make_parser, report

from wfairl.core.planning.cost import unit_cost
from wfairl.core.planning.plan import find_plan
from wfairl.core.planning.product import build_product
from wfairl.runs.task_registry import find_task
from wfairl.studio.keys import keys_of

KEY_LIMIT, LEARN_LIMIT = 0.1, 2.0
PAUSE = 0.25
DEMONSTRATIONS, TOGETHER = 8, 3
"""Of T1: alone, and of each person of the crowd."""

CROWD = "--crowd"

PRESS = """() => {
window.press = async (key) => {
  const canvas = document.querySelector("canvas");
  const shown = new Promise((resolve) => {
    const observer = new MutationObserver(() => { observer.disconnect(); resolve(); });
    observer.observe(canvas, { attributes: true, attributeFilter: ["data-drawn"] });
  });
  const start = performance.now();
  document.querySelector(".view").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  await shown;
  await new Promise(requestAnimationFrame);
  return (performance.now() - start) / 1000;
};
window.learn = async (key, number) => {
  const start = performance.now();
  document.querySelector(".view").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  const rows = () => document.querySelectorAll("section[aria-labelledby=demonstrations] .rows button").length;
  const isThere = () => document.querySelector(".sentence") && document.querySelector(".progress.idle")
    && !document.querySelector(".outdated") && rows() === number;
  while (!isThere()) await new Promise((resolve) => setTimeout(resolve, 5));
  return (performance.now() - start) / 1000;
};
window.demonstrate = async (keys, number, pause) => {
  const times = [];
  for (const key of keys.slice(0, -1)) {
    times.push(await window.press(key));
    await new Promise((resolve) => setTimeout(resolve, 1000 * pause * (0.5 + Math.random())));
  }
  return { keys: times, learned: await window.learn(keys.at(-1), number) };
};
}"""


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--keys", type=int, default=300, help="key presses to measure alone")
    parser.add_argument("--sessions", type=int, default=20, help="sessions at the same time")
    arguments = parser.parse_args()
    keys, sessions = (9, 2) if arguments.quick else (arguments.keys, arguments.sessions)
    with server() as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium") or shutil.which("google-chrome"))
        alone = press_keys(browser, address, keys)
        learned = demonstrate(browser, address)
        with others(address, sessions) as crowd:
            among = press_keys(browser, address, keys // 3)
            results = crowd()
        many, together = f"{sessions} sessions at once", [seconds for one in results for seconds in one["keys"]]
        rows = [
            {"what": "key press to new frame", **percentiles(alone, KEY_LIMIT)},
            {"what": "demonstration of T1 to automaton", **percentiles(learned, LEARN_LIMIT)},
            {"what": f"key press to view, {many}", **percentiles(together, KEY_LIMIT)},
            {"what": f"key press to new frame, {many}", **percentiles(among, KEY_LIMIT)},
            {"what": f"demonstration, {many}", **percentiles([one["learned"] for one in results], LEARN_LIMIT)},
        ]
        browser.close()
    machine = {"cores": os.cpu_count(), "load": os.getloadavg()[0]}
    report({"seconds that a person waits": rows, "the machine": machine}, arguments.json)


@contextmanager
def server() -> Iterator[str]:
    """The URL of the home page of a studio in a process of its own."""
    with tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, "-m", "wfairl", "studio", "--no-browser", "-d", directory]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        try:
            found = re.search(r"http://\S+", process.stdout.readline())
            assert found is not None
            time.sleep(20)  # the worker loads its kernels
            yield found[0]
        finally:
            process.terminate()
            process.wait(20)


def open_session(browser: Browser, address: str, what: str) -> Page:
    page = browser.new_context(viewport={"width": 1200, "height": 900}).new_page()
    page.set_default_timeout(120_000)
    page.goto(address)
    page.wait_for_selector("[data-ready]", state="attached")
    begun = page.evaluate("async (what) => (await fetch(`begin/${what}`, { method: 'POST' })).json()", what)
    page.goto(page.url + f"session/{begun['session']}")
    page.wait_for_selector("[data-ready]", state="attached")
    page.evaluate(PRESS)
    return page


def press_keys(browser: Browser, address: str, count: int) -> list[float]:
    """Seconds of each key press in a world of 19 x 19 cells."""
    page = open_session(browser, address, "MiniGrid-FourRooms-v0")
    keys = np.random.default_rng(0).choice(["ArrowLeft", "ArrowRight", "ArrowUp"], count).tolist()
    for key in keys[:5]:  # the first few decode tiles
        page.evaluate("(key) => window.press(key)", key)
    times = [page.evaluate("(key) => window.press(key)", key) for key in keys]
    page.context.close()
    return times


def demonstrate(browser: Browser, address: str) -> list[float]:
    """Seconds from the last key of demonstrations of T1 to the inferred task."""
    page = open_session(browser, address, "doorkey")
    found = [
        page.evaluate("([keys, number]) => window.demonstrate(keys, number, 0)", [plan_of(page), number])["learned"]
        for number in range(1, DEMONSTRATIONS + 1)
    ]
    page.context.close()
    return found


@contextmanager
def others(address: str, sessions: int) -> Iterator[Callable[[], list[dict[str, Any]]]]:
    """A crowd in a process of its own, each person demonstrating T1 `TOGETHER` times; yields a function that waits."""
    command = [sys.executable, __file__, CROWD, address, str(sessions)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    try:
        yield lambda: json.loads(process.communicate()[0])
    finally:
        process.kill()
        process.wait()


async def crowd(address: str, sessions: int) -> None:
    people = [Person() for _ in range(sessions)]
    for person in people:
        await person.visit(address, "doorkey")
    print("ready", flush=True)
    results = await asyncio.gather(*(person.demonstrate() for person in people))
    print(json.dumps([one for some in results for one in some]))


class Person:
    """A page of the studio without a browser: it keeps the elements that NiceGUI sends, and sends events."""

    async def visit(self, address: str, what: str) -> None:
        """Start a session, as a browser does."""
        parts = urlsplit(address)
        origin = f"http://{parts.netloc}"
        async with httpx.AsyncClient(timeout=60, headers={"origin": origin}) as client:
            entered = re.search(r"url=([^\"]+)", (await client.get(address)).text)
            assert entered is not None
            folder = origin + entered[1]
            begun = (await client.post(f"{folder}begin/{what}")).json()
            page = await client.get(f"{folder}session/{begun['session']}")
            cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
        elements = json.loads(page.text.split("parseElements(String.raw`", 1)[1].split("`)", 1)[0])
        found = re.search(r"'client_id': '([^']+)'", page.text)
        assert found is not None
        self.client, self.views, self.changed = found[1], {}, asyncio.Event()
        for number, element in elements.items():
            if "json" in element.get("props", {}):
                self._store(number, element)
        self.scene = next(number for number, view in self.views.items() if "has_world" in view)
        self.understanding = next(number for number, view in self.views.items() if "demonstrations" in view)
        self.listener = next(one["listener_id"] for one in elements[self.scene]["events"] if one["type"] == "do")
        query = {"client_id": self.client, "next_message_id": 0, "implicit_handshake": "true", "EIO": 4,
                 "tab_id": str(uuid.uuid4()), "document_id": str(uuid.uuid4()), "transport": "websocket"}  # fmt: skip
        self.socket = await websockets.connect(
            f"{folder.replace('http', 'ws', 1)}_nicegui_ws/socket.io/?{urlencode(query)}",
            additional_headers={"Cookie": cookie},
            origin=websockets.Origin(origin),
            max_size=None,
        )
        self.reading = asyncio.ensure_future(self._read())
        await self.until(lambda: bool(self.views[self.scene]["frames"]))

    async def _read(self) -> None:
        async for packet in self.socket:
            text = str(packet)
            if text.startswith("0"):
                await self.socket.send("40")
            elif text == "2":
                await self.socket.send("3")
            elif text.startswith("42"):
                name, content = json.loads(text[2:])[:2]
                if name == "update":
                    for number, element in content.items():
                        if number in self.views and element is not None:
                            self._store(number, element)
                    self.changed.set()

    def _store(self, number: str, element: dict[str, Any]) -> None:
        self.views[number] = json.loads(element["props"]["json"])

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait for a condition of the page."""
        while not is_so():
            self.changed.clear()
            await asyncio.wait_for(self.changed.wait(), 120)

    async def send(self, message: dict[str, Any]) -> None:
        """Send the message of a key or a button."""
        event = {"id": int(self.scene), "client_id": self.client, "listener_id": self.listener,
                 "args": [json.dumps(message)]}  # fmt: skip
        await self.socket.send(f"42{json.dumps(['event', event])}")

    async def demonstrate(self) -> list[dict[str, Any]]:
        """Demonstrate T1: seconds of every key but the last, and from the last one to the inferred task."""
        found = []
        for number in range(1, TOGETHER + 1):
            await self.until(lambda: self.views[self.scene]["steps"] == 0)
            plan, keys = await asyncio.to_thread(controls_of, self.views[self.scene]["seed"]), []
            for done, control in enumerate(plan[:-1], start=1):
                await asyncio.sleep(PAUSE * (0.5 + random.random()))
                start = time.perf_counter()
                await self.send({"do": "control", "control": control})
                await self.until(lambda done=done: self.views[self.scene]["steps"] == done)
                keys.append(time.perf_counter() - start)
            start = time.perf_counter()
            await self.send({"do": "control", "control": plan[-1]})
            await self.until(lambda number=number: self._has_learned(number))
            found.append({"keys": keys, "learned": time.perf_counter() - start})
        return found

    def _has_learned(self, number: int) -> bool:
        view = self.views[self.understanding]
        return view["is_current"] and len(view["demonstrations"]) == number


def controls_of(seed: int) -> list[int]:
    """The controls that solve a scene of T1."""
    task = find_task("doorkey")
    product = build_product(task.make_world(seed), task.rule)
    return [int(control) for control in find_plan(product, unit_cost(product)).path.controls]


def plan_of(page: Page) -> list[str]:
    """The keys that solve the scene on the page."""
    found = re.search(r"Scene (\d+)", page.inner_text(".scene-line"))
    assert found is not None
    keys = keys_of(find_task("doorkey").make_world(0).controls)
    return [str(keys[control]["key"]) for control in controls_of(int(found[1]))]


def percentiles(seconds: Sequence[float], limit: float) -> dict[str, float]:
    median, most, largest = map(float, np.percentile(seconds, [50, 95, 100]))
    return {"median": median, "95%": most, "largest": largest, "of": len(seconds), "limit": limit}


if __name__ == "__main__":
    if sys.argv[1:2] == [CROWD]:
        asyncio.run(crowd(sys.argv[2], int(sys.argv[3])))
    else:
        main()
