"""How long a person waits in the studio: key press to new frame, demonstration to automaton; alone, and with others.

    python benchmarks/studio.py [--json] [--keys 300] [--sessions 20]

A server in a process of its own and a real browser (Chromium). A key is pressed in the page, and time runs until the
canvas shows the state that follows and the browser is about to paint it. A demonstration of T1 (doorkey) ends with the
key that reaches the goal, and time runs until the page shows what was understood from it. With --sessions, so many
people demonstrate T1 at the same time, each in a session of their own, four keys a second.

The limits: 100 ms for a key at the 95th percentile; 2 s for a demonstration of T1. All run on the cores that there are:
server, worker, and the browser of everybody. What the server alone needs for a key does not depend on who else runs.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright
from rich.console import Console
from rich.table import Table

from wfairl.planning.cost import unit_cost
from wfairl.planning.plan import find_plan
from wfairl.planning.product import build_product
from wfairl.studio.keys import keys_of
from wfairl.worlds.registry import find_task

KEY_LIMIT, LEARN_LIMIT = 0.1, 2.0
PAUSE = 0.25
DEMONSTRATIONS = 8

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
window.understood = async (key, number) => {
  const start = performance.now();
  document.querySelector(".view").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  const isThere = () => document.querySelector(".sentence") && document.querySelector(".thinking.idle")
    && [...document.querySelectorAll(".edges .behind")].some((one) => one.textContent.includes(`#${number}`));
  while (!isThere()) await new Promise((resolve) => setTimeout(resolve, 5));
  return (performance.now() - start) / 1000;
};
window.demonstrate = async (keys, number, pause) => {
  const times = [];
  for (const key of keys.slice(0, -1)) {
    times.push(await window.press(key));
    await new Promise((resolve) => setTimeout(resolve, 1000 * pause * (0.5 + Math.random())));
  }
  return { keys: times, learned: await window.understood(keys.at(-1), number) };
};
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--keys", type=int, default=300, help="key presses to measure alone")
    parser.add_argument("--sessions", type=int, default=20, help="people at the same time")
    arguments = parser.parse_args()
    with server() as (process, address), sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium") or shutil.which("google-chrome"))
        alone, spent = press_keys(browser, address, arguments.keys, process.pid)
        learned = demonstrate(browser, address)
        together = with_others(browser, address, arguments.sessions)
        figures = {
            "cores": os.cpu_count(),
            "load": os.getloadavg()[0],
            "key_alone": percentiles(alone),
            "demonstration_of_T1": percentiles(learned),
            "sessions": arguments.sessions,
            "key_together": percentiles([one for some in together for one in some["keys"]]),
            "demonstration_together": percentiles([some["learned"] for some in together]),
            "server_processor_seconds_per_key": spent,
            "server_megabytes": resident_megabytes(process.pid),
            "key_limit": KEY_LIMIT,
            "learn_limit": LEARN_LIMIT,
        }
        browser.close()
    print(json.dumps(figures)) if arguments.json else show(figures)


@contextmanager
def server() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A studio in a process of its own, and its first page's address."""
    with tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, "-m", "wfairl", "studio", "--no-browser", "-d", directory]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        try:
            found = re.search(r"http://\S+", process.stdout.readline())
            assert found is not None
            time.sleep(20)  # the worker loads its kernels
            yield process, found[0]
        finally:
            process.terminate()
            process.wait(20)


def open_session(browser: Browser, address: str, what: str) -> Page:
    page = browser.new_context(viewport={"width": 1200, "height": 900}).new_page()
    page.set_default_timeout(120_000)
    page.goto(address.replace("/?", f"/begin/{what}?"))
    page.wait_for_selector("[data-ready]", state="attached")
    page.evaluate(PRESS)
    return page


