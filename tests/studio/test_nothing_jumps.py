"""In a real browser: the mode is the person's, keys do what the visible mode says, and the page tells the truth."""

import os
import re
import signal
from pathlib import Path

import pytest
from studio_sessions import CORNER, FOUR_ROOMS, GOAL, demonstrate_errand
from test_kill import start

from wfairl.studio.session import Session
from wfairl.studio.task_spec import find_task_spec


@pytest.fixture
def learned(visited, studio, request):
    """The page of a session with two demonstrations, and its name."""
    name = re.sub(r"[^a-z0-9]+", "-", request.node.name)[:50].strip("-")
    session = Session(studio[1] / name, find_task_spec(FOUR_ROOMS))
    for event in (CORNER, GOAL):
        session.do(event)
    demonstrate_errand(session)
    demonstrate_errand(session)
    page = visited(f"/session/{name}", viewport={"width": 1200, "height": 900})
    page.wait_for_selector(".sentence")
    page.wait_for_selector(".progress.idle", state="attached")
    return page, studio[1] / name


def mode(page):
    return page.get_attribute("[role=tab][aria-selected=true]", "id")


def test_a_question_that_is_found_late_waits_behind_a_badge(learned):
    page, directory = learned
    page.keyboard.press("3")  # it searches
    page.keyboard.press("1")
    seed = Session(directory).state.seed
    page.keyboard.press("n")  # the next scene, and not the answer no
    page.wait_for_selector(f"canvas[data-drawn='{seed + 1}/0']")
    page.wait_for_selector("#tab-answer .badge")
    assert page.get_by_role("tab", name="Answer new").count() == 1  # no words glued together
    assert mode(page) == "tab-demonstrate"
    state = Session(directory).state
    assert (state.answers, state.seed) == ((), seed + 1)
    page.keyboard.press("3")
    page.wait_for_selector(".question")
    assert page.locator("#tab-answer .badge").count() == 0


def test_answers_are_listed_and_can_be_undone(learned):
    page, directory = learned
    page.keyboard.press("3")
    page.wait_for_selector(".question")
    asked = page.inner_text(".question")
    page.keyboard.press("s")
    page.wait_for_selector('[aria-labelledby=answers] li:has-text("don\'t know")')
    page.wait_for_function("(asked) => (window.studio.feeds.answer.question?.text ?? asked) !== asked", arg=asked)
    page.keyboard.press("u")
    page.wait_for_selector("[aria-labelledby=answers]", state="detached")
    page.keyboard.press("Shift+U")
    page.wait_for_selector("[aria-labelledby=answers] li")
    assert [one.right for one in Session(directory).state.answers] == [None]


def test_keys_do_what_the_mode_says_wherever_the_last_click_was(learned):
    page, directory = learned
    page.click("section[aria-labelledby=demonstrations] h2")
    page.click("text=The environment")  # the judge
    page.wait_for_selector("button[aria-pressed=true]:has-text('The environment')")
    order = page.locator("section[aria-labelledby=correct] select").first  # a choice by pointer
    order.dispatch_event("pointerdown")
    order.focus()
    order.select_option(label="in this order")
    scrolled, seed = page.evaluate("scrollY"), Session(directory).state.seed
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowDown")  # no control, and no scrolling either
    page.wait_for_selector(f"canvas[data-drawn='{seed}/1']")
    page.click("text=Next scene")
    page.wait_for_selector(f"canvas[data-drawn='{seed + 1}/0']")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(f"canvas[data-drawn='{seed + 1}/1']")
    assert page.evaluate("scrollY") == scrolled
    state = Session(directory).state
    assert (state.judge, state.controls) == ("environment", (1,))
    assert order.input_value() == "before"


def test_a_mode_that_is_chosen_by_key_is_seen_wherever_the_page_was_scrolled_to(learned):
    page, _ = learned
    page.focus("section[aria-labelledby=downloads] a")
    page.wait_for_function("document.querySelector('.view').getBoundingClientRect().top < 0")
    page.keyboard.press("2")
    page.wait_for_function("document.querySelector('.view').getBoundingClientRect().top >= 0")


def test_a_proposition_that_is_removed_is_not_chosen_for_a_correction_any_more(learned):
    page, _ = learned
    chosen = page.locator("section[aria-labelledby=correct] select").nth(1)
    chosen.select_option("corner")
    page.click("[aria-label='Remove corner']")
    page.wait_for_function("document.querySelectorAll('section[aria-labelledby=correct] select')[1].value === ''")
    assert chosen.evaluate("(one) => one.selectedOptions[0]?.text") == "choose"


def test_two_tabs_have_modes_of_their_own(learned):
    page, _ = learned
    other = page.context.new_page()
    other.goto(page.url)
    other.wait_for_selector("canvas[data-drawn]")
    other.keyboard.press("2")
    other.wait_for_selector(".choices")
    assert (mode(page), mode(other)) == ("tab-demonstrate", "tab-watch")
    page.wait_for_selector("#tab-watch .badge")
    other.wait_for_selector("text=Another page shows this session")  # so that one knows who changes its film
    other.reload()
    other.wait_for_selector("[data-ready]", state="attached")
    assert mode(other) == "tab-watch"  # a reload goes on where one was


