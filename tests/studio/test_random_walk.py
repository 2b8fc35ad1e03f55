"""A random walk over the whole page: two tabs, jobs in flight, reloads, kills of the server.

A second session, to which the same acts are done directly, says what the journal must hold: no act is lost, none comes
twice, and none is overtaken. The mode of a tab is what its own keys made it. At the end, undo leads to the empty
session and redo to the same bytes.

    WFAIRL_WALK=10000 WFAIRL_WALK_SEED=1 pytest -m slow tests/studio/test_random_walk.py
"""

import os
import random
import shutil
import signal
import time
from collections import Counter
from contextlib import suppress

import pytest
from studio_sessions import SECONDS, InlineRunner, send
from test_kill import start

from wfairl.core.support.errors import BadInputError
from wfairl.studio.controller import SessionController
from wfairl.studio.journal import Journal
from wfairl.studio.session import DEMONSTRATIONS, JOURNAL, TASK_MODEL, Session
from wfairl.studio.task_spec import find_task_spec

sync_api = pytest.importorskip("playwright.sync_api")

WORLD = "MiniGrid-Empty-5x5-v0"
PROPOSITIONS = (
    {"do": "proposition", "name": "goal", "is": {"is": "on", "terrain": "goal"}},
    {"do": "proposition", "name": "corner", "is": {"is": "at", "x": 1, "y": 3}},
)
DEMONSTRATION = (
    *({"do": "control", "control": control} for control in (1, 2, 2, 0, 2, 2)),  # to the corner, and to the goal
    {"do": "keep", "right": True, "by": "person"},
)
CONTROLS = {"ArrowLeft": 0, "ArrowRight": 1, "ArrowUp": 2, "p": 3, "d": 4, " ": 5}
MODES = {"1": "tab-demonstrate", "2": "tab-watch", "3": "tab-answer"}
HARMLESS = ("Failed to load resource", "WebSocket connection", "reloading because", "ERR_CONNECTION", "Fetch API")
"""What a browser says of a server that is gone."""


