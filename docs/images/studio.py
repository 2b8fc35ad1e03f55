"""Make the images of the studio: python docs/images/studio.py (needs the extra `dev` and Chromium).

It demonstrates "corner, then goal" in four rooms twice, and `terrain` four times by its true cost, and takes four
screenshots for the docs.
"""

import io
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from wfairl.core.planning.cost import true_cost
from wfairl.core.planning.plan import find_plan
from wfairl.core.planning.product import build_product
from wfairl.core.worlds.task import Task, rule_of
from wfairl.runs.task_registry import find_task

HERE = Path(__file__).parent
KEYS = ("ArrowLeft", "ArrowRight", "ArrowUp", "p", "d", " ")
SIZE = {"width": 1000, "height": 1120}
PROPOSITIONS = "section[aria-labelledby=propositions] form"


def main() -> None:
    """Make all images."""
    in_a_session("MiniGrid-FourRooms-v0", use)
    in_a_session("terrain", learn_the_cost)


def in_a_session(environment: str, do: Callable[[Page], None]) -> None:
    """Do something on the page of a new session."""
    with tempfile.TemporaryDirectory() as directory, sync_playwright() as driver:
        command = [sys.executable, "-m", "wfairl", "studio", environment, "--no-browser", "-d", directory]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None
        found = re.search(r"http://\S+", server.stdout.readline())
        assert found is not None
        browser = driver.chromium.launch(executable_path=shutil.which("chromium") or shutil.which("google-chrome"))
        try:
            page = browser.new_page(viewport=SIZE)
            page.set_default_timeout(120_000)
            page.goto(found[0])
            page.wait_for_selector("canvas[data-drawn]")
            do(page)
        finally:
            browser.close()
            server.terminate()
            server.wait()


def use(page: Page) -> None:
    """Demonstrate, watch and answer."""
    page.fill(f"{PROPOSITIONS} input", "corner")
    page.click(f"{PROPOSITIONS} button")
    page.keyboard.press("Enter")  # the cell in the corner
    page.wait_for_selector("text=on cell 1, 1")
    page.fill(f"{PROPOSITIONS} input", "goal")
    page.select_option(f"{PROPOSITIONS} select", label="on goal")
    page.click(f"{PROPOSITIONS} button")
    page.wait_for_selector(".rows li:has-text('on goal')")
    for number in (1, 2):
        demonstrate(page, find_task("errand"))
        if number == 2:
            take(page, "demonstrate")
        page.keyboard.press("Enter")
        page.wait_for_selector(f".edges .demonstrations:has-text('#{number}')")
    page.keyboard.press("2")
    page.wait_for_selector(".choices")
    for _ in range(7):
        page.keyboard.press("ArrowRight")
    page.locator(".choices button:not(.taken)").first.click()
    page.wait_for_selector(".why")
    take(page, "watch")
    page.keyboard.press("3")
    page.wait_for_selector(".question")
    take(page, "answer")


def learn_the_cost(page: Page) -> None:
    """Cross floors on the cheapest ways, and see what the studio says about their cost."""
    for number in range(1, 5):
        demonstrate(page, find_task("terrain"))  # which its rule judges
        page.wait_for_selector(f".edges .demonstrations:has-text('#{number}')")
    page.click("button:has-text('Learn the cost')")
    page.wait_for_selector("button:has-text('Learn the cost again')")
    page.keyboard.press("2")
    page.wait_for_selector(".choices")
    page.evaluate("scrollTo(0, 0)")
    take(page, "cost")


def demonstrate(page: Page, task: Task) -> None:
    """Follow the best plan by keys."""
    page.wait_for_selector("canvas[data-drawn$='/0']")
    page.focus(".view")
    found = re.search(r"Scene (\d+)", page.inner_text(".scene-line"))
    assert found is not None
    product = build_product(task.make_world(int(found[1])), rule_of(task))
    for step, control in enumerate(find_plan(product, true_cost(task)(product)).path.controls):
        page.wait_for_selector(f"canvas[data-drawn='{found[1]}/{step}']")
        page.keyboard.press(KEYS[control])


def take(page: Page, name: str) -> None:
    """Take a screenshot once no job runs."""
    page.wait_for_timeout(150)
    page.wait_for_selector(".progress.idle", state="attached")
    for close in page.locator(".toast button").all():
        close.click()
    image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    image.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        HERE / f"studio-{name}.png", optimize=True
    )


if __name__ == "__main__":
    main()
