"""For all tests: hypothesis without a deadline, since kernels compile; the command line; a real browser."""

import fcntl
import os
import shutil
import sys
from contextlib import contextmanager
from typing import NamedTuple

import pytest
from hypothesis import settings

from wfairl.cli import run_command
from wfairl.runs import task_registry as registry

settings.register_profile("fast", deadline=None, max_examples=50)
settings.register_profile("thorough", deadline=None, max_examples=100)  # of `make test-slow`
settings.load_profile("fast")


def forget_tasks_after(monkeypatch):
    """What is made known by `--tasks` or `register_task` from now on is forgotten when the patch ends."""
    monkeypatch.setattr(registry._tasks, "_entries", dict(registry._registered()))
    monkeypatch.setattr(registry, "_loaded", dict(registry._loaded))


@pytest.fixture(autouse=True, scope="module")
def tasks_end_with_their_module():
    with pytest.MonkeyPatch.context() as monkeypatch:
        forget_tasks_after(monkeypatch)
        yield


@pytest.fixture(autouse=True)
def tasks_end_with_their_test(monkeypatch):
    forget_tasks_after(monkeypatch)


class Result(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def wfairl(monkeypatch, capsys):
    """The command line in this process: arguments in, exit code and the two streams out."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["wfairl", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            run_command()
        captured = capsys.readouterr()
        return Result(ended.value.code or 0, captured.out, captured.err)

    return run


@pytest.fixture(scope="session")
def shared_place(tmp_path_factory):
    """A folder that all processes of a test run share, and its use by one at a time: what is slow is made once."""
    place = tmp_path_factory.getbasetemp()
    place = place.parent if "PYTEST_XDIST_WORKER" in os.environ else place

    @contextmanager
    def reserve(name):
        (place / name).mkdir(exist_ok=True)
        with (place / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield place / name

    return reserve


BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def browser():
    program = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if program is None:
        pytest.skip("no browser: `apt-get install chromium` gives one, and `make test` does that where it may")
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install -e '.[dev]'"
    )
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program)
        yield browser
        browser.close()


@pytest.fixture
def opened(browser):
    """Opens a page; at the end, nothing was complained about and nothing was asked of a network."""
    complaints, requests, contexts = [], [], []

    def open_page(path, **settings):
        context = browser.new_context(**settings)
        contexts.append(context)
        context.set_default_timeout(120_000)  # other tests run beside this one
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_function("[...document.querySelectorAll('[data-player]')].every((one) => 'ready' in one.dataset)")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