class Walk:
    """Two tabs of a studio in a process of its own, and the session that they must lead to."""

    def __init__(self, browser, folder, seed):
        self.rng, self.browser, self.folder = random.Random(seed), browser, folder
        self.errors, self.did = [], Counter()
        self.session = Session(folder / "twin" / "my-empty-5x5-1", find_task_spec(WORLD))
        for act in (*PROPOSITIONS, *DEMONSTRATION):  # so that there is something to watch and to ask at once
            self.session.do(act)
        self.directory = folder / "studio" / self.session.name
        shutil.copytree(self.session.directory, self.directory)
        self.begin()

    def begin(self):
        self.process, self.address = start(self.folder / "studio", self.folder / "log", WORLD)
        self.context = self.browser.new_context()
        self.pages = [self.open_page() for _ in range(2)]
        self.modes = ["tab-demonstrate"] * 2
        self.tab = 0

    def open_page(self):
        page = self.context.new_page()
        page.set_default_timeout(1000 * SECONDS)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        page.goto(self.address)
        self.wait_for(page)
        return page

    def wait_for(self, page):
        page.wait_for_selector("[data-ready]", state="attached")
        page.wait_for_selector("canvas, .empty", state="attached")

    @property
    def page(self):
        return self.pages[self.tab]

    @property
    def mode(self):
        return self.modes[self.tab]

    def journal(self, directory=None):
        return list(Journal((directory or self.directory) / JOURNAL).read())

    def act(self, document):
        """Do an act to the twin, and what a judge says of it; a refused one leaves no trace there either."""
        try:
            self.session.do(document)
        except BadInputError:
            return
        if document["do"] != "history":
            self.judge()

    def judge(self):
        verdict = self.session.verdict
        if verdict is not None:
            with suppress(BadInputError):  # no proposition holds
                self.session.do({"do": "keep", "right": verdict, "by": self.session.state.judge})

    def sync(self):
        """Wait until the journal holds what the twin does."""
        expected, until = self.journal(self.session.directory), time.monotonic() + SECONDS
        while (found := self.journal()) != expected:
            if time.monotonic() > until:
                at = next((i for i, pair in enumerate(zip(found, expected, strict=False)) if pair[0] != pair[1]), 0)
                raise AssertionError((len(found), len(expected), at, found[at - 3 : at + 3], expected[at - 3 : at + 3]))
            time.sleep(0.01)
        for page in self.pages:
            page.wait_for_selector(".progress.idle", state="attached")

    def check(self):
        assert [text for text in self.errors if not text.startswith(HARMLESS)] == []
        for page, mode in zip(self.pages, self.modes, strict=True):
            assert page.get_attribute("[role=tab][aria-selected=true]", "id") == mode

    def step(self):
        """One action of a person."""
        kinds = {
            self.press_control: 60, self.press_other: 12, self.change_history: 14, self.change_mode: 6, self.click: 3,
            self.answer: 2, self.correct: 0.5, self.reject: 0.4, self.switch: 2, self.reload: 0.5, self.kill: 0.3,
            self.rename: 0.5, self.invent: 0.8, self.propose: 0.4, self.play: 2, self.press_job: 0.8,
            self.download: 0.3, self.delete: 0.3,
        }  # fmt: skip
        action = self.rng.choices(list(kinds), list(kinds.values()))[0]
        self.did[action.__name__] += 1
        action()

    def press_control(self):
        key = self.rng.choice(list(CONTROLS)[:3] * 3 + list(CONTROLS)[3:])
        if self.mode != "tab-demonstrate" and key in ("p", "d", " "):
            return
        self.page.keyboard.press(key)
        if self.mode == "tab-demonstrate":
            self.act({"do": "control", "control": CONTROLS[key]})

    def press_other(self):
        if self.mode != "tab-demonstrate":
            return
        key = self.rng.choice(["n", "r", "Enter", "Enter", "x"])
        self.sync()  # a page that has not yet seen a step does not send what needs one
        self.page.wait_for_selector(
            f"canvas[data-drawn='{self.session.state.seed}/{len(self.session.state.controls)}']"
        )
        self.page.keyboard.press(key)
        if key == "n":
            self.act({"do": "scene", "seed": self.session.state.next_seed})
        elif self.session.state.controls:
            self.act({"do": "reset"} if key == "r" else {"do": "keep", "right": key == "Enter", "by": "person"})

    def change_history(self):
        history = self.session.history
        for _ in range(self.rng.choice([1, 1, 2, 5, 30])):
            key, at = self.rng.choice([("u", history.undone), ("u", history.undone), ("Shift+U", history.redone)])
            self.page.keyboard.press(key)
            if at is not None:
                self.act({"do": "history", "at": at})

    def change_mode(self):
        key = self.rng.choice(["1", "1", "2", "3"])
        self.page.keyboard.press(key)
        now = self.page.get_attribute("[role=tab][aria-selected=true]", "id")
        assert now in (self.mode, MODES[key])
        assert key != "1" or now == MODES[key]
        self.modes[self.tab] = now

    def click(self):
        """A button that is an act: a judge, a removal, or an answer that is withdrawn."""
        self.sync()
        buttons = self.page.locator(".choose-judge button, section .rows button").all()
        button = self.rng.choice(buttons)
        name = button.get_attribute("aria-label") or button.inner_text()
        number = int(name.split()[-1]) - 1 if name.split()[-1].isdigit() else None
        documents = {
            "The environment": {"do": "judge", "by": "environment"},
            "I do": {"do": "judge", "by": "person"},
            "Remove demonstration": {"do": "drop", "demonstration": number},
            "Withdraw answer": {"do": "unanswer", "answer": number},
            "Withdraw:": {"do": "withdraw", "correction": self.correction(name)},
            "Remove goal": {"do": "forget", "name": "goal"},
            "Remove corner": {"do": "forget", "name": "corner"},
            "Remove lamp": {"do": "forget", "name": "lamp"},
        }
        document = next(one for start, one in documents.items() if name.startswith(start))
        try:
            button.click(timeout=20_000)
        except sync_api.TimeoutError:  # the row went meanwhile, by an act before this one
            return
        self.act(document)
        if document["do"] == "forget" and document["name"] != "lamp":  # or soon there would be none
            self.sync()
            self.page.keyboard.press("u")
            self.act({"do": "history", "at": self.session.history.undone})

    def correction(self, name):
        sentences = [one.parsed.sentence for one in self.session.state.corrections]
        return next((i for i, one in enumerate(sentences) if name == f"Withdraw: {one}"), None)

    def answer(self):
        self.sync()
        if not self.page.locator("#tab-answer").is_enabled():
            return
        self.page.keyboard.press("3")
        self.modes[self.tab] = "tab-answer"
        with suppress(sync_api.TimeoutError):  # there may be nothing left to ask
            self.page.wait_for_selector(".question", timeout=5_000)
            asked, key = self.page.evaluate("window.studio.feeds.answer.question"), self.rng.choice("yns")
            if asked is None:  # it has been taken back meanwhile
                return
            self.page.keyboard.press(key)
            path = {name: asked[name] for name in ("seed", "controls", "effects")}
            self.act({"do": "answer", **path, "right": {"y": True, "n": False, "s": None}[key]})
            self.did["answered"] += 1

    def correct(self):
        self.sync()
        form = self.page.locator("section[aria-labelledby=correct] form")
        if form.locator("button").is_enabled() and form.locator("option", has_text="corner").count():
            form.locator("select").nth(1).select_option("corner")
            form.locator("select").nth(2).select_option(self.rng.choice(["law", "law", "evidence"]))
            self.try_out(form.locator("button"), "correct")

    def reject(self):
        self.sync()
        buttons = self.page.locator(".edges button").all()
        if buttons:
            self.try_out(self.rng.choice(buttons), "correct")

    def try_out(self, button, kind):
        """Press a button whose act a job decides on: do to the twin what the journal says."""
        self.page.evaluate("document.querySelector('.toast button')?.click()")
        self.page.wait_for_selector(".toast p", state="detached")
        try:
            button.click(timeout=3_000)
        except sync_api.TimeoutError:  # what was learned meanwhile took the button away
            return
        known, until = len(self.journal(self.session.directory)), time.monotonic() + SECONDS
        while len(self.journal()) == known and not self.page.locator(".toast p").count():  # done, or why not
            assert time.monotonic() < until, kind
        for document in self.journal()[known:]:
            assert document["do"] == kind
            self.session.do(document)

    def rename(self):
        self.sync()
        name = self.rng.choice(["one", "two", "my-empty-5x5"])
        self.page.locator("h1 button").click()
        self.page.locator(".renaming input").fill(name)
        self.page.keyboard.press("Enter")
        if name != self.session.state.title:
            self.act({"do": "name", "name": name})

    def invent(self):
        """Choose a cell by its keys, unless the person thinks better of it."""
        self.sync()
        if self.mode != "tab-demonstrate" or "lamp" in self.session.state.spec.propositions:
            return
        self.page.locator("section[aria-labelledby=propositions] input").fill("lamp")
        self.page.keyboard.press("Enter")
        self.page.wait_for_selector(".pick:has-text('for lamp')")
        self.page.keyboard.press("ArrowRight")
        if self.rng.random() < 0.3:
            self.page.keyboard.press("Escape")
        else:
            self.page.keyboard.press("Enter")
            self.act({"do": "proposition", "name": "lamp", "is": {"is": "at", "x": 2, "y": 1}})
            self.page.keyboard.press("Escape")  # from the form, back to the scene
        self.page.wait_for_selector(".pick", state="detached")

    def propose(self):
        if self.mode == "tab-demonstrate":
            self.sync()
            if self.page.locator("button:has-text('Most telling scene')").count():
                self.try_out(self.page.locator("button:has-text('Most telling scene')"), "scene")

    def play(self):
        """Keys and buttons of watching and answering, which are no acts."""
        if self.mode == "tab-demonstrate":
            return
        keys = ["ArrowLeft", "ArrowRight", "Home", "End", " "]
        keys += ["n", "d", "Escape"] if self.mode == "tab-watch" else []
        for key in self.rng.choices(keys, k=5):
            self.page.keyboard.press(key)
        self.page.keyboard.press("Escape")  # no path is drawn any more

    def press_job(self):
        """Start a job, and perhaps stop it."""
        self.sync()
        buttons = self.page.locator(
            "button:has-text('Try ten new scenes'), button:has-text('Map:'), .trials button, button:has-text('Update')"
        ).all()
        if buttons:
            button = self.rng.choice(buttons)
            if "Watch it" in (button.get_attribute("aria-label") or ""):
                self.modes[self.tab] = "tab-watch"
            button.click()
            if self.rng.random() < 0.5:
                self.page.keyboard.press("Escape")

    def download(self):
        self.sync()
        link = self.rng.choice(self.page.locator(".downloads a").all())
        assert self.context.request.get(self.page.evaluate("(one) => one.href", link.element_handle())).ok

    def delete(self):
        """What is pressed meanwhile is refused, and nothing is lost."""
        self.sync()
        post = "(what) => fetch(`../${what}`, { method: 'POST' }).then((one) => one.status)"
        assert self.page.evaluate(post, f"delete/{self.session.name}") == 200
        if self.mode == "tab-demonstrate":
            self.page.keyboard.press("n")
            self.page.wait_for_selector(".toast p:has-text('was deleted')")
        assert not self.directory.exists()
        assert self.page.evaluate(post, f"restore/{self.session.name}") == 200

    def switch(self):
        self.sync()  # between two connections there is no order
        self.tab = 1 - self.tab

    def reload(self):
        self.sync()
        self.page.reload()
        self.wait_for(self.page)

    def kill(self):
        """What was pressed last may not have arrived; what has arrived is a beginning of it."""
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.context.close()
        expected, found = self.journal(self.session.directory), self.journal()
        assert found == expected[: len(found)]
        assert len(found) >= len(expected) - 100
        shutil.copy(self.directory / JOURNAL, self.session.directory / JOURNAL)
        self.session = Session(self.session.directory)
        self.begin()
        self.judge()


