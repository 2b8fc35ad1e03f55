"""The page of a comparison of methods: its tables, episodes to watch, and figures of what was learned."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.figures.automata import draw_automata, draw_automaton
from experiments.figures.curves import draw_curves, read_history
from experiments.figures.environments import draw_environments
from experiments.figures.policies import draw_policies
from experiments.figures.returns import Point, ReturnRow, draw_demonstration_curve, draw_returns
from experiments.figures.trajectory import draw_trajectory
from experiments.figures.unseen_word import NoUnseenWordError, draw_unseen_word, find_unseen_word, learn_from_fewer
from experiments.harness.cell import Cell
from experiments.harness.results import Results, Sections
from experiments.method_comparison.measures import MEASURES, probe_labels
from experiments.method_comparison.protocol import MethodComparison, Protocol
from experiments.method_comparison.tables import ComparisonTables
from experiments.method_comparison.training import DEMONSTRATIONS
from wfairl.core.automata.guarded import GuardedAutomaton, restrict
from wfairl.core.demonstrations import load
from wfairl.core.planning import Policy, expert_policy
from wfairl.core.planning.cost import true_cost
from wfairl.core.planning.policies import REFERENCES, policy_title
from wfairl.core.runs.evaluation import episode_rng
from wfairl.core.runs.methods import CHOSEN, find_method, load_policy
from wfairl.core.runs.run_directory import Run, load_run
from wfairl.core.support.errors import BadInputError, WfairlError
from wfairl.core.worlds.task_registry import find_task
from wfairl.pages.blocks import Facts, KeyFigure, KeyFigures, prose
from wfairl.pages.captioned_figure import CaptionedFigure
from wfairl.pages.cost_maps import draw_cost_maps
from wfairl.pages.page import Block
from wfairl.pages.player import EpisodePlayer, record_episode
from wfairl.pages.preference import NoPreferenceError, check_preference
from wfairl.pages.text import Text, counted, number

SHOWN_SEED = 0
"""The training seed whose runs the figures show."""

PLAYED_SCENES = 2

Parts = list[Block]


def sections_of(comparison: MethodComparison, results: Results) -> Sections:
    """The sections of the page."""
    tables = ComparisonTables(comparison, results)
    figures = ComparisonFigures(tables)
    shown = _measured_sections(tables, figures) if comparison.measures else _return_sections(tables, figures)
    return {**shown, "Training": figures.training(), "The tasks": [*figures.environments(), _protocol(tables.protocol)]}


def _return_sections(tables: ComparisonTables, figures: "ComparisonFigures") -> Sections:
    returns = tables.returns()
    returns = replace(returns, caption=f"{returns.caption} The best that was learned from a data set stands out.")
    key_figures, automata = tuple(_key_figures(tables)), tables.automata()
    return {
        "Returns": [
            *([KeyFigures(key_figures)] if key_figures else []),
            returns,
            *figures.returns(),
            *tables.comparisons(),
        ],
        **figures.players(),
        "Automata": [automata, *figures.automata()] if automata is not None else [],
        "What was learned": figures.learned(),
        "The cost": figures.costs(),
    }


def _measured_sections(tables: ComparisonTables, figures: "ComparisonFigures") -> Sections:
    return {
        "Results": [*tables.acting(), *tables.comparisons()],
        "The rules": [*figures.automata_beside_rules(), *tables.rules()],
        **figures.players(),
        "The cost": figures.costs(),
    }


def _key_figures(tables: ComparisonTables) -> Iterator[KeyFigure]:
    """The first entry on each task, learned from the first data set."""
    data, (entry, *_) = next(iter(tables.protocol.data_sets)), tables.protocol.entries
    lines = tables.main[tables.main.acting == CHOSEN].set_index(["task", "data", "method"]).mean_return
    for task in tables.protocol.tasks:
        if (task, data, entry) in lines and (task, "", "optimal") in lines:
            best = policy_title("optimal", find_task(task))
            note: Text = (f"{task}, from {data}; {best} ", number(lines[task, "", "optimal"]))
            title = f"{tables.title(entry)} on {find_task(task).title}"
            yield KeyFigure(title, number(lines[task, data, entry]), note, leading=True)


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

    @cached_property
    def noisy(self) -> str:
        """The data set of the highest temperature that most entries learn from."""
        entries = self.protocol.entries.values()

        def rank(data: str) -> tuple[float, int]:
            return self.protocol.data_sets[data].temperature, sum(entry.learns_from(data) for entry in entries)

        return max(self.protocol.data_sets, key=rank)

    @property
    def scene(self) -> int:
        """The test scene that figures show."""
        return self.protocol.test_seeds[0]

    def cell(self, task: str, data: str, method: str) -> Cell:
        """The cell of a training, of the best variant.

        Raises:
            BadInputError: it was not computed.
        """
        wanted = {
            "task": task,
            "data": data,
            "method": method,
            "seed": SHOWN_SEED,
            "successes": self.protocol.successes,
        }
        trials = self.tables.trials[self.tables.trials.represents]
        found = trials[(trials[list(wanted)] == pd.Series(wanted)).all(axis=1)].cell
        if found.empty:
            raise BadInputError(f"{method} has not been computed for {task} {data}")
        return self.tables.results.cells[found.iloc[0]]

    def directory(self, task: str, data: str, method: str) -> Path:
        """The directory of the run of a training; errors as in `cell`."""
        return self.tables.results.place(self.cell(task, data, method))

    def run(self, task: str, data: str) -> Run:
        """The automaton and the cost that were learned."""
        if self.planner is None:
            raise BadInputError("no method with an automaton was computed")
        return load_run(self.directory(task, data, self.planner))

    def policies(self, task: str) -> dict[str, Policy]:
        """The learned policies of a task that were computed, by the title of the method, and the expert."""
        policies: dict[str, Policy] = {}
        for method in self.protocol.entries:
            try:
                place = self.directory(task, self.noisy, method)
                policies[self.tables.title(method)] = load_policy(place, find_task(task))
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
                f"Episodes of every method, learned from {_described(self.noisy)}, in the same scenes: what it saw, how"
                " likely each control was, and for those that plan, where their automaton stood."
            )
            sections[f"Watch {find_task(task).title}"] = [prose(words), EpisodePlayer(tuple(recordings))]
        return sections

    def environments(self) -> Parts:
        """A scene of every task."""
        tasks = [find_task(task) for task in self.protocol.tasks]
        return [_drawn("environments", lambda: draw_environments(tasks, self.scene))]

    def returns(self) -> Parts:
        """The returns, ours beside the published ones."""
        lines = self.tables.main[self.tables.main.acting == CHOSEN].set_index(["task", "data", "method"])
        bars = [("", method) for method in REFERENCES]
        bars += [(data, method) for data in self.protocol.data_sets for method in self.protocol.entries]
        keys = [(task, *bar) for task in self.protocol.tasks for bar in bars if (task, *bar) in lines.index]
        titles = {**{method: method for method in REFERENCES}, **{one: self.tables.title(one) for _, one in bars[3:]}}
        rows = [
            ReturnRow(task, data, titles[method], line.mean_return, line.standard_error, _known(line.published))
            for (task, data, method), line in ((key, lines.loc[key]) for key in keys)
        ]
        options = self.tables.results.options
        comparable = not (options.quick or options.seeds or options.cost)
        return [_drawn("returns", lambda: draw_returns(rows, comparable=comparable))]

    def automata(self) -> Parts:
        """The automaton of every task."""
        note = "The words are those of {}."
        return [
            _drawn(
                f"automaton-{task}",
                partial(self._automaton, task),
                note.format(_described(self.noisy, task)),
            )
            for task in self._planned_tasks()
        ]

    def _automaton(self, task: str) -> CaptionedFigure:
        return draw_automaton(self.run(task, self.noisy).task_model, f"automaton-{task}")

    def automata_beside_rules(self) -> Parts:
        """The automaton of every task without a true cost of its own, beside its rule."""
        note = "The demonstrations are those of {}."

        def draw(task: str) -> CaptionedFigure:
            rule = find_task(task).rule
            if isinstance(rule, GuardedAutomaton):
                rule = restrict(rule, {label for probe in probe_labels(task) for label in probe})
            return draw_automata(self.run(task, self.noisy).task_model, rule, f"automaton-{task}")

        return [
            _drawn(f"automaton-{task}", partial(draw, task), note.format(_described(self.noisy, task)))
            for task in self._planned_tasks()
            if find_task(task).true_cost is None
        ]

    def learned(self) -> Parts:
        """The paper's figures: a planned path, the cost of knowing few words, the policies in a critical state."""
        tasks, exact = self.protocol.tasks, next(iter(self.protocol.data_sets))
        shown = "multiroom" if "multiroom" in tasks else tasks[0]
        policies = _drawn(
            "policies",
            lambda: draw_policies(find_task(shown), self.policies(shown), self.scene),
            f"All that learned did so from {_described(self.noisy, shown)}.",
        )
        if self.planner is None:
            return [policies]
        first, last = tasks[0], tasks[-1]

        def trajectory() -> CaptionedFigure:
            run = self.run(first, self.noisy)  # as the automaton beside it
            return draw_trajectory(find_task(first), self.scene, run.task_model.finite, run.cost.as_cost())

        def unseen_word() -> CaptionedFigure:
            place = self.tables.results.place(self.cell(last, exact, self.planner or "").needs["demonstrations"])
            automata = learn_from_fewer(load(place / DEMONSTRATIONS))
            return draw_unseen_word(
                find_task(last), find_unseen_word(find_task(last), automata, self.protocol.test_seeds)
            )

        return [
            _drawn("trajectory", trajectory, f"Automaton and cost were learned from {_described(self.noisy, first)}."),
            _drawn("unseen-word", unseen_word, f"These demonstrations are the first of {_described(exact, last)}."),
            policies,
        ]

    def costs(self) -> Parts:
        """Maps of the learned cost; beside the true one where a task has one of its own."""
        measured, parts = self.tables.comparison.measures, Parts()
        for task in self._planned_tasks():
            true = find_task(task).true_cost
            if not measured or true is not None:
                note = f"Automaton and cost were learned from {_described(self.noisy, task)}."
                parts.append(_drawn(f"costs-{task}", partial(self._cost_maps, task), note))
            if measured and true is not None:
                parts.append(_drawn(f"costs-{task}-true", partial(self._true_cost_maps, task)))
        return parts

    def _cost_maps(self, task: str) -> CaptionedFigure:
        run = self.run(task, self.noisy)
        automaton, cost = run.task_model.finite, run.cost.as_cost()
        check_preference(find_task(task), self.protocol.test_seeds, automaton, cost)
        return draw_cost_maps(find_task(task), self.scene, automaton, cost, name=f"costs-{task}")

    def _true_cost_maps(self, name: str) -> CaptionedFigure:
        task = find_task(name)
        return draw_cost_maps(task, self.scene, task.rule, true_cost(task), name=f"costs-{name}-true", kind="true")

    def _planned_tasks(self) -> tuple[str, ...]:
        return () if self.planner is None else self.protocol.tasks

    def training(self) -> Parts:
        """The losses of every training, and the curves over the number of demonstrations."""
        parts, measured = Parts(), self.tables.comparison.measures
        if self.planner is not None and not measured:
            parts.append(_drawn("training", self._losses, f"All learned from {_described(self.noisy)}."))
        curve = self.protocol.curve
        for task in self.protocol.tasks if curve is not None else ():
            if curve is not None and task in curve.tasks:
                seeds = counted(self.protocol.seeds, "training seed")
                note = f"The demonstrations are of data set {curve.data}, the means over {seeds}."
                parts.append(_drawn(f"demonstrations-{task}", partial(self._curve, task), note))
        return parts

    def _losses(self) -> CaptionedFigure:
        return draw_curves(
            {
                f"{self.tables.title(method)}, {task}": history
                for method in self.protocol.entries
                for task in self.protocol.tasks
                if (history := read_history(self.directory(task, self.noisy, method)))
            }
        )

    def _curve(self, task: str) -> CaptionedFigure:
        lines, name = self.tables.curve_lines, f"demonstrations-{task}"
        lines = lines[lines.task == task]
        if not self.tables.comparison.measures:
            points = self._points(lines, "mean_return", lines.standard_error)
            main = self.tables.main[(self.tables.main.acting == CHOSEN) & (self.tables.main.task == task)]
            levels = main.set_index("method").mean_return
            return draw_demonstration_curve(points, levels.get("optimal"), levels.get("expert"), task, name)
        measure = "regret" if find_task(task).true_cost is not None else "kept"
        column = {"regret": "regret", "kept": "success_rate"}[measure]
        points = self._points(lines[lines[column].notna()], column, pd.Series(0.0, lines.index))
        return draw_demonstration_curve(points, title=task, name=name, metric=MEASURES[measure].title)

    def _points(self, lines: pd.DataFrame, column: str, errors: Mapping[Any, float]) -> Sequence[Point]:
        return [
            Point(self.tables.title(line["method"]), int(line["successes"]), float(line[column]), float(errors[index]))
            for index, line in lines.iterrows()
        ]


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _described(data: str, task: str = "") -> str:
    """The training data of the runs on the page, as text."""
    return f"data set {data}{f' of {task}' if task else ''}, training seed {SHOWN_SEED}"


def _drawn(name: str, draw: Callable[[], CaptionedFigure], note: str = "") -> Block:
    """A figure with a note below its caption; or, if it cannot be drawn, a sentence that says why."""
    try:
        drawn = draw()
        return replace(drawn, caption=f"{drawn.caption} {note}".strip())
    except NoUnseenWordError as error:
        return prose(f"No scene shows an agent that does not know the word of the expert: {error.reason}.")
    except NoPreferenceError as error:
        return prose(f"There are no maps of the cost of {name.removeprefix('costs-')}: {error}.")
    except WfairlError as error:
        return prose(f"There is no figure {name}: {str(error).rstrip('.')}.")
