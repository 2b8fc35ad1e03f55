"""A broken file gives a named error of one line, or what the whole one gave: no traceback, hang or other figure."""

import os
import random
import resource
import signal
import sys
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from fuzz.file_format import FileFormat, plain
from fuzz.formats import FORMATS
from wfairl.cli import run_command
from wfairl.core.support.errors import WfairlError

SECONDS, MEMORY = 5, 1 << 30

FAST, SLOW = 2_000, 100_000
"""Cases of all formats together."""

CUTS = 40
"""Places at which a file of each format is cut in the fast tier, and a quarter as many at its very end."""


class HungError(BaseException):
    """Reading took too long; no reader may catch this."""


@contextmanager
def limits():
    """Processor time, so that a busy machine is no hang, and memory beyond what there is."""

    def hung(*_):
        raise HungError

    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before, handler = resource.getrlimit(resource.RLIMIT_AS), signal.signal(signal.SIGPROF, hung)
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, before[1]))
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_AS, before)
        signal.signal(signal.SIGPROF, handler)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A whole file of each format, by the format's name."""
    found = {}
    for form in FORMATS:
        path = tmp_path_factory.mktemp("whole") / form.file
        path.parent.mkdir(parents=True, exist_ok=True)
        form.write(path)
        found[form.name] = path.read_bytes()
    return found


def check(form: FileFormat, directory: Path, whole: dict[str, bytes], cases: range) -> None:
    path = directory / form.file
    path.parent.mkdir(parents=True, exist_ok=True)
    form.write(path)
    content = path.read_bytes()
    expected = [plain(form.read(path))]
    kin = [one for one in FORMATS if one.file == form.file]
    others = tuple(whole[one.name] for one in FORMATS if one not in kin)
    siblings = [whole[one.name] for one in kin if one is not form and one.is_sealed == form.is_sealed]
    for sibling in siblings:  # a whole one of the same kind may be read as what it is
        path.write_bytes(sibling)
        with suppress(WfairlError):
            expected.append(plain(form.read(path)))
    problems, outcomes = [], Counter()
    for number in cases:
        rng = random.Random(f"{form.name} {number}")
        disguised = form.disguise is not None and rng.random() < 0.15
        mutation = form.disguise if disguised else rng.choice(form.mutations)
        broken = mutation(content, rng, (*others, *siblings))
        path.write_bytes(broken)
        is_sealed = form.is_sealed and not disguised
        try:
            with limits():
                outcome = _outcome(form, path, expected, is_sealed)
        except HungError:
            outcome = f"hung for {SECONDS} s"
        outcomes[outcome] += 1
        if outcome not in GOOD:
            problems.append(f"case {number} ({'disguised' if disguised else mutation.__name__}): {outcome}")
    assert not problems, "\n".join((f"{form.name}: {len(problems)} of {len(cases)}", *problems[:20]))
    assert outcomes[REFUSED], "nothing that was tried broke it"


REFUSED, SAME, ANOTHER = "refused", "the same", "another, of a format without digest"
GOOD = (REFUSED, SAME, ANOTHER)


def _outcome(form: FileFormat, path: Path, expected, must_be_same: bool) -> str:
    try:
        value = plain(form.read(path))
    except WfairlError as error:
        text = str(error)
        if "\n" in text.strip() or path.parent.name not in text:
            return f"an error that is not one line with the name of the file: {text!r}"
        return REFUSED if error.exit_code == 2 else f"exit code {error.exit_code}"
    except Exception as error:  # the law is that there is none
        return f"{type(error).__name__}: {str(error)[:200]}"
    if value in expected:
        return SAME
    return f"read as {str(value)[:200]}" if must_be_same else ANOTHER


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_a_broken_file_is_refused_or_read_as_the_whole_one(form, tmp_path, whole):
    check(form, tmp_path, whole, range(-(-FAST // len(FORMATS))))


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_many_broken_files_are_refused_or_read_as_the_whole_one(form, tmp_path, whole):
    slowly = 10 if form.file.endswith(".hdf5") else 1  # its files take a tenth of a second to open
    check(form, tmp_path, whole, range(-(-SLOW // len(FORMATS) // slowly)))


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_a_file_that_was_cut_at_any_byte_is_refused_or_read_as_the_whole_one(form, tmp_path, whole):
    path = tmp_path / form.file
    path.parent.mkdir(parents=True, exist_ok=True)
    form.write(path)
    content, expected = path.read_bytes(), [plain(form.read(path))]
    for end in sorted(
        {len(content) * i // CUTS for i in range(CUTS)} | set(range(max(0, len(content) - CUTS // 4), len(content)))
    ):
        path.write_bytes(content[:end])
        with limits():
            outcome = _outcome(form, path, expected, form.is_sealed)
        assert outcome in GOOD, f"cut after {end} bytes: {outcome}"


def make_loop(path):
    path.symlink_to(path.name)


def make_dangling_link(path):
    path.symlink_to("nowhere")


def make_endless(path):
    path.symlink_to("/dev/zero")


NO_FILES = {
    "nothing": lambda path: None,
    "a directory": Path.mkdir,
    "a loop of links": make_loop,
    "a link to nowhere": make_dangling_link,
    "a pipe": os.mkfifo,
    "a device without end": make_endless,
}


@pytest.mark.parametrize("kind", NO_FILES)
@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_what_is_no_file_is_refused(form, kind, tmp_path):
    path = tmp_path / form.file
    path.parent.mkdir(parents=True, exist_ok=True)
    form.write(path)
    path.unlink()
    NO_FILES[kind](path)
    with limits():
        # Without evaluations, a page says that there are none.
        outcome = _outcome(form, path, [plain({})] if form.file == "evaluation.json" else [None], must_be_same=True)
    assert outcome in GOOD


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("task model, spectral", ("score", "FILE", "WORDS")),
        ("task model, guards", ("draw", "FILE", "-o", "OUT.svg")),
        ("words", ("learn-task", "FILE", "-o", "OUT.json")),
        ("event log, CSV", ("learn-task", "FILE", "-o", "OUT.json")),
        ("HOA", ("import", "FILE", "-o", "OUT.json")),
        ("demonstrations", ("learn-task", "FILE", "-o", "OUT.json")),
        ("configuration", ("report", "DIRECTORY")),
    ],
)
@pytest.mark.parametrize("break_it", [lambda content: content[: len(content) // 2], lambda _: b"\xff\x00"])
def test_the_command_line_says_it_in_one_line_with_exit_code_2(
    name, arguments, break_it, tmp_path, monkeypatch, capsys
):
    form = next(one for one in FORMATS if one.name == name)
    path = tmp_path / form.file
    form.write(path)
    path.write_bytes(break_it(path.read_bytes()))
    (tmp_path / "some.jsonl").write_text('{"word": ["a"]}\n')
    places = {"FILE": str(path), "DIRECTORY": str(tmp_path), "WORDS": str(tmp_path / "some.jsonl")}
    words = [places.get(word, word.replace("OUT", str(tmp_path / "out"))) for word in arguments]
    monkeypatch.setattr(sys, "argv", ["wfairl", *words])
    with pytest.raises(SystemExit) as ended:
        run_command()
    said = capsys.readouterr()
    assert (ended.value.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert str(path) in said.err
    assert not list(tmp_path.glob("out*"))
