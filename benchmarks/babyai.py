"""Plans in seven levels of BabyAI, against the bot that comes with minigrid.

    python benchmarks/babyai.py [--json] [--scenes 500] [--level babyai-goto ...] [--results scenes.jsonl]

In each scene, the focused planner plans under the rule of the level's instruction, and the plan is executed in the real
environment until its verifier reports success; minigrid's `BabyAIBot` acts in the same scene. The bot sees only what
the agent sees and explores the rest, while the planner knows the scene: a plan longer than the bot's would be a
mistake. A bot that raises an error or exceeds the level's time limit has failed, and the scene is not compared. A scene
is impossible if the planner has proved that no plan exists: in some scenes of Unlock the key lies behind the door that
it unlocks. Times are CPU times of one plan, with the creation of the scene and without compilation; memory is the peak
of the process. With `--results` every finished scene is written to a file, from which an interrupted run continues.
"""

import json
import resource
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from minigrid.utils.baby_ai_bot import BabyAIBot
from reporting import make_parser, report, rows_table

from wfairl.core.planning.cost import unit_cost
from wfairl.core.planning.plan import Plan, UnsatisfiableTaskError
from wfairl.core.support.progress import track
from wfairl.minigrid import babyai
from wfairl.minigrid.environment import make_environment, reset
from wfairl.minigrid.focused.focused_search import DEFAULT_MAX_NODES, TooManyNodesMetError
from wfairl.minigrid.focused.planner import FocusedPlanner
from wfairl.minigrid.tasks import MiniGridTask

LEVELS = (
    babyai.GO_TO,
    babyai.PICKUP_LOC,
    babyai.UNBLOCK_PICKUP,
    babyai.UNLOCK,
    babyai.PUT_NEXT_LOCAL,
    babyai.KEY_CORRIDOR,
    babyai.BOSS_LEVEL,
)


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--scenes", type=int, default=500, help="scenes of each level, from seed 0 on")
    parser.add_argument("--level", action="append", help="only this level; may be given several times")
    parser.add_argument("--max-nodes", type=int, default=DEFAULT_MAX_NODES, help="give up on a scene beyond this")
    parser.add_argument("--results", type=Path, help="a file of scenes that are done, to go on with")
    arguments = parser.parse_args()
    levels = [level for level in LEVELS if arguments.level is None or level.name in arguments.level]
    planner = FocusedPlanner(arguments.max_nodes)
    rows = [summarize(level, measure(level, planner, arguments.scenes, arguments.results)) for level in levels]
    report({"levels": rows}, arguments.json, rows_table(rows), width=200)


def measure(level: MiniGridTask, planner: FocusedPlanner, scenes: int, results: Path | None) -> list[dict[str, Any]]:
    """What was found in each scene, in the order of seeds."""
    done: dict[int, dict[str, Any]] = {}
    if results is not None and results.exists():
        rows = map(json.loads, results.read_text().splitlines())
        done = {row["seed"]: row for row in rows if row["level"] == level.name and row["seed"] < scenes}
    plan(level, planner, 0)  # compiles
    for seed in track([seed for seed in range(scenes) if seed not in done], level.name, scenes - len(done)):
        done[seed] = {"level": level.name, "seed": seed, **measure_scene(level, planner, seed)}
        if results is not None:
            with results.open("a") as file:
                file.write(json.dumps(done[seed]) + "\n")
    return [done[seed] for seed in sorted(done)]


def measure_scene(level: MiniGridTask, planner: FocusedPlanner, seed: int) -> dict[str, Any]:
    """Steps of the plan and of the bot, None where there are none; and why, and what it took."""
    began, outcome, found = time.process_time(), "planned", None
    try:
        found = plan(level, planner, seed)
    except UnsatisfiableTaskError:
        outcome = "impossible"
    except TooManyNodesMetError:
        outcome = "given up"
    took = time.process_time() - began
    return {
        "outcome": outcome,
        "steps": None if found is None else carry_out(level, seed, found.path.controls),
        "at least": None if found is None else found.lower_bound,
        "bot steps": None if found is None else follow_bot(level, seed),
        "ms": 1e3 * took,
        "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def summarize(level: MiniGridTask, rows: list[dict[str, Any]]) -> dict[str, Any]:
    planned = [row for row in rows if row["outcome"] == "planned"]
    accepted = [row for row in planned if row["steps"] is not None]
    pairs = {row["seed"]: (row["steps"], row["bot steps"]) for row in accepted if row["bot steps"] is not None}
    took = [row["ms"] for row in rows]
    return {
        "level": level.name,
        "scenes": len(rows),
        "impossible scenes": [row["seed"] for row in rows if row["outcome"] == "impossible"],
        "given up scenes": [row["seed"] for row in rows if row["outcome"] == "given up"],
        "accepted": len(accepted),
        "not proven optimal": {
            row["seed"]: row["steps"] - row["at least"] for row in accepted if row["steps"] > row["at least"]
        },
        "refused scenes": [row["seed"] for row in planned if row["steps"] is None],
        "bot failed": sum(row["bot steps"] is None for row in planned),
        "shorter": sum(ours < bot for ours, bot in pairs.values()),
        "equal": sum(ours == bot for ours, bot in pairs.values()),
        "longer scenes": [seed for seed, (ours, bot) in pairs.items() if ours > bot],
        "mean steps": statistics.mean(row["steps"] for row in accepted),
        "mean difference": statistics.mean(bot - ours for ours, bot in pairs.values()),
        "median ms": statistics.median(took),
        "90 % ms": statistics.quantiles(took, n=10)[-1],
        "max ms": max(took),
        "peak MB": max(row["peak MB"] for row in rows),
    }


def plan(level: MiniGridTask, planner: FocusedPlanner, seed: int) -> Plan:
    return planner.solve(level.make_world(seed), level.rule, unit_cost).plan()


def carry_out(level: MiniGridTask, seed: int, controls: Sequence[int]) -> int | None:
    """The steps until the verifier of the real environment says success, None if it does not."""
    simulator = level.make_simulator(seed)
    for step, control in enumerate(controls, start=1):
        if simulator.step(control).ended:
            return step if simulator.succeeded else None
    return None


def follow_bot(level: MiniGridTask, seed: int) -> int | None:
    """The steps that minigrid's bot takes, None if it fails."""
    environment = make_environment(level.environment_id)
    reset(environment, seed)
    control = None
    steps, is_over, reward = 0, False, 0.0
    try:
        bot = BabyAIBot(environment)
        while not is_over:
            control = bot.replan(control)
            _, reward, terminated, truncated, _ = environment.step(control)
            steps, is_over = steps + 1, terminated or truncated
    except Exception:  # the bot fails in ways of its own
        return None
    return steps if float(reward) > 0 else None


if __name__ == "__main__":
    main()
