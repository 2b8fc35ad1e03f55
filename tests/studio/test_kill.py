"""A server that is killed at any moment loses nothing that was on the screen."""

import os
import random
import re
import signal
import subprocess
import sys
import time

import pytest

from wfairl.studio.session import Session

KEYS = ("ArrowLeft", "ArrowRight", "ArrowUp")
MOMENTS = 20

CONFIRMED = """() => [
  document.querySelector("canvas").dataset.drawn,
  document.querySelectorAll("section[aria-labelledby=demonstrations] .rows li button").length,
]"""


def start(directory, port, log):
    """The server in a process of its own, and the address that it prints."""
    command = [sys.executable, "-m", "wfairl", "studio", "errand", "-d", str(directory), "--no-browser"]
    with log.open("w") as output:
        process = subprocess.Popen([*command, *port], stdout=output, stderr=output, start_new_session=True)
    for _ in range(600):
        found = re.search(r"http://\S+", log.read_text())
        if found:
            return process, found[0]
        assert process.poll() is None, log.read_text()
        time.sleep(0.1)
    raise AssertionError("the studio never opened")


@pytest.mark.slow
def test_a_kill_at_any_moment_loses_nothing_that_was_shown(browser, tmp_path):
    pytest.importorskip("nicegui")
    rng = random.Random(0)
    directory, log = tmp_path / "studio", tmp_path / "log"
    process, address = start(directory, [], log)
    origin, token = address.split("/begin")[0], address.split("?")[1]
    port = ["--port", origin.rsplit(":", 1)[1]]
    page = browser.new_page()
    page.goto(address)
    page.wait_for_selector("[data-ready]", state="attached", timeout=60_000)
    session_page = page.url
    name = session_page.rsplit("/", 1)[1]
    pressed = []  # every control that was ever pressed in this session, in order
    for moment in range(MOMENTS):
        end = time.monotonic() + rng.uniform(0.1, 2.0)
        while time.monotonic() < end:
            key = rng.randrange(3)
            page.keyboard.press(KEYS[key])
            pressed.append(key)
            if rng.random() < 0.05:
                page.keyboard.press("n")  # another scene
                pressed.append("n")
        drawn, kept = page.evaluate(CONFIRMED)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        session = Session(directory / name)
        seed, steps = (int(part) for part in drawn.split("/"))
        assert len(session.shown) >= kept
        if session.seed == seed:
            assert len(session.controls) >= steps
        else:
            assert session.seed > seed  # it went on to another scene after what was drawn
        process, _ = start(directory, port, log)
        page.goto(f"{session_page}?{token}")
        page.wait_for_selector("[data-ready]", state="attached", timeout=60_000)
        assert page.evaluate(CONFIRMED)[0] == f"{session.seed}/{len(session.controls)}", moment
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    page.close()
    assert followed(Session(directory / name), pressed)


def followed(session, pressed):
    """Whether what the session holds is what was pressed last, up to a few keys that the kill came before."""
    controls = [key for key in pressed if key != "n"]
    held = list(session.controls)
    return not held or any(controls[i : i + len(held)] == held for i in range(len(controls) - len(held) + 1))
