"""The studio in a real browser, by key presses alone: demonstrate, watch, answer, correct, reload."""

import re
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
from studio_sessions import CORNER, FOUR_ROOMS, GOAL, demonstrate_errand, errand_plan

from wfairl.runs.data_sets import load
from wfairl.runs.task_registry import find_task
from wfairl.studio.jobs import learn
from wfairl.studio.session import Session
from wfairl.studio.task_spec import find_task_spec

KEYS = ("ArrowLeft", "ArrowRight", "ArrowUp", "p", "d", " ")
"""Of MiniGrid's controls."""

FORM = "section[aria-labelledby=propositions] form"
CORRECT = "section[aria-labelledby=correct] form"

CONTRASTS = """() => {
  const luminance = (colour) => {
    const linear = (one) => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4;
    const parts = colour.map((one) => linear(one / 255));
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const read = (text) => text.match(/[\\d.]+/g).map(Number);
  const paper = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const colour = read(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] === 1) return colour.slice(0, 3);
    }
    return read(getComputedStyle(document.documentElement).backgroundColor).slice(0, 3);
  };
  const found = [];
  for (const one of document.querySelectorAll("body *")) {
    const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    const exempt = "button:disabled, svg, script, style, .nicegui-error-popup, option, .skip";
    if (!own || !one.checkVisibility() || one.closest(exempt)) continue;
    const [ink, back] = [luminance(read(getComputedStyle(one).color)), luminance(paper(one))];
    const ratio = (Math.max(ink, back) + 0.05) / (Math.min(ink, back) + 0.05);
    if (ratio < 4.5) found.push([one.outerHTML.slice(0, 90), ratio.toFixed(2)]);
  }
  for (const one of document.querySelectorAll(".automaton text.label")) {
    const [ink, back] = [luminance(read(getComputedStyle(one).fill)), luminance(paper(one.closest(".card")))];
    if ((Math.max(ink, back) + 0.05) / (Math.min(ink, back) + 0.05) < 4.5) found.push([one.textContent, "label"]);
  }
  return found;
}"""


class Person:
    """A person who uses only the keyboard."""

    def __init__(self, page):
        self.page = page

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def tab_to(self, selector, key="Tab"):
        for _ in range(120):
            if self.page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
                return
            self.press(key)
        raise AssertionError(f"the tab key never comes to {selector}")

    def choose(self, text):
        """In the list that has the focus; not by typing, since a list forgets what was typed a second ago."""
        for _ in range(60):
            if self.page.evaluate("document.activeElement.selectedOptions[0].text").startswith(text):
                return
            self.press("ArrowDown")
        raise AssertionError(f"there is no {text} in the list")

    def to_scene(self):
        self.tab_to(".view", "Shift+Tab")

    def add_propositions(self):
        """Corner by choosing the cell, goal from the menu."""
        self.tab_to(f"{FORM} input")
        self.page.keyboard.type("corner")
        self.tab_to(f"{FORM} button")
        self.press("Enter")
        self.page.wait_for_selector(".picking")
        self.press("ArrowRight", "ArrowDown", "ArrowUp", "ArrowLeft", "Enter")
        self.page.wait_for_selector("text=on cell 1, 1")
        self.page.keyboard.type("goal")  # the next one: nobody leads the focus back to the form
        self.tab_to(f"{FORM} select")
        self.choose("on goal")
        self.tab_to(f"{FORM} button")
        self.press("Enter")
        self.page.wait_for_selector(".rows li:has-text('goal'):has-text('on goal')")
        assert self.page.evaluate("document.activeElement.matches('section[aria-labelledby=propositions] input')")
        self.to_scene()

    @property
    def scene(self):
        return int(re.search(r"Scene (\d+)", self.page.inner_text(".scene-line"))[1])

    def demonstrate(self, number):
        seed = self.scene
        plan = errand_plan(seed)
        for control in plan:
            self.press(KEYS[control])
        self.page.wait_for_selector(f"canvas[data-drawn='{seed}/{len(plan)}']")
        self.press("Enter")
        self.page.wait_for_selector(f".rows li:has-text('#{number}')")
        self.page.wait_for_selector(".progress.idle", state="attached")

    def states(self):
        return self.page.locator(".automaton .state").count()


def check_looks(page, width):
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.evaluate(CONTRASTS) == []


