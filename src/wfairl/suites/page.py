"""The page of a suite: the tables with ours beside published figures, episodes to watch, the figures."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from wfairl import __version__
from wfairl.evaluation.evaluate import episode_rng
from wfairl.evaluation.policies import policy_title
from wfairl.methods import CHOSEN
from wfairl.report.blocks import Command, Facts, KeyFigure, KeyFigures, figure_of, prose
from wfairl.report.page import Block, Page, Section
from wfairl.report.player import EpisodePlayer
from wfairl.report.recording import record_episode
from wfairl.report.tables import Column, Table, TableCell
from wfairl.report.text import Code, Text, counted, number, with_error
from wfairl.suites.data_results import DataResults
from wfairl.suites.figures import Figures, FigureSource, describe_data
from wfairl.suites.metrics import METRICS
from wfairl.suites.reproduction import Reproduction, TextTable
from wfairl.suites.results import Row
from wfairl.suites.scope import changed_settings, included
from wfairl.suites.suite import Protocol, find_suite
from wfairl.suites.tables import ABSENT, Tables
from wfairl.worlds.registry import find_task

PLAYED_SCENES = 2


def reproduction_page(tables: Tables, figures: Figures, directory: Path) -> Page:
    """The page of a suite of experiments."""
    suite = tables.suite
    beside = f", with our figures beside those of {suite.source}" if suite.source else ""
    return _page(
        tables,
        f"{suite.summary}. Here: {included(tables.protocol)}{beside}.",
        *(_metric_sections(tables, figures) if suite.metrics else [_returns_section(tables, figures)]),
        *_player_sections(FigureSource(tables, directory)),
        *([_automata_section(tables, figures)] if tables.automata and not suite.metrics else []),
        _figures_section("What was learned", ("trajectory", "unseen-word", "policies"), figures),
        _figures_section("The cost", _starting(figures, "costs-"), figures),
        _figures_section("Training", ("training", *_starting(figures, "demonstrations-")), figures),
        _figures_section("The tasks", ("environments",), figures),
        _provenance_section(tables, *_protocol_facts(tables.protocol)),
    )


def data_page(results: DataResults, figures: Figures) -> Page:
    """The page of a suite on recorded data."""
    suite, source = results.suite, results.suite.source
    return _page(
        results,
        f"{suite.summary}.",
        Section("Results", (*_blocks(results.text_tables), *_failure_blocks(results))),
        _figures_section("Figures", _starting(figures, ""), figures),
        Section("Protocol, and what may be claimed", (prose(*suite.notes),)),
        _provenance_section(results, ("Data", source.where), ("Licence of the data", source.licence)),
    )


def _page(results: Tables | DataResults, subtitle: str, *sections: Section) -> Page:
    """A page of those sections that have something in them."""
    date = results.provenance["date"]
    return Page(
        title=results.suite.title,
        subtitle=subtitle,
        sections=tuple(section for section in sections if section.blocks),
        notice=results.notice,
        kind=f"wfairl · suite {results.suite.name}",
        footer=f"Made by wfairl {__version__} on {date}. This page is one file and loads nothing else.",
    )


def _metric_sections(tables: Tables, figures: Figures) -> list[Section]:
    """The suite's metrics, and the learned rules beside the true ones."""
    rules = {METRICS[name].title for name in tables.suite.automaton_metrics}
    blocks: dict[bool, list[Block]] = {False: [], True: []}
    for table in tables.metric_tables():
        is_about_rules = any(table.title.lower().startswith(title) for title in rules)
        blocks[is_about_rules].append(table.to_block())
    return [
        Section("Results", (*blocks[False], *_blocks(tables.comparison_tables()), *_failure_blocks(tables))),
        Section("The rules", (*_figure_blocks(_starting(figures, "automaton-"), figures), *blocks[True])),
    ]


def _returns_section(tables: Tables, figures: Figures) -> Section:
    key_figures = tuple(_key_figures(tables))
    blocks: list[Block] = [KeyFigures(key_figures)] if key_figures else []
    blocks += [_returns_table(tables), *_figure_blocks(("returns",), figures)]
    return Section("Returns", (*blocks, *_blocks(tables.comparison_tables()), *_failure_blocks(tables)))


def _blocks(tables: Sequence[TextTable]) -> list[Block]:
    return [table.to_block() for table in tables]


def _failure_blocks(results: Reproduction) -> list[Block]:
    return [prose(("Not computed: ", Code(name), f": {reason}")) for name, reason in results.failures.items()]


def _key_figures(tables: Tables) -> Iterator[KeyFigure]:
    """The first entry on each task, learned from the first data set."""
    data, entry = tables.protocol.data_sets[0], tables.protocol.methods[0]
    title = tables.suite.entries[entry].title
    for task in tables.protocol.tasks:
        row, optimal = tables.row(task, data, entry), tables.row(task, "", "optimal")
        if row is not None and optimal is not None:
            best = policy_title("optimal", find_task(task))
            note: Text = (f"{task}, from {data}; {best} ", number(optimal.mean_return))
            yield KeyFigure(f"{title} on {find_task(task).title}", number(row.mean_return), note, leading=True)


