"""The page of a comparison of methods: its tables, episodes to watch, and figures of what was learned."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from experiments.harness.results import Results, Sections
from experiments.method_comparison.protocol import MethodComparison, Protocol
from experiments.method_comparison.tables import ComparisonTables
from wfairl.core.planning import Policy, expert_policy
from wfairl.core.support.errors import BadInputError, WfairlError
from wfairl.pages.blocks import AutomatonDrawing, Facts, automaton_drawing, prose
from wfairl.pages.captioned_figure import CaptionedFigure
from wfairl.pages.cost_maps import draw_cost_maps
from wfairl.pages.page import Block
from wfairl.pages.player import EpisodePlayer, record_episode
from wfairl.pages.preference import NoPreferenceError, check_preference
from wfairl.pages.text import number
from wfairl.runs.evaluation import episode_rng
from wfairl.runs.methods import find_method, load_policy
from wfairl.runs.run_directory import Run, load_run
from wfairl.runs.task_registry import find_task

SHOWN_SEED = 0
"""The training seed whose runs the figures show."""

PLAYED_SCENES = 2

Parts = list[Block]

Drawing = AutomatonDrawing | CaptionedFigure


def sections_of(comparison: MethodComparison, results: Results) -> Sections:
    """The sections of the page."""
    tables = ComparisonTables(comparison, results)
    figures, shown = ComparisonFigures(tables), dict[str, Sequence[Block]]()
    costs = figures.planned_tasks
    if comparison.measures:
        costs = tuple(task for task in costs if find_task(task).true_cost is not None)
        shown = {"Results": tables.acting(), "The rules": [*figures.automata(), *tables.rules()]}
    else:
        shown["Returns"] = [tables.returns()]
        if (automata := tables.automata()) is not None:
            shown["Automata"] = [automata, *figures.automata()]
    shown |= {**figures.players(), "The cost": figures.costs(costs)}
    return {**shown, "Fewer demonstrations": tables.curves(), "The protocol": [_protocol(tables.protocol)]}


def _protocol(protocol: Protocol) -> Facts:
    """Scenes, seeds and demonstrations; and for each entry the settings that are not its method's defaults."""
    changed = {
        entry.title: ", ".join(
            f"{name.replace('_', ' ')} {value} instead of {default or 'the default'}"
            for name, (value, default) in find_method(entry.method).changed_settings(entry.settings).items()
        )
        for entry in protocol.entries.values()
    }
    return Facts(
        (
            ("Test scenes", f"{protocol.test_seeds[0]} to {protocol.test_seeds[-1]}"),
            ("Training seeds", number(protocol.seeds)),
            ("Demonstrations", f"{protocol.successes} successes, {protocol.failures} failures"),
            *((title, text) for title, text in changed.items() if text),
        )
    )


@dataclass(frozen=True, eq=False)
class ComparisonFigures:
    """The figures, from the tables and the runs behind them; one that cannot be drawn is a sentence that says why."""

    tables: ComparisonTables

    @property
    def protocol(self) -> Protocol:
        """What was computed."""
        return self.tables.protocol

    @cached_property
    def planner(self) -> str | None:
        """The first entry whose runs hold an automaton and a cost."""
        methods = {name: find_method(entry.method) for name, entry in self.protocol.entries.items()}
        return next((name for name, one in methods.items() if one.learns_cost and one.needs_task_model), None)

    @property
    def planned_tasks(self) -> tuple[str, ...]:
        """The tasks of which an automaton and a cost were learned."""
        return () if self.planner is None else self.protocol.tasks

    @cached_property
    def noisy(self) -> str:
        """The data set of the highest temperature that most entries learn from."""
        entries = self.protocol.entries.values()

        def rank(data: str) -> tuple[float, int]:
            return self.protocol.data_sets[data].temperature, sum(entry.learns_from(data) for entry in entries)

        return max(self.protocol.data_sets, key=rank)

    def directory(self, task: str, method: str) -> Path:
        """The run of a training on the noisy data; one that was not computed is a `BadInputError`."""
        cell = self.protocol.training(task, self.noisy, method, SHOWN_SEED, self.protocol.successes)
        if cell.name not in self.tables.results.outcomes:
            raise BadInputError(f"{method} has not been computed for {task} {self.noisy}")
        return self.tables.results.place(cell)

    def run(self, task: str) -> Run:
        """The automaton and the cost that were learned from the noisy data."""
        return load_run(self.directory(task, self.planner or ""))

    def policies(self, task: str) -> dict[str, Policy]:
        """The learned policies of a task that were computed, by the title of the method, and the expert."""
        policies: dict[str, Policy] = {}
        for method in self.protocol.entries:
            try:
                policies[self.tables.title(method)] = load_policy(self.directory(task, method), find_task(task))
            except WfairlError:
                continue  # it is missing in the table too
        return {**policies, "expert": expert_policy(find_task(task), self.protocol.data_sets[self.noisy].temperature)}

    def players(self) -> Sections:
        """One player per task: the policy that every method learned, in the same scenes."""
        played, sections = self.tables.comparison.played, dict[str, Parts]()
        for task in self.protocol.tasks if played is None else [one for one in self.protocol.tasks if one in played]:
            recordings = [
                replace(record_episode(find_task(task), policy, seed, episode_rng(seed)), policy=name)
                for name, policy in self.policies(task).items()
                for seed in self.protocol.test_seeds[:PLAYED_SCENES]
            ]
            words = (
                f"Episodes of every method, learned from data set {self.noisy}, training seed {SHOWN_SEED}, in the same"
                " scenes: what it saw, how likely each control was, and for those that plan, where their automaton"
                " stood."
            )
            sections[f"Watch {find_task(task).title}"] = [prose(words), EpisodePlayer(tuple(recordings))]
        return sections

    def automata(self) -> Parts:
        """The automaton of every task."""

        def draw(task: str) -> AutomatonDrawing:
            drawing = automaton_drawing(self.run(task).task_model)
            return replace(drawing, caption=f"The automaton of {task}. {drawing.caption} The words are those of")

        return [self._drawn("automaton", draw, task) for task in self.planned_tasks]

    def costs(self, tasks: Sequence[str]) -> Parts:
        """Maps of the learned cost of tasks."""

        def draw(name: str) -> CaptionedFigure:
            task, run = find_task(name), self.run(name)
            automaton, cost = run.task_model.finite, run.cost
            check_preference(task, self.protocol.test_seeds, automaton, cost)
            maps = draw_cost_maps(task, self.protocol.test_seeds[0], automaton, cost, name=f"costs-{name}")
            return replace(maps, caption=f"{maps.caption} Automaton and cost were learned from")

        return [self._drawn("costs", draw, task) for task in tasks]

    def _drawn(self, name: str, draw: Callable[[str], Drawing], task: str) -> Block:
        """A figure whose caption ends with the data; or, if it cannot be drawn, a sentence that says why."""
        try:
            drawn = draw(task)
        except NoPreferenceError as error:
            return prose(f"There are no maps of the cost of {task}: {error}.")
        except WfairlError as error:
            return prose(f"There is no figure {name}-{task}: {str(error).rstrip('.')}.")
        return replace(drawn, caption=f"{drawn.caption} data set {self.noisy} of {task}, training seed {SHOWN_SEED}.")
