"""The commands that take long, each on inputs so small that it can be stopped hundreds of times."""

import hashlib
import json
import shutil
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from experiments.harness.cell import TIMING
from faults.attempts import Attempt, import_everything, scratch

TIMES = (TIMING,)
"""Files that say how long something took; everything else is a result."""

EXAMPLES = Path(__file__).parents[2] / "examples"

WORLD, EXPERIMENT = "own_world.py", "own_experiment.py"
"""Examples: a tiny world with its task, and an experiment of five cells in it."""

KEPT = "undisturbed.json"

LOG = '{"seed": 20000, "controls": [1, 1, 1, 2, 0, 0, 0, 0]}\n' * 40


@dataclass(frozen=True)
class LongCommand:
    """A command.

    Attributes:
        name: for people.
        arguments: the program and its arguments, with paths relative to the directory that it runs in.
        needs: files and directories, made by the commands before, that it reads.
        resume: what to add to the arguments to go on after it was stopped.
    """

    name: str
    arguments: tuple[str, ...]
    needs: tuple[str, ...] = ()
    resume: tuple[str, ...] = ()


def command(name: str, line: str, needs: str = "", resume: str = "") -> LongCommand:
    tasks = ["wfairl", "--tasks", WORLD]
    if name in ("train, bc", "train, gail"):
        tasks += ["--tasks", "experiments.baselines"]
    program = [] if name == "experiment" else tasks
    return LongCommand(name, (*program, *line.split()), tuple(needs.split()), tuple(resume.split()))


COMMANDS = (
    command("demos", "demos corridor --successes 8 --failures 8 -o demos.safetensors"),
    command("demos-import", "demos-import corridor log.jsonl -o imported.safetensors", "log.jsonl"),
    command("learn-task, rational", "learn-task demos.safetensors -o task.json", "demos.safetensors"),
    command(
        "learn-task, spectral",
        "learn-task demos.safetensors --learner spectral -o spectral.json",
        "demos.safetensors",
    ),
    command(
        "train, wfa-irl",
        "train demos.safetensors --task-model task.json --epochs 20 -o run",
        "demos.safetensors task.json",
        "--resume",
    ),
    command("demos, doorkey", "demos doorkey --successes 8 --failures 0 -o grids.safetensors"),
    command(
        "train, bc",
        "train grids.safetensors --method bc --radius 2 --networks 2 --epochs 4 --validation-scenes 2 -o cloned",
        "grids.safetensors",
        "--resume",
    ),
    command(
        "train, gail",
        "train grids.safetensors --method gail --radius 2 --fresh-scenes 4 --iterations 2 --environments 4 --rollout 8"
        " --pretraining 1 --validation-scenes 2 -o gail",
        "grids.safetensors",
        "--resume",
    ),
    command("evaluate", "evaluate corridor --policy run --seeds 5000:5008 --save", "run"),
    command("report", "report run", "run"),
    command("plan", "plan corridor --seed 3 --task-model task.json -o plan.png", "task.json"),
    command(
        "run",
        "run corridor --successes 4 --failures 4 --epochs 3 --test-scenes 2 -o whole",
        resume="--resume",
    ),
    command("experiment", f"experiments corridor --load {EXPERIMENT} --quick --jobs 2 -o experiment", EXPERIMENT),
)
"""In an order in which each finds what it needs."""


@dataclass(frozen=True)
class Undisturbed:
    """A command that ran to its end.

    Attributes:
        cold: seconds that it took as a process of its own.
        warm: seconds that it took as a fork of this process.
        results: what was in its directory in the end: digests by path, without times.
        left: names of what it left among temporary files; torch has a cache there.
    """

    cold: float
    warm: float
    results: dict[str, str]
    left: list[str]


class Workshop:
    """What the commands need, and what each gives when nothing disturbs it; where it is kept, it is used again.

    Attributes:
        undisturbed: what each command gives, by its name.
        seconds: how long each takes now, as a fork and as a process of its own.
    """

    def __init__(self, place: Path):
        self.shelf, self.rooms = place / "shelf", place / "rooms"
        import_everything()
        if not (place / KEPT).exists():
            self.shelf.mkdir(parents=True)
            (self.shelf / "log.jsonl").write_text(LOG)
            for name in (WORLD, EXPERIMENT):
                shutil.copy2(EXAMPLES / name, self.shelf / name)
            found = {command.name: self._run(command) for command in COMMANDS}
            (place / KEPT).write_text(json.dumps({name: asdict(one) for name, one in found.items()}))
        kept = json.loads((place / KEPT).read_text())
        self.undisturbed = {name: Undisturbed(**one) for name, one in kept.items()}
        self.seconds = {name: {True: one.warm, False: one.cold} for name, one in self.undisturbed.items()}

    def furnish(self, command: LongCommand, directory: Path) -> None:
        """Put what a command needs into a directory."""
        directory.mkdir(parents=True, exist_ok=True)
        for name in (WORLD, *command.needs):
            _copy(self.shelf / name, directory / name)

    def _run(self, command: LongCommand) -> Undisturbed:
        """As a process of its own, which compiles what has to be, and as a fork; what it wrote goes to the shelf."""
        seconds, results, left = {}, {}, set[str]()
        for is_warm in (False, True):
            room = self.rooms / f"{command.name} {is_warm}"
            self.furnish(command, room)
            begun = time.monotonic()
            complete(command, room, is_warm)
            seconds[is_warm], results[is_warm] = time.monotonic() - begun, digests(room)
            left |= {path.name for path in scratch(room).iterdir()}
        assert results[True] == results[False], f"{command.name}: not the same twice"
        for path in room.iterdir():
            if not (self.shelf / path.name).exists():
                _copy(path, self.shelf / path.name)
        return Undisturbed(seconds[False], seconds[True], results[True], sorted(left))


def _copy(source: Path, target: Path) -> None:
    (shutil.copytree if source.is_dir() else shutil.copy2)(source, target)


def complete(command: LongCommand, directory: Path, is_warm: bool = True, *more: str) -> None:
    """Run a command to its end, which must be a good one."""
    attempt = Attempt((*command.arguments, *more), directory, is_warm)
    code = attempt.exit_code()
    assert code == 0, f"{command.name}: exit code {code}: {attempt.said[-2_000:]}"


def digests(directory: Path) -> dict[str, str]:
    """What is in a directory, without times."""
    return {
        str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and path.name not in TIMES and "__pycache__" not in path.parts
    }
