"""Make the images of the studio: python docs/images/studio.py (needs the extra `dev` and Chromium).

It demonstrates "corner, then goal" in four rooms twice, and takes three screenshots for the docs.
"""

import io
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from wfairl.core.planning.cost import unit_cost
from wfairl.core.planning.plan import find_plan
from wfairl.core.planning.product import build_product
from wfairl.core.worlds.task_registry import find_task

HERE = Path(__file__).parent
KEYS = ("ArrowLeft", "ArrowRight", "ArrowUp", "p", "d", " ")
SIZE = {"width": 1000, "height": 1120}
PROPOSITIONS = "section[aria-labelledby=propositions] form"


def main() -> None:
    """Make all images."""
    with tempfile.TemporaryDirectory() as directory, sync_playwright() as driver:
        command = [sys.executable, "-m", "wfairl", "studio", "MiniGrid-FourRooms-v0", "--no-browser", "-d", directory]
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
            use(page)
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
        demonstrate(page, number)
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


def demonstrate(page: Page, number: int) -> None:
    """Go to the corner and then to the goal, by keys."""
    errand = find_task("errand")
    page.focus(".view")
    found = re.search(r"Scene (\d+)", page.inner_text(".scene-line"))
    assert found is not None
    product = build_product(errand.make_world(int(found[1])), errand.rule)
    for step, control in enumerate(find_plan(product, unit_cost(product)).path.controls, start=1):
        page.keyboard.press(KEYS[control])
        page.wait_for_selector(f"canvas[data-drawn='{found[1]}/{step}']")
    if number == 2:
        take(page, "demonstrate")
    page.keyboard.press("Enter")
    page.wait_for_selector(f".edges .demonstrations:has-text('#{number}')")


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