@pytest.mark.slow
def test_a_random_walk_loses_nothing(browser, tmp_path):
    pytest.importorskip("nicegui")
    walk = Walk(browser, tmp_path, seed=int(os.environ.get("WFAIRL_WALK_SEED", "0")))
    try:
        check_walk(walk, tmp_path)
    finally:
        walk.process.kill()


def check_walk(walk, tmp_path):
    started = time.monotonic()
    for number in range(int(os.environ.get("WFAIRL_WALK", "300"))):
        walk.step()
        if number % 25 == 0:
            walk.check()
        if number % 500 == 499:
            print(number + 1, f"{time.monotonic() - started:.0f} s", dict(walk.did), flush=True)
    walk.sync()
    walk.check()
    os.kill(walk.process.pid, signal.SIGTERM)
    walk.process.wait()
    walk.context.close()

    session = Session(walk.directory)
    assert session.state == walk.session.state
    controller = send(SessionController(session, InlineRunner()), {"do": "ready"})
    names = (DEMONSTRATIONS, TASK_MODEL, session.task_file)
    state = session.state
    before = {name: path.read_bytes() for name in names if (path := session.directory / name).exists()}
    send(controller, {"do": "history", "at": 1})
    assert session.state == Session(tmp_path / "new", find_task_spec(WORLD)).state
    assert not (session.directory / DEMONSTRATIONS).exists()
    while session.history.redone is not None:
        session.do({"do": "history", "at": session.history.redone})
    while session.history.at > 1 and session.state != state:  # what was undone at the end of the walk
        session.do({"do": "history", "at": session.history.undone})
    send(controller, {"do": "learn"})
    after = {name: path.read_bytes() for name in names if (path := session.directory / name).exists()}
    assert after == before