def _returns_table(tables: Tables) -> Table:
    protocol, best, source = tables.protocol, _best(tables), tables.suite.source
    beside = f"; the figure of {source} below it" if source else ""
    return Table(
        _columns(protocol),
        tuple(
            (f"\N{EM SPACE}{title}" if is_variant else title, *(_return_cell(row, best, tables) for row in rows))
            for title, is_variant, rows in tables.return_lines()
        ),
        f"Mean return on {counted(protocol.test_scenes, 'test scene')} ± its standard error over scenes and"
        f" {counted(protocol.seeds, 'training seed')}{beside}. The best that was learned from a data set"
        " stands out.",
    )


def _columns(protocol: Protocol) -> tuple[Column, ...]:
    return (Column(""), *(Column(find_task(task).title, "right") for task in protocol.tasks))


def _return_cell(row: Row | None, best: Sequence[Row], tables: Tables) -> TableCell:
    if row is None:
        return TableCell(ABSENT)
    source = tables.suite.source.removeprefix("the ")
    note: Text = "" if row.published is None else (f"{source} ", number(row.published))
    return TableCell(with_error(row.mean_return, tables.error_of(row)), note, row in best)


def _best(tables: Tables) -> list[Row]:
    """The best rows of each task and data set, including those of variants."""
    protocol = tables.protocol
    best_rows = []
    for task in protocol.tasks:
        for data in protocol.data_sets:
            rows = [
                row
                for method in protocol.methods
                for variant in (CHOSEN, *tables.variants(method, data))
                if (row := tables.row(task, data, method, variant)) is not None
            ]
            best = max((row.mean_return for row in rows), default=0.0)
            best_rows += [row for row in rows if math.isclose(row.mean_return, best)]
    return best_rows


def _player_sections(source: FigureSource) -> list[Section]:
    """One player per task: the policy that every method learned, in the same scenes."""
    data, played, sections = source.noisy, source.suite.played, []
    for task in source.protocol.tasks:
        if played is not None and task not in played:
            continue
        recordings = [
            replace(record_episode(find_task(task), policy, seed, episode_rng(seed)), policy=name)
            for name, policy in source.policies(task, data).items()
            for seed in source.protocol.test_seeds[:PLAYED_SCENES]
        ]
        words = (
            f"Episodes of every method, learned from {describe_data(data)}, in the same scenes: what it saw, how likely"
        )
        words += " each control was, and for those that plan, where their automaton stood."
        sections.append(Section(f"Watch {find_task(task).title}", (prose(words), EpisodePlayer(tuple(recordings)))))
    return sections


def _automata_section(tables: Tables, figures: Figures) -> Section:
    protocol, source = tables.protocol, tables.suite.source.removeprefix("the ")

    def cell(task: str, data: str) -> TableCell:
        ours, published = tables.automaton_texts(task, data)
        return TableCell(ours, f"{source} {published}" if published else "")

    table = Table(
        _columns(protocol),
        tuple((f"from {data}", *(cell(task, data) for task in protocol.tasks)) for data in protocol.data_sets),
        "Rank / rows / cols of the weighted automaton of each training seed: those of the data, nothing cut off.",
    )
    return Section("Automata", (table, *_figure_blocks(_starting(figures, "automaton-"), figures)))


def _figures_section(title: str, names: Sequence[str], figures: Figures) -> Section:
    return Section(title, tuple(_figure_blocks(names, figures)))


def _figure_blocks(names: Sequence[str], figures: Figures) -> Iterator[Block]:
    """The figures of these names; or, for one that could not be drawn, a sentence that says why."""
    drawn = {figure.name: figure for figure in figures.drawn}
    for name in names:
        if name in drawn:
            yield figure_of(drawn[name])
        elif name in figures.missing:
            yield prose(figures.missing[name])


def _starting(figures: Figures, prefix: str) -> tuple[str, ...]:
    names = (*(figure.name for figure in figures.drawn), *figures.missing)
    return tuple(name for name in names if name.startswith(prefix))


def _provenance_section(results: Reproduction, *facts: tuple[str, Text]) -> Section:
    provenance = results.provenance
    text = "Started again, the command computes only what is missing, and ends with the same tables:"
    system = (("Date", provenance["date"]), ("Machine", provenance["machine"]), *provenance["versions"].items())
    return Section("How it was made", (prose(text), Command(provenance["command"]), Facts((*facts, *system))))


def _protocol_facts(protocol: Protocol) -> list[tuple[str, Text]]:
    """Scenes, seeds and demonstrations; and for each method the settings that are not its defaults, if any."""
    settings: dict[str, list[str]] = {}
    entries = find_suite(protocol.suite).entries
    for setting in changed_settings(protocol):
        settings.setdefault(entries[setting.method].title, []).append(setting.text)
    return [
        ("Test scenes", f"{protocol.test_seeds[0]} to {protocol.test_seeds[-1]}"),
        ("Training seeds", number(protocol.seeds)),
        ("Demonstrations", f"{protocol.successes} successes, {protocol.failures} failures"),
        *((method, ", ".join(changed)) for method, changed in settings.items()),
    ]
