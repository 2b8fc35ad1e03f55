"""How commands stand being stopped, as a table; from the directory `tests`:

python -m faults [--moments 50] [--commands demos,plan] [--seed 0] [--json]
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--moments", type=int, default=50, help="of each command")
    parser.add_argument("--commands", default=",".join(command.name for command in COMMANDS).replace(", ", "/"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    names = {name.replace("/", ", ") for name in arguments.commands.split(",")}
    with tempfile.TemporaryDirectory(prefix="faults-") as name:
        last = [position for position, command in enumerate(COMMANDS) if command.name in names][-1]
        workshop = Workshop(Path(name), COMMANDS[: last + 1])
        tallies: dict[str, Tally] = {}
        for command in COMMANDS:
            if command.name in names:
                begun = time.monotonic()
                tally = interrupt(command, workshop, Path(name, "trials"), arguments.moments, arguments.seed)
                tallies[command.name] = tally
                took = f"{command.name}: {tally.moments.total()} moments in {time.monotonic() - begun:.0f} s"
                sys.stderr.write("\n".join((took, *tally.problems)) + "\n")
    rows = {
        name: {
            "seconds": round(workshop.undisturbed[name].seconds[True], 1),
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
