"""Plans in seven levels of BabyAI, against the bot that comes with minigrid.

In each scene, the focused planner plans under the rule of the level's instruction, and the plan is executed in the real
environment until its verifier reports success; minigrid's `BabyAIBot` acts in the same scene. The bot sees only what
the agent sees and explores the rest, while the planner knows the scene: a plan longer than the bot's would be a
mistake. A bot that raises an error or exceeds the level's time limit has failed, and the scene is not compared. A scene
is impossible if the planner has proved that no plan exists: in some scenes of Unlock the key lies behind the door that
it unlocks. Times are CPU times of one plan, with the creation of the scene and without compilation.
"""

import time
from collections.abc import Sequence
from typing import Any

from experiments.harness import Cell, Experiment, Options, Outcome, Results, table_of
from experiments.harness.results import Sections
from wfairl.core.planning.cost import unit_cost
from wfairl.core.planning.plan import UnsatisfiableTaskError
from wfairl.minigrid.environment import make_environment, reset
from wfairl.minigrid.focused import FocusedPlanner
from wfairl.minigrid.focused.focused_search import TooManyNodesMetError
from wfairl.minigrid.tasks import MiniGridTask
from wfairl.runs.task_registry import find_task

LEVELS = ("goto", "pickup-loc", "unblock-pickup", "unlock", "put-next-local", "key-corridor", "boss-level")
SCENES, SCENES_PER_CELL = 500, 50


def cells(options: Options) -> list[Cell]:
    """500 scenes of each level, in parts; a quick look has four of each."""
    levels = options.tasks or tuple(f"babyai-{name}" for name in LEVELS)
    count, part = (4, 4) if options.quick else (SCENES, SCENES_PER_CELL)
    return [
        Cell(f"{level} {first}", plan_and_compare, {"level": level, "first": first, "scenes": part})
        for level in levels
        for first in range(0, count, part)
    ]


def plan_and_compare(level: str, first: int, scenes: int) -> Outcome:
    """Steps of the plan and of the bot in each scene."""
    task = find_task(level)
    assert isinstance(task, MiniGridTask)
    solve(task, 0)  # compiles
    return Outcome([{"scene": seed, **measure_scene(task, seed)} for seed in range(first, first + scenes)])


def measure_scene(level: MiniGridTask, seed: int) -> dict[str, Any]:
    """What became of a scene: steps of the plan and of the bot, None where there are none."""
    begun, outcome, plan = time.process_time(), "planned", None
    try:
        plan = solve(level, seed)
    except UnsatisfiableTaskError:
        outcome = "impossible"
    except TooManyNodesMetError:
        outcome = "given up"
    found = {"outcome": outcome, "ms": 1e3 * (time.process_time() - begun)}
    if plan is None:
        return found
    steps, bot = carry_out(level, seed, plan.path.controls), follow_bot(level, seed)
    return {**found, "steps": steps, "at least": plan.lower_bound, "bot": bot}


def solve(level: MiniGridTask, seed: int) -> Any:
    """The plan of a scene."""
    return FocusedPlanner().solve(level.make_world(seed), level.rule, unit_cost).plan()


def carry_out(level: MiniGridTask, seed: int, controls: Sequence[int]) -> int | None:
    """The steps until the verifier of the real environment says success, None if it does not."""
    simulator = level.make_simulator(seed)
    for step, control in enumerate(controls, start=1):
        if simulator.step(control).ended:
            return step if simulator.succeeded else None
    return None


def follow_bot(level: MiniGridTask, seed: int) -> int | None:
    """The steps that minigrid's bot takes, None if it fails."""
    from minigrid.utils.baby_ai_bot import BabyAIBot

    environment = make_environment(level.environment_id)
    reset(environment, seed)
    control, steps, is_over, reward = None, 0, False, 0.0
    try:
        bot = BabyAIBot(environment)
        while not is_over:
            control = bot.replan(control)
            _, found, terminated, truncated, _ = environment.step(control)
            steps, is_over, reward = steps + 1, terminated or truncated, float(found)
    except Exception:  # the bot fails in ways of its own
        return None
    return steps if reward > 0 else None


def sections(results: Results) -> Sections:
    """One line for each level."""
    frame = results.table
    both = frame.dropna(subset=["steps", "bot"])
    by_level, compared = frame.groupby("level", sort=False), both.groupby("level", sort=False)
    shown = {
        "scenes": by_level.size(),
        "impossible": by_level.outcome.agg(lambda some: int((some == "impossible").sum())),
        "given up": by_level.outcome.agg(lambda some: int((some == "given up").sum())),
        "accepted": by_level.steps.count(),
        "proven optimal": (frame.steps <= frame["at least"]).groupby(frame.level, sort=False).sum(),
        "bot succeeded": by_level.bot.count(),
        "shorter": (both.steps < both.bot).groupby(both.level, sort=False).sum(),
        "longer": (both.steps > both.bot).groupby(both.level, sort=False).sum(),
        "mean steps": compared.steps.mean(),
        "mean steps of the bot": compared.bot.mean(),
        "median ms": by_level.ms.median(),
        "largest ms": by_level.ms.max(),
    }
    return {"Results": [table_of(type(frame)(shown), "Plans beside the bot's episodes.", "level")]}


BABYAI_EXPERIMENT = Experiment(
    name="babyai",
    title="Plans in BabyAI",
    summary="The focused planner against the bot that comes with minigrid, in seven levels",
    cells=cells,
    sections=sections,
    quick="four scenes of each level",
    options=("tasks",),
)
