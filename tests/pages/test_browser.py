"""The page in a real browser: it runs, needs no network, can be used without a mouse, and fits a phone."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from corridors import Corridor, corridor_task
from oracles_report import unpack

from wfairl.core.automata.finite import FiniteAutomaton
from wfairl.core.demonstrations.learners import find_learner
from wfairl.core.planning import PlannedPolicy, RandomPolicy, expert_policy
from wfairl.core.planning.cost import unit_cost
from wfairl.pages.blocks import prose
from wfairl.pages.captioned_figure import CaptionedFigure
from wfairl.pages.page import Page, Section, write_page
from wfairl.pages.player import EpisodePlayer, record_episode
from wfairl.runs.collection import collect
from wfairl.runs.task_registry import find_task

PHONE = {"width": 360, "height": 740}

KEY_STATE = """() => ({
  count: document.querySelector('[data-part="count"]').textContent,
  slider: Number(document.querySelector('[data-part="slider"]').value),
  here: [...document.querySelectorAll('[data-automaton]:not([hidden]) .here')].map((one) => Number(one.dataset.state)),
  edge: [...document.querySelectorAll('[data-automaton]:not([hidden]) g.just-taken')].map(
    (one) => [Number(one.dataset.source), Number(one.dataset.target)]),
  word: [...document.querySelectorAll('[data-part="word"] li')].map((one) => one.textContent),
  taken: [...document.querySelectorAll('[data-part="bars"] .taken .name')].map((one) => one.textContent),
  bars: [...document.querySelectorAll('[data-part="bars"] rect.value')].map((one) => one.getAttribute("width")),
  status: document.querySelector('[data-part="status"]').textContent,
})"""


@pytest.fixture
def report(finished_run):
    return finished_run / "report.html"


def episode_of(page, policy, seed):
    data = unpack(page.text_content("[data-player] script"))
    return next(one for one in data["episodes"] if (one["policy"], one["seed"]) == (policy, seed))


def test_keys_step_through_an_episode_and_the_page_follows(opened, report):
    page = opened(report, reduced_motion="reduce")
    episode = episode_of(page, "learned, greedy", 5000)
    moments = episode["moments"]
    last = len(moments) - 1
    page.focus(".view")
    for moment in range(last + 1):
        state = page.evaluate(KEY_STATE)
        now = moments[moment]
        assert (state["count"], state["slider"]) == (f"{moment} / {last}", moment)
        assert state["here"] == [now["state"]]
        before = moments[moment - 1]["state"] if moment else now["state"]
        assert state["edge"] == ([] if before == now["state"] else [[before, now["state"]]])
        assert state["word"] == episode["word"][: now["read"]]
        assert state["taken"] == ([] if now["control"] is None else [episode["control_names"][now["control"]]])
        shown = [float(width.rstrip("%")) / 100 for width in state["bars"]]
        assert shown == pytest.approx(now["probabilities"] or [0] * len(shown))
        page.keyboard.press("ArrowRight")
    assert "The task is done" in state["status"]
    for key, moment in (("ArrowLeft", last - 1), ("Home", 0), ("ArrowLeft", 0), ("End", last), ("ArrowRight", last)):
        page.keyboard.press(key)
        assert page.evaluate(KEY_STATE)["slider"] == moment


def test_the_frame_on_the_screen_changes_with_the_steps(opened, report):
    page = opened(report)
    pixels = "() => document.querySelector('canvas').toDataURL()"
    page.focus(".view")
    first = page.evaluate(pixels)
    page.keyboard.press("End")
    assert page.evaluate(pixels) != first
    page.keyboard.press("Home")
    assert page.evaluate(pixels) == first


def test_buttons_slider_and_playing(opened, report):
    page = opened(report)
    page.get_by_role("button", name="Step forward").click()
    assert page.evaluate(KEY_STATE)["slider"] == 1
    page.get_by_role("slider", name="Step").fill("3")
    assert page.evaluate(KEY_STATE)["count"].startswith("3 / ")
    page.get_by_role("slider", name="Step").press("ArrowRight")
    assert page.evaluate(KEY_STATE)["slider"] == 4
    page.get_by_label("Policy").select_option("random")  # 75 steps: it plays longer than the test looks
    page.get_by_role("button", name="First step").click()
    page.focus(".view")
    page.keyboard.press("Space")
    page.get_by_role("button", name="Pause").wait_for()
    page.locator('[data-part="count"]', has_text=re.compile(r"^([2-9]|\d\d) /")).wait_for()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Play").wait_for()
    page.get_by_role("button", name="Last step").click()
    assert page.evaluate(KEY_STATE)["taken"] == []


def test_another_policy_is_shown_in_the_same_scene(opened, report):
    page = opened(report)
    page.get_by_label("Scene").select_option("5001")
    page.get_by_label("Policy").select_option("random")
    assert page.get_by_label("Scene").input_value() == "5001"
    assert page.locator('[data-part="count"]').text_content() == "0 / 75"
    assert page.locator('[data-part="automata"]').is_hidden()
    assert "out of time after 75 steps" in page.locator('[data-part="outcome"]').text_content()
    page.get_by_label("Policy").select_option("optimal")
    assert page.evaluate(KEY_STATE)["here"] == [0]
    assert page.locator("[data-automaton]:visible").count() == 1


def test_a_link_leads_to_its_scene_step_and_policy(opened, report):
    page = opened(report)
    page.get_by_label("Policy").select_option("expert")
    page.get_by_label("Scene").select_option("5002")
    page.get_by_role("slider", name="Step").fill("3")
    address = page.get_by_role("link", name="Link to this step").evaluate("(one) => one.href")
    shown = page.evaluate(KEY_STATE)
    again = opened(report)
    again.goto(address)
    again.wait_for_function("document.querySelector('[data-part=\"slider\"]').value === '3'")
    assert again.evaluate(KEY_STATE) == shown
    assert again.get_by_label("Policy").input_value() == "expert"
    assert again.get_by_label("Scene").input_value() == "5002"
    again.evaluate("location.hash = '#scene=5001&step=2'")
    again.wait_for_function("document.querySelector('[data-part=\"scene\"]').value === '5001'")
    assert again.evaluate(KEY_STATE)["slider"] == 2
    assert again.get_by_label("Policy").input_value() == "expert"
    again.evaluate("location.hash = '#scene=77&step=1'")  # which is not here
    assert again.get_by_label("Scene").input_value() == "5001"


IN_VIEW = """() => {
  const state = document.querySelector("[data-automaton]:not([hidden]) .here circle").getBoundingClientRect();
  const box = document.querySelector("[data-automaton]:not([hidden]) .scroll").getBoundingClientRect();
  return {
    inBox: state.left >= box.left && state.right <= box.right && state.top >= box.top && state.bottom <= box.bottom,
    onScreen: state.left >= 0 && state.right <= innerWidth && state.top >= 0 && state.bottom <= innerHeight,
  };
}"""


@pytest.mark.parametrize("task", ["doorkey", "multiroom"])
def test_the_active_state_stays_in_view_on_a_phone(opened, tmp_path, task):
    found = find_task(task)
    dataset = collect(found, 8, 8, 0.5, 0)
    automaton = find_learner("spectral").learn(dataset, found).finite
    policy = PlannedPolicy("learned", automaton, unit_cost, 0.0)
    recording = record_episode(found, policy, 5000, np.random.default_rng(0))
    write_page(Page(task, "", (Section("one", (EpisodePlayer((recording,)),)),)), tmp_path / "page.html")
    page = opened(tmp_path / "page.html", viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    scroll = page.evaluate("(([box]) => [box.scrollWidth, box.clientWidth])(document.querySelectorAll('.scroll'))")
    assert scroll[0] > scroll[1], "the automaton fits the screen, so that this test shows nothing"
    page.evaluate("document.querySelector('.player').scrollIntoView()")
    states = set()
    for _ in recording.automaton_states:
        assert page.evaluate(IN_VIEW) == {"inBox": True, "onScreen": True}
        states |= set(page.evaluate(KEY_STATE)["here"])
        page.get_by_role("button", name="Step forward").click()
    assert states == set(recording.automaton_states)


def test_everything_can_be_reached_with_the_tab_key(opened, report):
    page = opened(report)
    page.focus('[data-part="policy"]')
    names = []
    for _ in range(9):
        page.keyboard.press("Tab")
        names.append(page.evaluate("document.activeElement.ariaLabel || document.activeElement.dataset.part"))
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", f"nothing shows that {names[-1]} has the focus"
    assert names[0] == "scene"
    assert names[2:8] == ["First step", "Step back", "Play", "Step forward", "Last step", "Step"]


@pytest.mark.parametrize("width", [360, 768, 1200])
def test_the_page_itself_never_scrolls_sideways(opened, report, width):
    page = opened(report, viewport={**PHONE, "width": width}, device_scale_factor=2)
    page.focus(".view")
    page.keyboard.press("End")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    beyond = page.evaluate(
        """() => [...document.querySelectorAll('main *')].filter((one) => !one.closest('.scroll, pre, svg')
             && one.getBoundingClientRect().right > innerWidth + 0.5).map((one) => one.outerHTML.slice(0, 80))"""
    )
    assert beyond == []


def contrast(one, other):
    def luminance(colour):
        channels = np.array([int(part) for part in colour[4:-1].split(",")]) / 255
        linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_both_themes(opened, report, scheme):
    page = opened(report, color_scheme=scheme)
    colour = "(where, name) => getComputedStyle(document.querySelector(where))[name]"
    paper = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    card = page.evaluate("getComputedStyle(document.querySelector('.player')).backgroundColor")
    assert (contrast(paper, "rgb(255,255,255)") > 10) == (scheme == "dark")

    def style(where, name):
        return page.evaluate(f"(([where, name]) => ({colour})(where, name))", [where, name])

    for where in ("h1", ".subtitle", "nav a", ".prose p", "th", "figcaption", ".kind"):
        assert contrast(style(where, "color"), paper) > 4.5, where
    for where in (".bars .number", ".status", ".taken-mark"):
        assert contrast(style(where, "color"), card) > 4.5, where
    assert contrast(style(".automaton text.label", "fill"), card) > 4.5
    assert contrast(style(".automaton .state text", "fill"), style(".automaton .state circle", "fill")) > 4.5
    assert contrast(style(".automaton .line", "stroke"), card) > 3


def test_the_numbers_on_the_screen_are_those_of_the_files(opened, report, finished_run):
    page = opened(report)
    rows = page.evaluate(
        """() => [...document.querySelector('#result table').tBodies[0].rows].map((row) => [row.cells[0].innerText,
             ...[...row.querySelectorAll('data')].map((one) => [Number(one.value), one.innerText])])"""
    )
    evaluations = json.loads((finished_run / "evaluation.json").read_text())["policies"]
    assert [row[0].partition(" (")[0] for row in rows] == list(evaluations)
    for row, evaluation in zip(rows, evaluations.values(), strict=True):
        for (value, text), name in zip(row[1:3], ("mean_return", "standard_error"), strict=True):
            assert value == evaluation[name]
            assert text == f"{evaluation[name]:.3f}"


def test_names_cannot_run_and_pictures_are_shown(opened, tmp_path):
    from matplotlib.figure import Figure as MatplotlibFigure

    nasty = "</script><img src=x onerror=alert(1)>"
    task = find_task("doorkey")
    recording = record_episode(task, RandomPolicy(nasty), 5000, np.random.default_rng(0))
    label = frozenset({nasty})
    automaton = FiniteAutomaton(
        (label,), np.array([[1], [1]], np.int32), np.array([False, True]), np.array([0.0, 1.0]), (None, label)
    )
    steps = recording.episode.steps
    recording = replace(
        recording,
        trajectory=replace(recording.trajectory, labels=(label,) * steps),
        automaton=automaton,
    )
    drawn = MatplotlibFigure()
    drawn.add_subplot().plot([1, 2])

    class BadFigure(CaptionedFigure):
        def to_svg(self, text="path"):
            return b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(3)</script></svg>'

    blocks = (
        EpisodePlayer((recording,)),
        CaptionedFigure("name", drawn, nasty, nasty),
        BadFigure("bad", drawn, nasty, "bad"),
        prose(nasty),
    )
    write_page(Page(nasty, nasty, (Section(nasty, blocks),), nasty, nasty), tmp_path / "nasty.html")
    page = opened(tmp_path / "nasty.html")
    assert page.locator("h1").text_content() == page.title() == nasty
    page.focus(".view")
    page.keyboard.press("ArrowRight")
    assert page.evaluate(KEY_STATE)["here"] == [1]
    assert nasty in page.evaluate(KEY_STATE)["status"]
    assert page.locator("img[src=x]").count() == 0
    assert page.evaluate("[...document.images].map((one) => one.naturalWidth > 0)") == [True, True]


def test_scripts_that_are_not_the_pages_own_are_stopped(browser, report, tmp_path):
    html = report.read_text().replace("</main>", "<script>document.title = 'owned'</script></main>")
    (tmp_path / "changed.html").write_text(html)
    page = browser.new_page()
    messages = []
    page.on("console", lambda message: messages.append(message.text))
    page.goto((tmp_path / "changed.html").as_uri())
    with page.expect_console_message(lambda message: "example.invalid" in message.text):
        page.evaluate("fetch('https://example.invalid/').catch(() => 0)")
    assert page.title() == "doorkey"
    assert sum("Content Security Policy" in message for message in messages) >= 2
    page.close()


def test_printing_leaves_out_what_paper_cannot_do(opened, report):
    page = opened(report, color_scheme="dark")
    page.emulate_media(media="print")
    assert page.locator(".transport").is_hidden()
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"


def test_two_players_on_a_page_do_not_meet(opened, tmp_path):
    task = find_task("doorkey")
    recordings = [record_episode(task, RandomPolicy(), seed, np.random.default_rng(0)) for seed in (5000, 5001)]
    players = tuple(Section(str(i), (EpisodePlayer((one,)),)) for i, one in enumerate(recordings))
    write_page(Page("two", "", players), tmp_path / "two.html")
    page = opened(tmp_path / "two.html")
    page.wait_for_function("document.querySelectorAll('[data-ready]').length == 2")
    page.locator(".view").nth(1).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    counts = page.locator('[data-part="count"]').all_text_contents()
    assert [count.split(" / ")[0] for count in counts] == ["0", "2"]


def test_a_world_without_a_renderer_is_stepped_through_as_text(opened, tmp_path):
    nasty = ("<script>", "<b onclick=alert(1)>home</b>")
    task = corridor_task(Corridor, propositions=nasty)
    recording = record_episode(task, expert_policy(task, 0.0), 5000, np.random.default_rng(0))
    write_page(Page("text", "", (Section("one", (EpisodePlayer((recording,)),)),)), tmp_path / "text.html")
    page = opened(tmp_path / "text.html", viewport=PHONE)
    assert page.locator('[data-part="state"]').text_content() == "(2, False)"
    page.focus(".view")
    page.keyboard.press("ArrowRight")
    assert page.locator('[data-part="state"]').text_content() == "(3, False)"
    page.keyboard.press("End")
    assert page.evaluate(KEY_STATE)["word"][-1] == " & ".join(sorted(nasty))
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
