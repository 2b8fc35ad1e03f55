"""Plans in seven levels of BabyAI, against the bot that comes with minigrid.

    python benchmarks/babyai.py [--json] [--scenes 500] [--level babyai-goto ...]

For each scene: the plan of the focused planner under the rule read from the level's instruction, carried out in the
real environment until its verifier says success; and minigrid's `BabyAIBot` in the same scene. The bot sees only what
the agent sees and explores the rest, the planner knows the scene: a plan that is longer than the bot's would be a
mistake. Where the bot raises an error or runs out of the level's own time, it counts as failed and the scene is
compared no further. A scene is impossible if the planner has proved that no plan exists: in some scenes of Unlock the
key lies behind the door that it unlocks. Times are CPU time of this process for one plan, making and reading the scene
included, compilation left out; memory is the peak of the process.
"""

import argparse
import json
import resource
import statistics
import time
from typing import Any

from minigrid.utils.baby_ai_bot import BabyAIBot
from rich.console import Console
from rich.table import Table

from wfairl.planning.cost import unit_cost
from wfairl.planning.focused import FocusedPlanner, TooManyNodesMetError
from wfairl.planning.plan import UnsatisfiableTaskError
from wfairl.progress import track
from wfairl.worlds.minigrid import babyai
from wfairl.worlds.minigrid.environment import make_environment, reset

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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--scenes", type=int, default=500, help="scenes of each level, from seed 0 on")
    parser.add_argument("--level", action="append", help="only this level; may be given several times")
    arguments = parser.parse_args()
    levels = [level for level in LEVELS if arguments.level is None or level.name in arguments.level]
    rows = [measure(level, arguments.scenes) for level in levels]
    if arguments.json:
        print(json.dumps({"levels": rows}))
        return
    table = Table(*rows[0])
    for row in rows:
        table.add_row(*(f"{value:.4g}" if isinstance(value, float) else str(value) for value in row.values()))
    Console(width=200).print(table)


def measure(level: babyai.BabyAITask, scenes: int) -> dict[str, Any]:
    plan(level, 0)  # compiles
    took, steps, bot_steps, impossible, given_up = [], {}, {}, [], []
    for seed in track(range(scenes), level.name, scenes):
        began = time.process_time()
        try:
            controls = plan(level, seed)
        except UnsatisfiableTaskError:
            impossible.append(seed)
            continue
        except TooManyNodesMetError:
            given_up.append(seed)
            continue
        finally:
            took.append(time.process_time() - began)
        steps[seed] = carry_out(level, seed, controls)
        bot_steps[seed] = follow_bot(level, seed)
    refused = [seed for seed, count in steps.items() if count is None]
    pairs = {
        seed: (ours, bot_steps[seed])
        for seed, ours in steps.items()
        if ours is not None and bot_steps[seed] is not None
    }
    return {
        "level": level.name,
        "scenes": scenes,
        "impossible scenes": impossible,
        "given up scenes": given_up,
        "accepted": len(steps) - len(refused),
        "refused scenes": refused,
        "bot failed": sum(bot is None for bot in bot_steps.values()),
        "shorter": sum(ours < bot for ours, bot in pairs.values()),
        "equal": sum(ours == bot for ours, bot in pairs.values()),
        "longer scenes": [seed for seed, (ours, bot) in pairs.items() if ours > bot],
        "mean steps": statistics.mean(ours for ours in steps.values() if ours is not None),
        "mean difference": statistics.mean(bot - ours for ours, bot in pairs.values()),
        "median ms": 1e3 * statistics.median(took),
        "90 % ms": 1e3 * statistics.quantiles(took, n=10)[-1],
        "max ms": 1e3 * max(took),
        "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def plan(level: babyai.BabyAITask, seed: int) -> tuple[int, ...]:
    return FocusedPlanner().solve(level.make_world(seed), level.rule, unit_cost).plan().path.controls


def carry_out(level: babyai.BabyAITask, seed: int, controls: tuple[int, ...]) -> int | None:
    """The steps until the verifier of the real environment says success, None if it does not."""
    simulator = level.make_simulator(seed)
    for step, control in enumerate(controls, start=1):
        if simulator.step(control).ended:
            return step if simulator.succeeded else None
    return None


def follow_bot(level: babyai.BabyAITask, seed: int) -> int | None:
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