def test_keys_that_are_pressed_while_the_page_connects_arrive_in_their_order(visited, studio):
    page = visited("/begin/errand")
    page.wait_for_selector("canvas[data-drawn]")
    page.wait_for_function("window.did_handshake && window.socket.connected")
    page.evaluate("window.did_handshake = false")
    page.keyboard.press("ArrowLeft")
    page.evaluate("""() => {
      window.did_handshake = true;
      document.querySelector(".view").dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowUp", bubbles: true }));
    }""")
    page.wait_for_selector("canvas[data-drawn$='/2']")
    assert Session(studio[1] / page.url.rsplit("/", 1)[1]).state.controls == (0, 2)


def test_two_demonstrations_are_enough_and_a_reload_loses_nothing(visited, studio):
    page = visited(f"/begin/{FOUR_ROOMS}", viewport={"width": 1200, "height": 900})
    person = Person(page)
    person.add_propositions()
    person.demonstrate(1)
    person.demonstrate(2)
    assert page.inner_text(".sentence") == "corner, then goal"
    assert person.states() == 3
    person.press("2")
    page.wait_for_selector(".outcome:has-text('done in')")
    person.press("End")
    assert page.inner_text(".transport output").split(" / ")[0] == str(len(errand_plan(person.scene)))
    assert page.locator(".automaton .here").get_attribute("data-state") == "2"
    check_looks(page, 1200)
    draw_another_path(page, person)
    page.reload()
    page.wait_for_selector("[data-ready]", state="attached")
    assert page.inner_text(".sentence") == "corner, then goal"
    assert page.locator("section[aria-labelledby=demonstrations] .rows li").count() == 2
    name = urlsplit(page.url).path.split("/")[-1]
    assert len(load(studio[1] / name / "demos.safetensors")) == 2


def draw_another_path(page, person):
    """With keys, then with the pointer: there and back again cannot be cheaper than the agent's own path."""
    person.press("Home", "d", "ArrowLeft", "ArrowLeft", "ArrowRight", "ArrowRight", "Enter")
    page.wait_for_selector(".why:has-text('Your path costs')")
    assert int(page.inner_text(".transport output").split(" / ")[0]) >= 4
    page.click("text=Back to the agent's plan")
    page.wait_for_selector("text=Back to the agent's plan", state="detached")
    person.press("End")
    last = int(page.inner_text(".transport output").split(" / ")[0])
    person.press("Home")
    page.click("text=Draw another path")
    box = page.locator("canvas").bounding_box()
    cell = box["width"] / 19
    page.mouse.move(box["x"] + 1.5 * cell, box["y"] + 17.5 * cell)
    page.mouse.down()
    page.mouse.move(box["x"] + 17.5 * cell, box["y"] + 17.5 * cell)
    page.mouse.up()
    page.wait_for_selector(".why:has-text('more than the agent')")
    assert int(page.inner_text(".transport output").split(" / ")[1]) > last


