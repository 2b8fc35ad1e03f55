"""A server that is killed at any moment loses nothing that was on the screen."""

import os
import random
import re
import signal
import subprocess
import sys
import time

import pytest
from studio_sessions import errand_plan

from wfairl.studio.events import event_of_document
from wfairl.studio.journal import Journal
from wfairl.studio.session import JOURNAL, Session
from wfairl.studio.story import Story

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


def demonstrate(page, rng, seconds, seed, step):
    """Press keys for a while, demonstration after demonstration, and now and then give one up; what was pressed."""
    pressed, end, plan = [], time.monotonic() + seconds, errand_plan(seed)
    while time.monotonic() < end:
        if rng.random() < 0.01:
            page.keyboard.press("n")
            pressed.append("n")
        else:
            page.keyboard.press(KEYS[plan[step]])
            pressed.append(int(plan[step]))
            step += 1
        if pressed[-1] == "n" or step == len(plan):
            seed, step = seed + 1, 0
            plan = errand_plan(seed)
    return pressed


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_a_kill_at_any_moment_loses_nothing_that_was_shown(browser, tmp_path, seed):
    pytest.importorskip("nicegui")
    rng = random.Random(seed)
    directory, log = tmp_path / "studio", tmp_path / "log"
    process, address = start(directory, [], log)
    origin, token = address.split("/begin")[0], address.split("?")[1]
    port = ["--port", origin.rsplit(":", 1)[1]]
    page = browser.new_page()
    page.goto(address)
    page.wait_for_selector("canvas[data-drawn]", timeout=60_000)
    session_page = page.url
    name = session_page.rsplit("/", 1)[1]
    pressed = []  # what reached the journal, and what was pressed since the last kill
    for moment in range(MOMENTS):
        session = Session(directory / name)
        pressed += demonstrate(page, rng, rng.uniform(0.1, 2.0), session.seed, len(session.controls))
        drawn, kept = page.evaluate(CONFIRMED)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()

        events = list(Journal(directory / name / JOURNAL).read())
        story, passed, done = Story(), [], []
        for document in events:
            story.apply(event_of_document(document))
            passed.append((f"{story.seed}/{len(story.controls)}", len(story.shown)))
            if document["do"] in ("control", "scene"):
                done.append(document.get("control", "n"))
        assert drawn in [place for place, _ in passed]  # the journal is not behind the screen
        assert kept <= len(story.shown)
        assert done == pressed[: len(done)]  # every key, in its order, until the kill
        pressed = done

        process, _ = start(directory, port, log)
        page.goto(f"{session_page}?{token}")
        page.wait_for_selector(f"canvas[data-drawn='{passed[-1][0]}']", timeout=60_000)
        page.wait_for_selector(f".rows li:has-text('#{len(story.shown)}')" if story.shown else ".rows")
        assert page.evaluate(CONFIRMED) == [*passed[-1]], moment
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    page.close()
    session = Session(directory / name)
    assert session.shown
    assert all(one.is_right and list(one.controls) == list(errand_plan(one.seed)) for one in session.shown)
