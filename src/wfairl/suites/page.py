"""The page of a suite: the tables with ours beside published figures, the methods at work, the figures."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from wfairl import __version__
from wfairl.evaluation.evaluate import episode_rng
from wfairl.methods import CHOSEN
from wfairl.report.blocks import Command, Facts, Figure, KeyFigure, KeyFigures, prose
from wfairl.report.page import Block, Page, Section
from wfairl.report.player import EpisodePlayer
from wfairl.report.recording import record_episode
from wfairl.report.tables import Column, Table, TableCell
from wfairl.report.text import Code, Text, counted, number, with_error
from wfairl.suites.figures import Figures, Source, taught_by
from wfairl.suites.metrics import METRICS
from wfairl.suites.results import Row
from wfairl.suites.scope import changed_settings, included, shortfall
from wfairl.suites.suite import REFERENCES, Protocol, find_suite
from wfairl.suites.tables import ABSENT, Tables
from wfairl.worlds.registry import find_task

PLAYED_SCENES = 2


def reproduction_page(tables: Tables, figures: Figures, directory: Path) -> Page:
    """The whole page."""
    measured = _metric_sections(tables, figures) if tables.suite.metrics else [_returns_section(tables, figures)]
    sections = (
        *measured,
        *_player_sections(Source(tables, directory)),
        *([_automata_section(tables, figures)] if tables.automata and not tables.suite.metrics else []),
        _figures_section("What was learned", ("trajectory", "unseen-word", "policies"), figures),
        _figures_section("The cost", _starting(figures, "costs-"), figures),
        _figures_section("Training", ("training", *_starting(figures, "demonstrations-")), figures),
        _figures_section("The tasks", ("environments",), figures),
        _making_section(tables),
    )
    return Page(
        title=tables.suite.title,
        subtitle=f"{tables.suite.summary}. Here: {included(tables.protocol)}"
        + (f", with our figures beside those of {tables.suite.source}." if tables.suite.source else "."),
        sections=tuple(section for section in sections if section.blocks),
        notice=shortfall(tables.protocol),
        kind=f"wfairl · suite {tables.suite.name}",
        footer=f"Made by wfairl {__version__} on {tables.made['date']}. This page is one file and loads nothing else.",
    )


def _metric_sections(tables: Tables, figures: Figures) -> list[Section]:
    """What the suite measures, and the rules that were learned beside the true ones."""
    rules = {METRICS[name].title for name in tables.suite.automaton_metrics}
    shown: dict[bool, list[Block]] = {False: [], True: []}
    for table in tables.metric_tables():
        about_rules = any(table.title.lower().startswith(title) for title in rules)
        shown[about_rules].append(table.to_block())
    missing = [prose(("Not computed: ", Code(name), f": {reason}")) for name, reason in tables.failures.items()]
    return [
        Section("Results", (*shown[False], *_comparison_tables(tables), *missing)),
        Section("The rules", (*_pictures(_starting(figures, "automaton-"), figures), *shown[True])),
    ]


def _returns_section(tables: Tables, figures: Figures) -> Section:
    key_figures = tuple(_key_figures(tables))
    blocks: list[Block] = [KeyFigures(key_figures)] if key_figures else []
    blocks += [_returns_table(tables), *_pictures(("returns",), figures), *_comparison_tables(tables)]
    blocks += [prose(("Not computed: ", Code(name), f": {reason}")) for name, reason in tables.failures.items()]
    return Section("Returns", tuple(blocks))


def _comparison_tables(tables: Tables) -> list[Block]:
    return [table.to_block() for table in tables.comparison_tables()]


def _key_figures(tables: Tables) -> Iterable[KeyFigure]:
    """The first entry on each task, learned from the first data set."""
    data, entry = tables.protocol.data_sets[0], tables.protocol.methods[0]
    title = tables.suite.entries[entry].title
    for task in tables.protocol.tasks:
        row, optimal = tables.row(task, data, entry), tables.row(task, "", "optimal")
        if row is not None and optimal is not None:
            note: Text = (f"{task}, from {data}; optimal ", number(optimal.mean_return))
            yield KeyFigure(f"{title} on {find_task(task).title}", number(row.mean_return), note, leading=True)


def _returns_table(tables: Tables) -> Table:
    protocol = tables.protocol
    lines: list[tuple[Text, list[Row | None]]] = [
        (method, [tables.row(task, "", method) for task in protocol.tasks]) for method in REFERENCES
    ]
    for method in protocol.methods:
        for data in filter(tables.suite.entries[method].learns_from, protocol.data_sets):
            lines.append(
                (
                    f"{tables.suite.entries[method].title}, from {data}",
                    [tables.row(task, data, method) for task in protocol.tasks],
                )
            )
            for variant in tables.variants(method, data):
                rows = [tables.row(task, data, method, variant) for task in protocol.tasks]
                lines.append((f"\N{EM SPACE}{variant}", rows))
    best = _best(tables)
    return Table(
        (Column(""), *(Column(find_task(task).title, "right") for task in protocol.tasks)),
        tuple((name, *(_return_cell(row, best, tables) for row in rows)) for name, rows in lines),
        f"Mean return on {counted(protocol.test_scenes, 'test scene')} ± its standard error over scenes and"
        f" {counted(protocol.seeds, 'training seed')}{_beside(tables)}. The best that was learned from a data set"
        " stands out.",
    )


def _beside(tables: Tables) -> str:
    return f"; the figure of {tables.suite.source} below it" if tables.suite.source else ""


def _return_cell(row: Row | None, best: Sequence[Row], tables: Tables) -> TableCell:
    if row is None:
        return TableCell(ABSENT)
    source = tables.suite.source.removeprefix("the ")
    note: Text = "" if row.published is None else (f"{source} ", number(row.published))
    return TableCell(with_error(row.mean_return, tables.error_of(row)), note, row in best)


def _best(tables: Tables) -> list[Row]:
    """The best row of each task and data set, including other ways to act or to train."""
    protocol = tables.protocol
    found = []
    for task in protocol.tasks:
        for data in protocol.data_sets:
            rows = [
                row
                for method in protocol.methods
                for variant in (CHOSEN, *tables.variants(method, data))
                if (row := tables.row(task, data, method, variant)) is not None
            ]
            best = max((row.mean_return for row in rows), default=0.0)
            found += [row for row in rows if math.isclose(row.mean_return, best)]
    return found


def _player_sections(source: Source) -> list[Section]:
    """One player per task: what every method has learned from the last data set, in the same scenes."""
    data = source.noisy
    sections = []
    played = source.suite.played
    for task in source.protocol.tasks:
        if played is not None and task not in played:
            continue
        recordings = [
            replace(record_episode(find_task(task), policy, seed, episode_rng(seed)), policy=name)
            for name, policy in source.policies(task, data).items()
            for seed in source.protocol.test_seeds[:PLAYED_SCENES]
        ]
        words = f"Episodes of every method, learned from {taught_by(data)}, in the same scenes: what it saw, how likely"
        words += " each control was, and for those that plan, where their automaton stood."
        sections.append(Section(f"Watch {find_task(task).title}", (prose(words), EpisodePlayer(tuple(recordings)))))
    return sections


def _automata_section(tables: Tables, figures: Figures) -> Section:
    protocol = tables.protocol
    source = tables.suite.source.removeprefix("the ")
    rows: list[tuple[TableCell | Text, ...]] = []
    for data in protocol.data_sets:
        line: list[TableCell | Text] = [f"from {data}"]
        for task in protocol.tasks:
            ours = tables.automata.get((task, data), ())
            published = tables.suite.published_automaton(task, data)
            text = ", ".join(" / ".join(map(str, one)) for one in ours) or ABSENT
            line.append(TableCell(text, f"{source} {' / '.join(map(str, published))}" if published else ""))
        rows.append(tuple(line))
    table = Table(
        (Column(""), *(Column(find_task(task).title, "right") for task in protocol.tasks)),
        tuple(rows),
        "Rank / rows / cols of the weighted automaton of each training seed: those of the data, nothing cut off.",
    )
    return Section("Automata", (table, *_pictures(_starting(figures, "automaton-"), figures)))


def _figures_section(title: str, names: Sequence[str], figures: Figures) -> Section:
    return Section(title, tuple(_pictures(names, figures)))


def _pictures(names: Sequence[str], figures: Figures) -> list[Block]:
    """The figures of these names; or, for one that could not be drawn, a sentence that says why."""
    drawn = {figure.name: figure for figure in figures.drawn}
    blocks: list[Block] = []
    for name in names:
        if name in drawn:
            blocks.append(Figure(drawn[name].to_svg().decode(), drawn[name].caption, drawn[name].alt))
        elif name in figures.missing:
            blocks.append(prose(figures.missing[name]))
    return blocks


def _starting(figures: Figures, beginning: str) -> tuple[str, ...]:
    names = (*(figure.name for figure in figures.drawn), *figures.missing)
    return tuple(name for name in names if name.startswith(beginning))


def _making_section(tables: Tables) -> Section:
    protocol, made = tables.protocol, tables.made
    facts: list[tuple[str, Text]] = [
        ("Test scenes", f"{protocol.test_seeds[0]} to {protocol.test_seeds[-1]}"),
        ("Training seeds", number(protocol.seeds)),
        ("Demonstrations", f"{protocol.successes} successes, {protocol.failures} failures"),
        *_settings(protocol),
        ("Date", made["date"]),
        ("Machine", made["machine"]),
        *((name, version) for name, version in made["versions"].items()),
    ]
    text = "Started again, the command computes only what is missing, and ends with the same tables:"
    return Section("How it was made", (prose(text), Command(made["command"]), Facts(tuple(facts))))


def _settings(protocol: Protocol) -> list[tuple[str, Text]]:
    """For each method the settings that are not its defaults, if there are any."""
    told: dict[str, list[str]] = {}
    entries = find_suite(protocol.suite).entries
    for setting in changed_settings(protocol):
        told.setdefault(entries[setting.method].title, []).append(setting.told)
    return [(method, ", ".join(settings)) for method, settings in told.items()]
