"""Commands that are stopped at random moments, and then run again to their end."""

import os
import random
import shutil
import signal
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from faults.attempts import Attempt, scratch
from faults.commands import LongCommand, Workshop, complete, digests

WAYS = {"kill -9": signal.SIGKILL, "kill": signal.SIGTERM, "Ctrl-C": signal.SIGINT}

COLD = 0.2
"""The share of attempts that are processes of their own, so that moments of their start are met; others are forks."""

AGAIN = 0.7
"""The probability that a command which was stopped is stopped once more when it goes on."""

SECONDS_TO_END = 60
"""How long a command that was stopped may take to end, on a busy machine, before it counts as hung."""

SECONDS_OF_ORPHANS = 10
"""How long its worker processes may outlive it."""


@dataclass
class Tally:
    """What came of interrupting a command.

    Attributes:
        moments: how often it was stopped, by the way.
        chains: how often it was run to its end after that.
        problems: everything that must not be, in words.
        slowest: seconds that it took to end, at most, when it was asked to.
    """

    moments: Counter[str] = field(default_factory=Counter)
    chains: int = 0
    problems: list[str] = field(default_factory=list)
    slowest: float = 0.0

    def __iadd__(self, other: "Tally") -> "Tally":
        self.moments += other.moments
        self.chains += other.chains
        self.problems += other.problems
        self.slowest = max(self.slowest, other.slowest)
        return self


def interrupt(command: LongCommand, workshop: Workshop, place: Path, moments: int, seed: int = 0) -> Tally:
    """Stop a command at some number of moments, uniform over the time that it takes, its start included.

    On a machine that others use, that time changes: a first attempt that ends before its moment says what it is now.
    """
    rng, tally = random.Random(f"{command.name} {seed}"), Tally()
    whole, seconds = workshop.undisturbed[command.name], workshop.seconds[command.name]
    while tally.moments.total() < moments:
        room = place / f"{command.name} {tally.chains}"
        workshop.furnish(command, room)
        more: tuple[str, ...] = ()
        fresh = True
        while True:
            is_warm = rng.random() >= COLD
            way, moment = rng.choice(list(WAYS)), rng.uniform(0, seconds[is_warm])
            attempt, stopped = Attempt((*command.arguments, *more), room, is_warm), tally.moments.total()
            if problem := _stop(attempt, way, moment, tally):
                tally.problems.append(f"{room.name}, {way} after {moment:.2f} s: {problem}")
            if fresh and stopped == tally.moments.total():
                seconds[is_warm] = time.monotonic() - attempt.begun
            more, fresh = command.resume, False
            if rng.random() >= AGAIN:
                break
        try:
            complete(command, room, True, *more)
        except AssertionError as error:
            tally.problems.append(str(error))
        found = digests(room)
        different = sorted(name for name in {*found, *whole.results} if found.get(name) != whole.results.get(name))
        left = sorted({path.name for path in scratch(room).iterdir()} - set(whole.left))
        tally.problems += [f"{room.name}: {name} differs" for name in different]
        tally.problems += [f"{room.name}: {name} is left among temporary files" for name in left]
        tally.chains += 1
        shutil.rmtree(room)
        shutil.rmtree(scratch(room))
    return tally


def _stop(attempt: Attempt, way: str, moment: float, tally: Tally) -> str:
    """Stop a command at a moment, if it has not ended by then; what is wrong with how it ended."""
    code = attempt.exit_code(moment)
    if code is not None:
        return "" if code == 0 else f"exit code {code} before that: {attempt.said[-2_000:]}"
    stopped = time.monotonic()
    # As they come: Ctrl-C to all processes of the terminal, the others to one.
    (os.killpg if way == "Ctrl-C" else os.kill)(attempt.pid, WAYS[way])
    code = attempt.exit_code(SECONDS_TO_END)
    tally.moments[way] += 1
    tally.slowest = max(tally.slowest, time.monotonic() - stopped)
    orphans = _orphans(attempt.pid)
    if code is None:
        os.kill(attempt.pid, signal.SIGABRT)  # Python's fault handler says where it hangs
        attempt.exit_code(SECONDS_OF_ORPHANS)
    if code is None or orphans:
        os.killpg(attempt.pid, signal.SIGKILL)
        attempt.exit_code()
        where = attempt.said.rpartition("Extension modules:")[0] or attempt.said
        return f"did not end: {where[-6_000:]}" if code is None else f"left the processes {orphans}"
    if way != "kill -9" and "Traceback" in attempt.said and "wfairl" in attempt.said.rpartition("Traceback")[2]:
        return f"traceback: {attempt.said[-3_000:]}"
    return ""


def _orphans(session: int) -> list[str]:
    """The processes of a session that do not end."""
    end = time.monotonic() + SECONDS_OF_ORPHANS
    while (found := _processes(session)) and time.monotonic() < end:
        time.sleep(0.02)
    return found


def _processes(session: int) -> list[str]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = stat.read_text().rpartition(")")
        except OSError:
            continue  # it ended in the meantime
        state, _parent, _group, its_session = rest.split()[:4]
        if int(its_session) == session and state != "Z":
            found.append(f"{name})")
    return found
