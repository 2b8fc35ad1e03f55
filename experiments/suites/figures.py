"""The figures of a reproduction, made from its results: the paper's, and those that it lacks."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from experiments.figures.automata import draw_automata, draw_automaton
from experiments.figures.curves import draw_curves, read_history
from experiments.figures.environments import draw_environments
from experiments.figures.policies import draw_policies
from experiments.figures.returns import Point, ReturnRow, draw_demonstration_curve, draw_returns
from experiments.figures.trajectory import draw_trajectory
from experiments.figures.unseen_word import NoUnseenWordError, draw_unseen_word, find_unseen_word, learn_from_fewer
from experiments.suites.cell import stored_result
from experiments.suites.directory import demonstrations_file, run_directory
from experiments.suites.metrics import METRICS, probe_labels
from experiments.suites.results import Row, best_variants
from experiments.suites.scope import is_comparable
from experiments.suites.suite import REFERENCES, Protocol, Suite
from experiments.suites.tables import Tables
from wfairl.core.automata.guarded import GuardedAutomaton, restrict
from wfairl.core.demonstrations import load
from wfairl.core.planning import Policy, expert_policy
from wfairl.core.planning.cost import true_cost
from wfairl.core.runs.methods import CHOSEN, find_method, load_policy
from wfairl.core.runs.run_directory import Run, load_run
from wfairl.core.support.errors import BadInputError, WfairlError
from wfairl.core.worlds.task_registry import find_task
from wfairl.pages.captioned_figure import CaptionedFigure
from wfairl.pages.cost_maps import draw_cost_maps
from wfairl.pages.preference import NoPreferenceError, check_preference
from wfairl.pages.text import counted

SHOWN_SEED = 0
"""The training seed whose runs the figures show."""


@dataclass(frozen=True)
class Figures:
    """The figures, and for each that could not be drawn, by its name, a sentence that says why."""

    drawn: tuple[CaptionedFigure, ...]
    missing: dict[str, str]


def draw_figures(tables: Tables, directory: Path) -> Figures:
    """Draw everything that the results allow."""
    drawn, missing = [], {}
    for name, draw in _figures(FigureSource(tables, directory)).items():
        try:
            drawn.append(draw(name))
        except NoUnseenWordError as error:
            missing[name] = f"No scene shows an agent that does not know the word of the expert: {error.reason}."
        except NoPreferenceError as error:
            missing[name] = f"There are no maps of the cost of {name.removeprefix('costs-')}: {error}."
        except WfairlError as error:
            missing[name] = f"There is no figure {name}: {str(error).rstrip('.')}."
    return Figures(tuple(drawn), missing)


@dataclass(frozen=True)
class FigureSource:
    """What figures are drawn from: the tables, and the runs behind them."""

    tables: Tables
    directory: Path

    @property
    def protocol(self) -> Protocol:
        """What was computed."""
        return self.tables.protocol

    @property
    def suite(self) -> Suite:
        """What it is a protocol of."""
        return self.tables.suite

    def planner(self) -> str | None:
        """The first entry whose runs hold an automaton and a cost."""
        for entry in self.protocol.methods:
            method = find_method(self.suite.entries[entry].method)
            if method.learns_cost and method.needs_task_model:
                return entry
        return None

    @property
    def noisy(self) -> str:
        """The data set of the highest temperature that most entries learn from."""
        sets, entries = self.suite.data_sets, [self.suite.entries[one] for one in self.protocol.methods]

        def rank(data: str) -> tuple[float, int]:
            return sets[data].temperature, sum(entry.learns_from(data) for entry in entries)

        return max(self.protocol.data_sets, key=rank)

    @property
    def scene(self) -> int:
        """The test scene that figures show."""
        return self.protocol.test_seeds[0]

    def run_directory(self, task: str, data: str, method: str) -> Path:
        """The directory of a run, of the method's best variant.

        Raises:
            BadInputError: it was not computed.
        """
        cells = [
            cell
            for cell in self.suite.cells(self.protocol)
            if (cell.task, cell.data, cell.method, cell.seed, cell.successes)
            == (task, data, method, SHOWN_SEED, self.protocol.successes)
        ]
        results = [stored_result(cell, self.protocol, self.directory) for cell in cells]
        best = best_variants([result for result in results if result is not None])
        if not best:
            raise BadInputError(f"{method} has not been computed for {task} {data}")
        return run_directory(self.directory, best[0].cell, self.protocol)

    def run(self, task: str, data: str) -> Run:
        """The automaton and the cost that were learned."""
        entry = self.planner()
        if entry is None:
            raise BadInputError("no method with an automaton was computed")
        return load_run(self.run_directory(task, data, entry))

    def policies(self, task: str, data: str) -> dict[str, Policy]:
        """The learned policies of a task that were computed, by the title of the method, and the expert."""
        policies: dict[str, Policy] = {}
        for method in self.protocol.methods:
            try:
                policies[self.tables.title(method)] = load_policy(
                    self.run_directory(task, data, method), find_task(task)
                )
            except WfairlError:
                continue  # it is missing in the table too
        return {**policies, "expert": expert_policy(find_task(task), self.suite.data_sets[data].temperature)}


def _figures(source: FigureSource) -> dict[str, Callable[[str], CaptionedFigure]]:
    """How to draw each figure, by its name, in the order of the report."""
    if source.suite.metrics:
        return _figures_of_rules_and_costs(source)
    protocol = source.protocol
    tasks = protocol.tasks
    exact, noisy = protocol.data_sets[0], source.noisy
    comparable = is_comparable(protocol)
    figures: dict[str, Callable[[str], CaptionedFigure]] = {
        "environments": partial(draw_environments, [find_task(task) for task in tasks], source.scene),
        "returns": partial(draw_returns, _return_rows(source), comparable=comparable),
        "policies": partial(_policies, source, "multiroom" if "multiroom" in tasks else tasks[0], noisy),
    }
    if source.planner() is not None:
        figures |= {
            "trajectory": partial(_trajectory, source, tasks[0], noisy),  # as the automaton beside it
            "unseen-word": partial(_unseen_word, source, tasks[-1], exact),
            "training": partial(_training, source, noisy),
        }
        figures |= {f"automaton-{task}": partial(_automaton, source, task, noisy) for task in tasks}
        figures |= {f"costs-{task}": partial(_costs, source, task, noisy) for task in tasks}
    if protocol.fewer:
        curves = [task for task in protocol.fewer_tasks if task in tasks]
        figures |= {f"demonstrations-{task}": partial(_curve, source, task) for task in curves}
    return figures


def _figures_of_rules_and_costs(source: FigureSource) -> dict[str, Callable[[str], CaptionedFigure]]:
    """How to draw each figure of a suite that measures rules and costs."""
    protocol, data = source.protocol, source.noisy
    priced = [task for task in protocol.tasks if find_task(task).true_cost is not None]
    ruled = [task for task in protocol.tasks if task not in priced]
    figures: dict[str, Callable[[str], CaptionedFigure]] = {
        "environments": partial(draw_environments, [find_task(task) for task in protocol.tasks], source.scene)
    }
    if source.planner() is not None:
        figures |= {f"automaton-{task}": partial(_automaton_beside_rule, source, task, data) for task in ruled}
        for task in priced:
            figures[f"costs-{task}"] = partial(_costs, source, task, data)
            figures[f"costs-{task}-true"] = partial(_true_costs, source, task)
    for task in protocol.tasks:
        if protocol.fewer and task in protocol.fewer_tasks:
            metric = "regret" if task in priced else "kept"
            figures[f"demonstrations-{task}"] = partial(_metric_curve, source, task, metric)
    return figures


def _automaton_beside_rule(source: FigureSource, task: str, data: str, name: str) -> CaptionedFigure:
    rule = find_task(task).rule
    if isinstance(rule, GuardedAutomaton):
        rule = restrict(rule, {label for probe in probe_labels(task) for label in probe})
    drawn = draw_automata(source.run(task, data).task_model, rule, name)
    return _with_note(drawn, f"The demonstrations are those of {describe_data(data, task)}.")


def _true_costs(source: FigureSource, task_name: str, name: str) -> CaptionedFigure:
    task = find_task(task_name)
    return draw_cost_maps(task, source.scene, task.rule, true_cost(task), name=name, kind="true")


def _metric_curve(source: FigureSource, task: str, metric: str, name: str) -> CaptionedFigure:
    values = {"kept": lambda row: row.success_rate, "regret": lambda row: row.regret}
    points = [
        Point(source.tables.title(row.method), row.successes, value, 0.0)
        for row in _curve_rows(source, task)
        if (value := values[metric](row)) is not None
    ]
    drawn = draw_demonstration_curve(points, title=task, name=name, metric=METRICS[metric].title)
    return _with_note(drawn, _curve_note(source.protocol))


def _trajectory(source: FigureSource, task: str, data: str, name: str) -> CaptionedFigure:
    run = source.run(task, data)
    drawn = draw_trajectory(find_task(task), source.scene, run.task_model.finite, run.cost.as_cost(), name)
    return _with_note(drawn, f"Automaton and cost were learned from {describe_data(data, task)}.")


def _automaton(source: FigureSource, task: str, data: str, name: str) -> CaptionedFigure:
    drawn = draw_automaton(source.run(task, data).task_model, name)
    return _with_note(drawn, f"The words are those of {describe_data(data, task)}.")


def _costs(source: FigureSource, task: str, data: str, name: str) -> CaptionedFigure:
    run = source.run(task, data)
    automaton, cost = run.task_model.finite, run.cost.as_cost()
    check_preference(find_task(task), source.protocol.test_seeds, automaton, cost)
    drawn = draw_cost_maps(find_task(task), source.scene, automaton, cost, name=name)
    return _with_note(drawn, f"Automaton and cost were learned from {describe_data(data, task)}.")


def _unseen_word(source: FigureSource, task: str, data: str, name: str) -> CaptionedFigure:
    dataset = load(demonstrations_file(source.directory, task, data, SHOWN_SEED, source.protocol))
    pair = find_unseen_word(find_task(task), learn_from_fewer(dataset), source.protocol.test_seeds)
    drawn = draw_unseen_word(find_task(task), pair, name)
    return _with_note(drawn, f"These demonstrations are the first of {describe_data(data, task)}.")


def _policies(source: FigureSource, task: str, data: str, name: str) -> CaptionedFigure:
    drawn = draw_policies(find_task(task), source.policies(task, data), source.scene, name=name)
    return _with_note(drawn, f"All that learned did so from {describe_data(data, task)}.")


def _training(source: FigureSource, data: str, name: str) -> CaptionedFigure:
    histories = {
        f"{source.tables.title(method)}, {task}": history
        for method in source.protocol.methods
        for task in source.protocol.tasks
        if (history := read_history(source.run_directory(task, data, method)))
    }
    return _with_note(draw_curves(histories, name), f"All learned from {describe_data(data)}.")


def describe_data(data: str, task: str = "") -> str:
    """The training data of the runs on the page, as text."""
    return f"data set {data}{f' of {task}' if task else ''}, training seed {SHOWN_SEED}"


def _with_note(drawn: CaptionedFigure, note: str) -> CaptionedFigure:
    return replace(drawn, caption=f"{drawn.caption} {note}")


def _return_rows(source: FigureSource) -> list[ReturnRow]:
    tables, protocol = source.tables, source.protocol
    bars = [("", method) for method in REFERENCES]
    bars += [(data, method) for data in protocol.data_sets for method in protocol.methods]
    rows = [tables.row(task, data, method) for task in protocol.tasks for data, method in bars]
    titles = {method: method if method in REFERENCES else tables.title(method) for _, method in bars}  # short ones
    return [
        ReturnRow(row.task, row.data, titles[row.method], row.mean_return, row.standard_error, row.published)
        for row in rows
        if row is not None
    ]


def _curve(source: FigureSource, task: str, name: str) -> CaptionedFigure:
    tables = source.tables
    points = [
        Point(tables.title(row.method), row.successes, row.mean_return, row.standard_error)
        for row in _curve_rows(source, task)
    ]
    references = (tables.row(task, "", policy) for policy in ("optimal", "expert"))
    optimal, expert = (None if row is None else row.mean_return for row in references)
    return _with_note(draw_demonstration_curve(points, optimal, expert, task, name), _curve_note(source.protocol))


def _curve_rows(source: FigureSource, task: str) -> list[Row]:
    """The rows of a task for each number of demonstrations."""
    protocol = source.protocol
    return [
        row
        for row in source.tables.rows
        if (row.task, row.data, row.variant) == (task, protocol.fewer_data, CHOSEN)
        and row.method in protocol.fewer_methods
    ]


def _curve_note(protocol: Protocol) -> str:
    seeds = counted(protocol.seeds, "training seed")
    return f"The demonstrations are of data set {protocol.fewer_data}, the means over {seeds}."
