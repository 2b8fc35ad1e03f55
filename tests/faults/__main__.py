"""How commands stand being stopped, as a table; from the directory `tests`:

    python -m faults [--moments 50] [--commands demos,train/bc] [--seed 0] [--place DIR] [--json]

The commands take turns, ten moments each, so that a run that is stopped early has figures for all.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from faults.commands import COMMANDS, Workshop
from faults.interruptions import WAYS, Tally, interrupt

TURN = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--moments", type=int, default=50, help="of each command")
    parser.add_argument("--commands", default=",".join(command.name for command in COMMANDS).replace(", ", "/"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--place", type=Path, help="where undisturbed results are kept, for another time")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    names = {name.replace("/", ", ") for name in arguments.commands.split(",")}
    with tempfile.TemporaryDirectory(prefix="faults-") as name:
        workshop = Workshop(arguments.place or Path(name, "workshop"))
        tallies = {command.name: Tally() for command in COMMANDS if command.name in names}
        for turn in range(-(-arguments.moments // TURN)):
            for command in (command for command in COMMANDS if command.name in names):
                begun, wanted = time.monotonic(), min(TURN, arguments.moments - TURN * turn)
                seed = arguments.seed + 1_000 * turn
                found = interrupt(command, workshop, Path(name, f"turn {turn}"), wanted, seed)
                tallies[command.name] += found
                told = f"{command.name}: {found.moments.total()} moments in {time.monotonic() - begun:.0f} s"
                sys.stderr.write("\n".join((told, *found.problems)) + "\n")
    rows = {
        name: {
            "seconds": round(workshop.undisturbed[name].warm, 1),
            **{way: tally.moments[way] for way in WAYS},
            "run to the end": tally.chains,
            "problems": len(tally.problems),
            "slowest end, s": round(tally.slowest, 1),
        }
        for name, tally in tallies.items()
    }
    if arguments.json:
        print(json.dumps(rows))
    else:
        table = Table("command", *next(iter(rows.values())), title="commands that are stopped and run again")
        for name, row in rows.items():
            table.add_row(name, *map(str, row.values()))
        Console(width=120).print(table)
    sys.exit(any(tally.problems for tally in tallies.values()))


if __name__ == "__main__":
    main()