def press_keys(browser: Browser, address: str, count: int, pid: int) -> tuple[list[float], float]:
    """Seconds of key presses one after the other, in a world of 19 x 19 cells; of the server's processor for one."""
    page = open_session(browser, address, "MiniGrid-FourRooms-v0")
    keys = np.random.default_rng(0).choice(["ArrowLeft", "ArrowRight", "ArrowUp"], count).tolist()
    for key in keys[:5]:  # the first few decode tiles
        page.evaluate("(key) => window.press(key)", key)
    before = processor_seconds(pid)
    times = [page.evaluate("(key) => window.press(key)", key) for key in keys]
    spent = (processor_seconds(pid) - before) / count
    page.context.close()
    return times, spent


def demonstrate(browser: Browser, address: str) -> list[float]:
    """Seconds from the last key of demonstrations of T1 to what was understood."""
    page = open_session(browser, address, "doorkey")
    found = [
        page.evaluate("([keys, number]) => window.demonstrate(keys, number, 0)", [plan_of(page), number])["learned"]
        for number in range(1, DEMONSTRATIONS + 1)
    ]
    page.context.close()
    return found


def with_others(browser: Browser, address: str, sessions: int) -> list[dict[str, Any]]:
    """Everybody demonstrates T1 once, at the same time."""
    pages = [open_session(browser, address, "doorkey") for _ in range(sessions)]
    for page in pages:
        page.evaluate(
            "([keys, pause]) => { window.result = null;"
            " window.demonstrate(keys, 1, pause).then((one) => { window.result = one; }); }",
            [plan_of(page), PAUSE],
        )
    results: list[dict[str, Any]] = []
    for page in pages:
        page.wait_for_function("() => window.result !== null")
        results.append(page.evaluate("() => window.result"))
    for page in pages:
        page.context.close()
    return results


def plan_of(page: Page) -> list[str]:
    """The keys that solve the scene on the page."""
    found = re.search(r"Scene (\d+)", page.inner_text(".scene-line"))
    assert found is not None
    task = find_task("doorkey")
    world = task.make_world(int(found[1]))
    product = build_product(world, task.rule)
    keys = keys_of(world.controls)
    return [str(keys[control]["key"]) for control in find_plan(product, unit_cost(product)).path.controls]


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    half, most, last = np.percentile(seconds, [50, 95, 100])
    return {"median": float(half), "percentile_95": float(most), "largest": float(last), "count": len(seconds)}


def processor_seconds(pid: int) -> float:
    """What a process has used of a processor so far; on Linux alone."""
    status = Path(f"/proc/{pid}/stat")
    if not status.exists():
        return float("nan")
    user, system = status.read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def resident_megabytes(pid: int) -> float:
    status = Path(f"/proc/{pid}/status")
    found = re.search(r"VmRSS:\s+(\d+)", status.read_text()) if status.exists() else None
    return float(found[1]) / 1024 if found else float("nan")


def show(figures: dict[str, Any]) -> None:
    table = Table("what", "median", "95%", "largest", "of", "limit", title="seconds that a person waits")
    names = {
        "key_alone": ("key press to new frame", KEY_LIMIT),
        "demonstration_of_T1": ("demonstration of T1 to automaton", LEARN_LIMIT),
        "key_together": (f"key press, {figures['sessions']} sessions at once", KEY_LIMIT),
        "demonstration_together": (f"demonstration, {figures['sessions']} sessions at once", LEARN_LIMIT),
    }
    for key, (name, limit) in names.items():
        one = figures[key]
        numbers = [f"{one[part]:.3f}" for part in ("median", "percentile_95", "largest")]
        table.add_row(name, *numbers, str(one["count"]), f"{limit:g}")
    console = Console()
    console.print(table)
    console.print(
        f"{figures['cores']} cores, load {figures['load']:.1f} with what else runs here; the server takes "
        f"{1000 * figures['server_processor_seconds_per_key']:.1f} ms of a processor for a key, "
        f"and {figures['server_megabytes']:.0f} MB"
    )


if __name__ == "__main__":
    main()
