"""A server that is killed at any moment loses nothing that was on the page."""

import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

import pytest
from studio_sessions import errand_plan

from wfairl.runs.collection import FIRST_TRAINING_SEED
from wfairl.studio.events import RULE, DemonstrationSaved, event_of_document
from wfairl.studio.history import first_state
from wfairl.studio.journal import Journal
from wfairl.studio.session import JOURNAL, Session

KEYS = ("ArrowLeft", "ArrowRight", "ArrowUp")
MOMENTS = 20

CONFIRMED = """() => [
  document.querySelector("canvas").dataset.drawn,
  document.querySelectorAll("section[aria-labelledby=demonstrations] .rows li button").length,
]"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def start(directory, log, task="errand"):
    """The server in a process of its own, and the address that it prints once it listens.

    Its port is new, so that no page of a server before it finds it and loads itself again.
    """
    command = [sys.executable, "-m", "wfairl", "studio", task, "-d", str(directory), "--no-browser"]
    until = time.monotonic() + 120
    while time.monotonic() < until:
        with log.open("w") as output:
            process = subprocess.Popen(
                [*command, "--port", str(free_port())], stdout=output, stderr=output, start_new_session=True
            )
        while process.poll() is None and time.monotonic() < until:
            if found := re.search(r"(http://\S+)\s", log.read_text()):
                return process, found[1]
            time.sleep(0.1)
        assert "is taken" in log.read_text(), log.read_text()  # by another program, a moment ago
    raise AssertionError("the studio never opened")


def demonstrate(page, rng, keys, seed, step):
    """Press some keys, demonstration after demonstration, and now and then give one up.

    Returns:
        What was pressed, and the scene and step that it leads to.
    """
    pressed, plan = [], errand_plan(seed)
    while len(pressed) < keys:
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
    return pressed, (seed, step)


def check(directory, pressed, drawn, kept):
    """What a killed server leaves behind holds all that was on the screen; its keys, and where the next one begins."""
    (begun, *documents), places, done = Journal(directory / JOURNAL).read(), [], []
    state = first_state(event_of_document(begun))
    for document in documents:
        state = state.after(event_of_document(document))
        places.append(f"{state.seed}/{len(state.controls)}")
        if document["do"] in ("control", "scene"):
            done.append(document.get("control", "n"))
    assert drawn in (f"{FIRST_TRAINING_SEED}/0", *places)  # the journal is not behind the screen
    assert kept <= len(state.demonstrations)
    assert done == pressed[: len(done)]  # every key, in its order, until the kill
    assert all(one.right and list(one.controls) == list(errand_plan(one.seed)) for one in state.demonstrations)
    session = Session(directory)
    assert (session.state.demonstrations, session.state.controls, session.state.seed) == (
        state.demonstrations,
        state.controls,
        state.seed,
    )
    assert len(session.dataset) == len(state.demonstrations)
    if len(state.controls) == len(errand_plan(state.seed)):  # killed between the last control and the judgement
        state = state.after(DemonstrationSaved(True, RULE))
    return done, f"{state.seed}/{len(state.controls)}", state


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_what_lies_on_the_disk_at_any_moment_is_all_that_was_shown(browser, tmp_path, seed):
    """A process that is stopped has left on the disk what it would have left if it were killed."""
    pytest.importorskip("nicegui")
    rng = random.Random(seed)
    directory = tmp_path / "studio"
    process, address = start(directory, tmp_path / "log")
    page = browser.new_page()
    page.goto(address)
    page.wait_for_selector("canvas[data-drawn]", timeout=120_000)
    name = page.url.rsplit("/", 1)[1]
    pressed, place = [], (FIRST_TRAINING_SEED, 0)
    for moment in range(MOMENTS):
        more, place = demonstrate(page, rng, rng.randrange(1, 40), *place)
        pressed += more
        drawn, kept = page.evaluate(CONFIRMED)
        os.kill(process.pid, signal.SIGSTOP)
        shutil.copytree(directory / name, tmp_path / f"at-{moment}")
        os.kill(process.pid, signal.SIGCONT)
        check(tmp_path / f"at-{moment}", pressed, drawn, kept)
    page.wait_for_selector(f"canvas[data-drawn='{place[0]}/{place[1]}']", timeout=120_000)  # every key has arrived
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    page.close()
    assert Session(directory / name).state.demonstrations


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_a_kill_at_any_moment_loses_nothing_that_was_shown(browser, tmp_path, seed):
    pytest.importorskip("nicegui")
    rng = random.Random(seed)
    directory, log = tmp_path / "studio", tmp_path / "log"
    process, address = start(directory, log)
    page = browser.new_page()
    page.goto(address)
    page.wait_for_selector("canvas[data-drawn]", timeout=60_000)
    name = page.url.rsplit("/", 1)[1]
    pressed = []  # what reached the journal, and what was pressed since the last kill
    for moment in range(MOMENTS):
        session = Session(directory / name)
        more, _ = demonstrate(page, rng, rng.randrange(1, 40), session.state.seed, len(session.state.controls))
        pressed += more
        drawn, kept = page.evaluate(CONFIRMED)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()

        pressed, place, state = check(directory / name, pressed, drawn, kept)

        process, address = start(directory, log)
        page.goto(address)  # of the same session
        page.wait_for_selector(f"canvas[data-drawn='{place}']", timeout=60_000)
        page.wait_for_selector(
            f".rows li:has-text('#{len(state.demonstrations)}')" if state.demonstrations else ".rows"
        )
        assert page.evaluate(CONFIRMED) == [place, len(state.demonstrations)], moment
    _, place = demonstrate(page, rng, 60, state.seed, len(state.controls))  # more than one demonstration takes
    page.wait_for_selector(f"canvas[data-drawn='{place[0]}/{place[1]}']", timeout=120_000)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    page.close()
    assert Session(directory / name).state.demonstrations