def test_a_message_goes_with_its_mode_and_the_form_for_propositions_begins_anew(learned):
    page, _ = learned
    form = page.locator("section[aria-labelledby=propositions] form")
    form.locator("input").fill("end")
    form.locator("select").select_option(label="on goal")
    form.locator("button").click()
    page.wait_for_selector("li:has-text('end on goal')")
    assert (form.locator("input").input_value(), form.locator("select").input_value()) == ("", "")
    page.wait_for_selector(".toast p:has-text('Added end')")
    page.wait_for_selector("#tab-watch:enabled")  # learned again, with this proposition
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector("button:has-text('This was wrong'):enabled")
    page.keyboard.press("x")
    page.wait_for_selector(".toast p:has-text('1 step, wrong')")
    page.keyboard.press("2")
    page.wait_for_selector("#tab-watch[aria-selected=true]")
    assert page.locator(".toast p").count() == 0


def test_the_focus_stays_in_its_part_when_a_button_goes(learned):
    page, _ = learned
    is_in = "(part) => document.activeElement.closest('section.card')?.getAttribute('aria-labelledby') === part"
    page.focus("[aria-label='Remove demonstration 2']")
    page.keyboard.press("Enter")
    page.wait_for_selector("[aria-label='Remove demonstration 2']", state="detached")
    page.wait_for_function(is_in, arg="demonstrations")
    page.keyboard.press("Escape")  # leads back to the scene, and does not stop the learning
    page.wait_for_selector(".outdated", state="detached")
    page.wait_for_selector(".progress.idle", state="attached")
    page.keyboard.press("2")
    page.wait_for_selector(".choices button:not(.taken)")
    page.focus(".choices button:not(.taken)")
    page.keyboard.press("Enter")
    page.focus(".why button")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Back to the agent's plan")
    page.wait_for_selector(".view:focus")


def test_a_file_that_cannot_be_made_says_why_and_the_page_stays(learned):
    page, directory = learned
    with page.expect_download() as downloaded:
        page.click(".downloads a:has-text('task model')")
    assert downloaded.value.suggested_filename == f"{directory.name}-task.json"
    assert Path(downloaded.value.path()).read_bytes() == (directory / "task.json").read_bytes()
    (directory / "demos.safetensors").unlink()
    page.focus(".downloads a:has-text('demonstrations')")
    page.keyboard.press("Enter")
    page.wait_for_selector(".toast p:has-text('no such file')")
    assert page.url.endswith(directory.name)


def test_a_session_is_deleted_and_brought_back_by_keys(visited, studio):
    Session(studio[1] / "to-delete-1", find_task_spec(FOUR_ROOMS))
    page = visited("/")
    page.focus(".session:has(a[href$='/to-delete-1']) button")
    page.keyboard.press("Enter")
    page.wait_for_selector(".notice button:focus")
    assert not (studio[1] / "to-delete-1").exists()
    with page.expect_navigation():
        page.keyboard.press("Enter")
    page.wait_for_selector("a[href$='/to-delete-1']")
    assert (studio[1] / "to-delete-1" / "journal.jsonl").exists()


def test_sessions_are_found_by_their_names(visited, studio):
    for name in ("lost-and-found-1", "another-1"):
        Session(studio[1] / name, find_task_spec(FOUR_ROOMS))
    page = visited("/")
    page.fill("input[type=search]", "and-found")
    page.wait_for_selector("a[href$='/another-1']", state="detached")
    assert page.locator(".session a").evaluate_all("(all) => all.map((one) => one.pathname.split('/').pop())") == [
        "lost-and-found-1"
    ]
    page.fill("input[type=search]", "never made")
    page.wait_for_selector("text=No session has this in its name.")


def test_the_skip_link_leads_to_the_scene(learned):
    page, _ = learned
    page.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
    page.focus(".skip")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.matches('.view')")


def test_the_page_is_said_and_not_only_shown(learned):
    page, _ = learned
    assert page.get_attribute("html", "lang").startswith("en")
    assert page.locator("main").count() == 1
    names = page.evaluate("""() => [...document.querySelectorAll("button")].map((one) => {
      const copy = one.cloneNode(true);
      copy.querySelectorAll("[aria-hidden=true]").forEach((hidden) => hidden.remove());
      return one.ariaLabel || copy.textContent.trim();
    })""")
    assert not [name for name in names if not name or re.search(r"[a-z][0-9]$|[a-z][A-Z]$", name)]
    assert page.get_attribute("[role=tabpanel]", "aria-labelledby") == "tab-demonstrate"
    parts = page.locator("section.card").count()
    for part in (*range(1, parts), 0):  # F6 goes round
        page.keyboard.press("F6")
        assert page.evaluate(f"document.querySelectorAll('section.card')[{part}].contains(document.activeElement)")
    assert page.evaluate("document.activeElement.matches('.view')")
    before = page.inner_text(".for-readers")
    assert re.search(r"column \d+, row \d+", before)
    page.keyboard.press("ArrowUp")
    page.wait_for_selector("canvas[data-drawn$='/1']")
    page.set_viewport_size({"width": 600, "height": 450})  # 200 % of 1200 x 900
    assert page.evaluate("document.documentElement.scrollWidth") <= 600
    assert page.is_visible(".keys kbd")  # there is a keyboard, which a phone has not
    assert page.is_visible(".actions kbd")
    page.set_viewport_size({"width": 390, "height": 844})
    page.evaluate("document.querySelector('.automaton svg').style.minWidth = '900px'")  # one of many states
    assert page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.slow
def test_a_page_says_that_nothing_is_saved_while_the_server_is_dead(browser, tmp_path):
    process, address = start(tmp_path / "studio", tmp_path / "log")
    page = browser.new_page()
    page.goto(address)
    page.wait_for_selector("canvas[data-drawn]", timeout=60_000)
    assert "Every step is saved" in page.inner_text(".saved")
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    page.wait_for_selector(".saved.lost", timeout=60_000)
    assert "nothing is saved" in page.inner_text(".saved")
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector("text=this was not saved")
    page.close()
