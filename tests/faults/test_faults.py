"""What a machine may lack: an error of one line with exit code 2, nothing lost, and the same results afterwards."""

import ctypes
import errno
import os
import resource
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from faults.attempts import Attempt
from faults.commands import COMMANDS, complete, digests

pytestmark = pytest.mark.slow

BY_NAME = {command.name: command for command in COMMANDS}

MOST_FAULTS = 12
"""Calls that are made to fail, one after the other, of those that a command makes."""


def break_call(name, number, count):
    """In a fork: let a function of `os` fail at one of its calls, and tell how many there were."""
    original = getattr(os, name)

    def call(*arguments, **named):
        with count.open("ab") as counter:
            counter.write(b".")
        if count.stat().st_size == number:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return original(*arguments, **named)

    setattr(os, name, call)


def assert_refused(attempt, words=""):
    """It said what was wrong in one line, as its last word."""
    assert attempt.exit_code(300) == 2, attempt.said
    last = attempt.said.strip().splitlines()[-1]
    assert last.startswith("wfairl: ")
    assert words in last
    assert "Traceback" not in attempt.said


@pytest.mark.parametrize("function", ["fsync", "replace"])
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_write_that_fails_is_named_and_the_command_can_be_run_again(command, function, workshop, tmp_path):
    whole, count = workshop.undisturbed[command.name], tmp_path / "count"
    workshop.furnish(command, tmp_path / "whole")
    assert (
        Attempt(command.arguments, tmp_path / "whole", True, partial(break_call, function, 0, count)).exit_code() == 0
    )
    calls = count.stat().st_size
    assert calls, "it writes nothing"
    for number in sorted({1 + calls * i // MOST_FAULTS for i in range(MOST_FAULTS)} & set(range(1, calls + 1))):
        room = tmp_path / f"room {number}"
        workshop.furnish(command, room)
        count.unlink()
        assert_refused(
            Attempt(command.arguments, room, True, partial(break_call, function, number, count)), "cannot be written"
        )
        complete(command, room, True, *command.resume)
        assert digests(room) == whole.results, number


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_full_disk_is_named_and_the_command_can_be_run_again_when_there_is_room(command, workshop, tmp_path):
    room = tmp_path / "room"  # a disk of its own: what the command says goes beside it
    room.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", room], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("only root can mount a small disk")
    try:
        workshop.furnish(command, room)
        with (room / "other things").open("wb", buffering=0) as other, suppress(OSError):  # until nothing more fits
            while True:
                other.write(bytes(4096))
        assert_refused(Attempt(command.arguments, room, True))
        (room / "other things").unlink(missing_ok=True)
        complete(command, room, True, *command.resume)
        assert digests(room) == workshop.undisturbed[command.name].results
    finally:
        subprocess.run(["umount", "--lazy", room], check=True)


def give_up_capabilities():
    """In a fork: obey permissions, also as root."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3, this process
    assert ctypes.CDLL(None).capset(header, (ctypes.c_uint32 * 6)()) == 0


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_directory_that_may_not_be_written_is_named(command, workshop, tmp_path):
    room = tmp_path / "room"
    workshop.furnish(command, room)
    before = digests(room)
    places = [room, *(path for path in room.rglob("*") if path.is_dir())]
    for path in places:
        path.chmod(0o555)
    assert_refused(Attempt(command.arguments, room, True, give_up_capabilities), "Permission denied")
    for path in places:
        path.chmod(0o755)
    assert digests(room) == before
    complete(command, room, True, *command.resume)
    assert digests(room) == workshop.undisturbed[command.name].results


NO_HOME = {"HOME": "/proc/nowhere", "XDG_CACHE_HOME": "/proc/nowhere", "XDG_CONFIG_HOME": "/proc/nowhere"}


@pytest.mark.parametrize("name", ["train, wfa-irl", "report", "plan", "run"])
def test_no_home_and_no_cache_change_nothing(name, workshop, tmp_path):
    command = BY_NAME[name]
    workshop.furnish(command, tmp_path / "room")
    attempt = Attempt(command.arguments, tmp_path / "room", False, **NO_HOME)
    assert attempt.exit_code() == 0, attempt.said
    assert digests(tmp_path / "room") == workshop.undisturbed[name].results


@pytest.mark.parametrize("name", ["train, wfa-irl", "train, bc", "run", "experiment"])
def test_a_second_process_in_a_directory_is_refused_and_the_first_is_not_disturbed(name, workshop, tmp_path):
    command, room = BY_NAME[name], tmp_path / "room"
    workshop.furnish(command, room)
    first = Attempt(command.arguments, room, True)
    output = room / command.arguments[command.arguments.index("-o") + 1]
    while not output.exists() or not any(output.iterdir()):  # a process that writes there holds the directory
        time.sleep(0.001)
    os.kill(first.pid, signal.SIGSTOP)
    try:
        second = Attempt((*command.arguments, *command.resume), room, True)
        assert_refused(second, "another process works in this directory")
    finally:
        os.kill(first.pid, signal.SIGCONT)
    assert first.exit_code() == 0, first.said
    assert digests(room) == workshop.undisturbed[name].results


def test_workers_that_are_killed_are_replaced(workshop, tmp_path):
    command, room, killed = BY_NAME["experiment"], tmp_path / "room", 0
    workshop.furnish(command, room)
    attempt = Attempt(command.arguments, room, True)
    while attempt.exit_code(4 * (1 + killed)) is None:  # each time a little later, so that it comes to its end
        listed = subprocess.run(["pgrep", "-P", str(attempt.pid), "-f", "spawn_main"], capture_output=True, text=True)
        for pid in listed.stdout.split()[:1]:
            os.kill(int(pid), signal.SIGKILL)
            killed += 1
    assert attempt.exit_code() == 0, attempt.said
    assert killed
    assert digests(room) == workshop.undisturbed["experiment"].results


def limit_memory(megabytes):
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (megabytes << 20), resource.RLIM_INFINITY))


# Networks are left out: in a thread of its own, torch ends the process with `std::bad_alloc`.
@pytest.mark.parametrize("command", COMMANDS[:6], ids=lambda command: command.name)
def test_too_little_memory_is_said_or_enough(command, workshop, tmp_path):
    refused = 0
    for megabytes in (8, 16, 32, 64, 128):
        room = tmp_path / f"room {megabytes}"
        workshop.furnish(command, room)
        attempt = Attempt(command.arguments, room, True, partial(limit_memory, megabytes), MALLOC_ARENA_MAX="1")
        if attempt.exit_code(300) != 0:
            assert_refused(attempt, "memory")
            refused += 1
        complete(command, room, True, *command.resume)
        assert digests(room) == workshop.undisturbed[command.name].results
        shutil.rmtree(room)
    assert refused < 5