@pytest.mark.slow
@pytest.mark.parametrize("width", [1200, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_works_by_key_presses_alone(visited, studio, width, scheme):
    page = visited(f"/begin/{FOUR_ROOMS}", viewport={"width": width, "height": 844}, color_scheme=scheme)
    person = Person(page)
    check_looks(page, width)
    person.add_propositions()
    for number in (1, 2, 3):
        person.demonstrate(number)
    assert person.states() == 3
    check_looks(page, width)

    person.tab_to(".understanding .actions button")  # the agent succeeds in the next ten scenes
    person.press("Enter")
    page.wait_for_selector("text=10 of 10 succeeded")
    trials = page.eval_on_selector_all(".trials button", "(all) => all.map((one) => one.ariaLabel)")
    seeds = [int(re.search(r"\d+", one)[0]) for one in trials]
    steps = [int(re.search(r"in (\d+) steps", one)[1]) for one in trials]
    assert steps == [len(errand_plan(seed)) for seed in seeds]

    person.to_scene()  # its reasons, and what another control would cost
    person.press("2")
    page.wait_for_selector(".choices")
    person.press("ArrowRight", "ArrowRight")
    person.tab_to(".choices button:not(.taken)")
    person.press("Enter")
    page.wait_for_selector(".why:has-text('Why not')")
    check_looks(page, width)
    person.tab_to(".why button")
    person.press("Enter")
    page.wait_for_selector("text=Back to the agent's plan")

    person.to_scene()  # one question
    person.press("3")
    page.wait_for_selector(".question")
    check_looks(page, width)
    person.press("End")
    word = page.locator("ol.word").first.locator("li").all_inner_texts()
    right = find_task("errand").rule.accepts([frozenset({one} - {"nothing"}) for one in word])
    person.press("y" if right else "n")
    page.wait_for_selector("[aria-labelledby=answers] li")
    page.wait_for_selector(".progress.idle", state="attached")

    person.tab_to(f"{CORRECT} select")  # a correction
    person.choose("in this order")
    person.press("Tab")
    person.choose("corner")
    person.press("Tab")
    person.choose("goal")
    person.tab_to(f"{CORRECT} button")
    person.press("Enter")
    page.wait_for_selector("section[aria-labelledby=correct] li:has-text('corner before goal')")
    page.wait_for_selector(".progress.idle", state="attached")
    assert page.inner_text(".sentence") == "goal; never goal before corner"
    assert person.states() == 3
    check_looks(page, width)

    page.reload()  # everything is still there
    page.wait_for_selector("[data-ready]", state="attached")
    assert page.inner_text(".sentence") == "goal; never goal before corner"
    assert page.locator("section[aria-labelledby=demonstrations] li:has-text('#')").count() == 3
    assert page.locator("[aria-labelledby=answers] li").count() == 1
    assert page.locator("section[aria-labelledby=correct] li").inner_text().startswith("corner before goal")
    session = Session(studio[1] / urlsplit(page.url).path.split("/")[-1])
    assert (len(session.state.demonstrations), len(session.state.answers), len(session.state.corrections)) == (3, 1, 1)


def test_labels_that_look_like_code_are_text_everywhere(visited, studio):
    nasty, worse = "<script>alert(1)</script>", "<img src=x onerror=alert(2)>"
    session = Session(studio[1] / "nasty-1", find_task_spec(FOUR_ROOMS))
    session.do({**CORNER, "name": nasty})
    session.do({**GOAL, "name": worse})
    demonstrate_errand(session)
    demonstrate_errand(session)
    session.save_model(learn(session.state.spec, session.dataset, ())[0])
    page = visited("/session/nasty-1")
    assert page.inner_text(".sentence") == f'"{nasty}", then "{worse}"'  # names that are no words are quoted
    assert nasty in page.text_content(".automaton svg")
    page.keyboard.press("2")
    page.wait_for_selector(".reason")
    assert nasty in page.inner_text(".reason")
    page.keyboard.press("3")
    page.wait_for_selector(".question")
    assert nasty in page.inner_text("ol.word")
    assert page.locator("img[src=x]").count() == 0
    files = page.url.replace("/session/", "/download/")
    answer = page.context.request.get(f"{files}/report.html", timeout=120_000)
    assert nasty not in answer.text()
    assert "&lt;script&gt;alert(1)" in answer.text()
    for file in ("task.svg", "task.hoa", "task.dot", "task.ltlf", "repeat.py", "task.json"):
        answer = page.context.request.get(f"{files}/{file}")
        assert answer.ok, file
        assert answer.headers["content-disposition"].startswith("attachment")  # no browser opens it here
        assert answer.headers["x-content-type-options"] == "nosniff"
    drawn = ElementTree.fromstring(page.context.request.get(f"{files}/task.svg").text())
    assert not any(one.tag.endswith(("script", "img")) for one in drawn.iter())


def test_everything_that_has_the_focus_shows_it(visited, studio):
    page = visited("/session/nasty-1") if (studio[1] / "nasty-1").exists() else visited(f"/begin/{FOUR_ROOMS}")
    page.wait_for_selector("canvas[data-drawn]")
    page.wait_for_selector(".progress.idle", state="attached")
    seen = []
    for _ in range(60):
        page.keyboard.press("Tab")
        where = page.evaluate("document.activeElement.outerHTML.slice(0, 60)")
        if where.startswith("<body"):
            break
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none", where
        assert page.evaluate(
            "(document.activeElement.ariaLabel || document.activeElement.innerText "
            "|| document.activeElement.labels?.[0]?.innerText || '').trim().length > 0"
        ), f"no name: {where}"
        seen.append(where)
    assert len(seen) >= 10
