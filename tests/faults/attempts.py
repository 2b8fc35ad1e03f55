"""A command in a process of its own: a new one, or a fork of this one, which has imported everything already.

Importing takes seconds and does nothing that could be lost; a fork spends all of its time on the command itself.
"""

import faulthandler
import multiprocessing
import os
import pkgutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module, reload
from pathlib import Path
from typing import Any

import wfairl
from wfairl.cli import main

FORK = multiprocessing.get_context("fork")

APPLICATIONS = {"wfairl": "wfairl.cli.app:app", "experiments": "experiments.commands:app"}


class Attempt:
    """A command that has been started.

    Args:
        arguments: the program, `wfairl` or `experiments`, and its arguments.
        directory: where it runs; its temporary files go beside it, where they can be seen.
        is_warm: whether it is a fork.
        before: what a fork does first, such as breaking something that the command will need.
        settings: environment variables.
    """

    def __init__(
        self,
        arguments: tuple[str, ...],
        directory: Path,
        is_warm: bool,
        before: Callable[[], object] | None = None,
        **settings: str,
    ):
        self.log = scratch(directory).with_suffix(".log")
        settings = {"TMPDIR": str(scratch(directory)), "OMP_NUM_THREADS": "1", "PYTHONFAULTHANDLER": "1", **settings}
        self._process: Any
        if is_warm:
            ready = FORK.Event()
            self._process = FORK.Process(target=_run, args=(arguments, directory, self.log, settings, before, ready))
            self._process.start()
            ready.wait()
        else:
            with self.log.open("wb") as log:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", *arguments],
                    cwd=directory, env={**os.environ, **settings}, stdout=log, stderr=log, start_new_session=True,
                    preexec_fn=obey_interrupts,
                )  # fmt: skip
        self.is_warm, self.pid, self.begun = is_warm, self._process.pid, time.monotonic()

    def exit_code(self, seconds: float | None = None) -> int | None:
        """The exit code when it ends within some time; None if it does not."""
        if self.is_warm:
            self._process.join(seconds)
            return self._process.exitcode
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    @property
    def said(self) -> str:
        """What it printed."""
        return self.log.read_text(errors="replace")


def obey_interrupts() -> None:
    """In a child: end at Ctrl-C. A shell has what it runs in the background ignore it, and children inherit that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def scratch(directory: Path) -> Path:
    """Where temporary files of a command go."""
    place = directory.parent / f"{directory.name} scratch"
    place.mkdir(exist_ok=True)
    return place


def import_everything() -> None:
    """What forks shall not have to import."""
    for module in pkgutil.walk_packages(wfairl.__path__, "wfairl."):
        if "__main__" not in module.name and "studio" not in module.name:
            import_module(module.name)
    for name in ("baselines", "commands", "harness.computing", "harness.results", "method_comparison.tables"):
        import_module(f"experiments.{name}")
    reload(import_module("wfairl.cli.train"))  # its options are those of the methods known when it is imported


def _run(
    arguments: tuple[str, ...],
    directory: Path,
    log: Path,
    settings: dict[str, str],
    before: Callable[[], object] | None,
    ready: Any,
) -> None:
    """In a fork: be the command."""
    os.setsid()
    obey_interrupts()
    os.chdir(directory)
    os.environ.update(settings)
    tempfile.tempdir = None
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w", buffering=1)
    faulthandler.enable(2)
    sys.argv = list(arguments)
    sys.path = [one for one in sys.path if one]
    if before is not None:
        before()
    ready.set()
    main(APPLICATIONS[arguments[0]])
