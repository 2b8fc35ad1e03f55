"""Make the images of the studio: python docs/images/studio.py (needs the extra `dev` and Chromium).

It demonstrates "corner, then goal" in four rooms twice, and takes three screenshots for the docs, one of a phone, and a
film of half a minute for the README.
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
SIZE, PHONE = {"width": 1000, "height": 856}, {"width": 390, "height": 844}
FILM_WIDTH, FILM_SECONDS, COLOURS = 760, 30, 160
PROPOSITIONS, CORRECT = "section[aria-labelledby=propositions] form", "section[aria-labelledby=correct] form"


class Camera:
    """Takes screenshots of a page, each with its duration in the film."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.frames: list[tuple[Image.Image, float]] = []

    def take(self, seconds: float, name: str | None = None) -> None:
        """Take a screenshot for the film and, with a name, for the docs."""
        self.page.wait_for_timeout(80)
        image = Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")
        if name is not None:
            image.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
                HERE / f"studio-{name}.png", optimize=True
            )
        height = round(image.height * FILM_WIDTH / image.width)
        self.frames.append((image.resize((FILM_WIDTH, height), Image.Resampling.LANCZOS), seconds))

    def save(self, path: Path) -> None:
        """Write the film, which takes `FILM_SECONDS`."""
        palette = self.frames[-1][0].quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        images = [one.quantize(palette=palette, dither=Image.Dither.NONE) for one, _ in self.frames]
        scale = 1000 * FILM_SECONDS / sum(seconds for _, seconds in self.frames)
        durations = [10 * round(seconds * scale / 10) for _, seconds in self.frames]
        images[0].save(path, save_all=True, append_images=images[1:], duration=durations, loop=0, optimize=True)


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
            camera = Camera(page)
            film(camera)
            camera.save(HERE / "studio.gif")
            phone = browser.new_context(viewport=PHONE, color_scheme="dark", storage_state=page.context.storage_state())
            small = Camera(phone.new_page())
            small.page.goto(page.url)
            small.page.wait_for_selector(".sentence", timeout=60_000)
            small.take(0, "phone")
        finally:
            browser.close()
            server.terminate()
            server.wait()


def film(camera: Camera) -> None:
    """Demonstrate, watch, answer and correct."""
    page = camera.page
    camera.take(1.5)
    page.fill(f"{PROPOSITIONS} input", "corner")
    camera.take(0.7)
    page.click(f"{PROPOSITIONS} button")
    camera.take(1.2)
    page.keyboard.press("Enter")  # the cell in the corner
    page.wait_for_selector("text=on cell 1, 1")
    page.fill(f"{PROPOSITIONS} input", "goal")
    page.select_option(f"{PROPOSITIONS} select", label="on goal")
    page.click(f"{PROPOSITIONS} button")
    page.wait_for_selector(".rows li:has-text('on goal')")
    camera.take(1.5)
    for number in (1, 2):
        demonstrate(camera, number)
    page.keyboard.press("t")
    page.wait_for_selector("text=A demonstration here is most informative")
    idle(page)
    camera.take(2.5)
    page.keyboard.press("2")
    page.wait_for_selector(".choices")
    camera.take(1.5)
    for step in range(1, 8):
        page.keyboard.press("ArrowRight")
        camera.take(0.2 if step < 7 else 1)
    page.locator(".choices button:not(.taken)").first.click()
    page.wait_for_selector(".why")
    camera.take(2.2, "watch")
    page.focus(".view")
    page.keyboard.press("d")
    for key in ("ArrowRight", "ArrowRight", "ArrowUp", "ArrowUp", "ArrowUp"):
        page.keyboard.press(key)
        camera.take(0.25)
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Back to the agent's plan")
    camera.take(2)
    page.keyboard.press("3")
    page.wait_for_selector(".question")
    idle(page)
    camera.take(2.5, "answer")
    page.keyboard.press("y")
    page.wait_for_selector("text=1 answer given")
    idle(page)
    camera.take(1.5)
    page.keyboard.press("1")
    page.locator(CORRECT).scroll_into_view_if_needed()
    page.locator(f"{CORRECT} select").nth(0).select_option("before")
    page.locator(f"{CORRECT} select").nth(1).select_option("corner")
    page.locator(f"{CORRECT} select").nth(2).select_option("goal")
    camera.take(1.5)
    page.click(f"{CORRECT} button")
    page.wait_for_selector("section[aria-labelledby=correct] li:has-text('corner before goal')")
    idle(page)
    page.evaluate("scrollTo(0, 0)")
    camera.take(3)


def demonstrate(camera: Camera, number: int) -> None:
    """Go to the corner and then to the goal, by keys."""
    page, errand = camera.page, find_task("errand")
    page.focus(".view")
    found = re.search(r"Scene (\d+)", page.inner_text(".scene-line"))
    assert found is not None
    product = build_product(errand.make_world(int(found[1])), errand.rule)
    plan = find_plan(product, unit_cost(product)).path.controls
    for step, control in enumerate(plan, start=1):
        page.keyboard.press(KEYS[control])
        page.wait_for_selector(f"canvas[data-drawn='{found[1]}/{step}']")
        if step % 3 == 0 or step == len(plan):
            camera.take(0.18 if step < len(plan) else 1, "demonstrate" if number == 2 and step == len(plan) else None)
    page.keyboard.press("Enter")
    page.wait_for_selector(f".edges .demonstrations:has-text('#{number}')")
    idle(page)
    camera.take(2)


def idle(page: Page) -> None:
    """Wait until no job runs."""
    page.wait_for_timeout(150)
    page.wait_for_selector(".progress.idle", state="attached")


if __name__ == "__main__":
    main()
