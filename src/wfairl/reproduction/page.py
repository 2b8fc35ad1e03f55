"""The page of a reproduction: the tables with ours beside the paper's, the methods at work, the figures."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from wfairl import __version__
from wfairl.evaluation.evaluate import episode_rng
from wfairl.report.blocks import Command, Facts, Figure, KeyFigure, KeyFigures, prose
from wfairl.report.page import Block, Page, Section
from wfairl.report.player import EpisodePlayer
from wfairl.report.recording import record_episode
from wfairl.report.tables import Cell, Column, Table
from wfairl.report.text import Code, Text, counted, number, with_error
from wfairl.reproduction.figures import Figures, Source, taught_by
from wfairl.reproduction.paper import METHODS, REFERENCES, TASKS, paper_automaton
from wfairl.reproduction.protocol import Protocol
from wfairl.reproduction.results import CHOSEN, Row
from wfairl.reproduction.scope import changed_settings, included, shortfall
from wfairl.reproduction.tables import ABSENT, Tables
from wfairl.worlds.registry import find_task

PLAYED_SCENES = 2


def reproduction_page(tables: Tables, figures: Figures, directory: Path) -> Page:
    """The whole page."""
    sections = (
        _returns_section(tables, figures),
        *_player_sections(Source(tables, directory)),
        *([_automata_section(tables, figures)] if tables.automata else []),
        _figures_section("What was learned", ("trajectory", "unseen-word", "policies"), figures),
        _figures_section("The cost", _starting(figures, "costs-"), figures),
        _figures_section("Training", ("training", *_starting(figures, "demonstrations-")), figures),
        _figures_section("The tasks", ("environments",), figures),
        _making_section(tables),
    )
    return Page(
        title="WFA-IRL, reproduced",
        subtitle="Inverse reinforcement learning of behaviours encoded as weighted automata:"
        f" {included(tables.protocol)}, with our figures beside the paper's.",
        sections=tuple(section for section in sections if section.blocks),
        notice=shortfall(tables.protocol),
        kind="wfairl · a reproduction",
        footer=f"Made by wfairl {__version__} on {tables.made['date']}. This page is one file and loads nothing else.",
    )


def _returns_section(tables: Tables, figures: Figures) -> Section:
    blocks: list[Block] = [KeyFigures(tuple(_key_figures(tables)))] if "wfa-irl" in tables.protocol.methods else []
    blocks += [_returns_table(tables), *_pictures(("returns",), figures)]
    blocks += [prose(("Not computed: ", Code(name), f": {reason}")) for name, reason in tables.failures.items()]
    return Section("Returns", tuple(blocks))


def _key_figures(tables: Tables) -> Iterable[KeyFigure]:
    """The method itself on each task, learned from the first data set."""
    data = tables.protocol.data_sets[0]
    for task in tables.protocol.tasks:
        row, optimal = tables.row(task, data, "wfa-irl"), tables.row(task, "", "optimal")
        if row is not None and optimal is not None:
            note: Text = (f"{task}, from {data}; optimal ", number(optimal.mean_return))
            yield KeyFigure(f"WFA-IRL on {TASKS[task]}", number(row.mean_return), note, leading=True)


def _returns_table(tables: Tables) -> Table:
    protocol = tables.protocol
    lines: list[tuple[Text, list[Row | None]]] = [
        (method, [tables.row(task, "", method) for task in protocol.tasks]) for method in REFERENCES
    ]
    for method in protocol.methods:
        for data in protocol.data_sets:
            lines.append(
                (f"{METHODS[method]}, from {data}", [tables.row(task, data, method) for task in protocol.tasks])
            )
            for variant in tables.variants(method, data):
                rows = [tables.row(task, data, method, variant) for task in protocol.tasks]
                lines.append((f"\N{EM SPACE}{variant}", rows))
    best = _best(tables)
    return Table(
        (Column(""), *(Column(f"{TASKS[task]} {task}", "right") for task in protocol.tasks)),
        tuple((name, *(_return_cell(row, best) for row in rows)) for name, rows in lines),
        f"Mean return on {counted(protocol.test_scenes, 'test scene')} ± its standard error over scenes and"
        f" {counted(protocol.seeds, 'training seed')}; the paper's figure below it. The best that was learned from a"
        " data set stands out.",
    )


def _return_cell(row: Row | None, best: Sequence[Row]) -> Cell:
    if row is None:
        return Cell(ABSENT)
    note: Text = "" if row.paper is None else ("paper ", number(row.paper))
    return Cell(with_error(row.mean_return, row.standard_error), note, row in best)


def _best(tables: Tables) -> list[Row]:
    """The best that is shown for each task and data set, be it a method's other way to act or to train."""
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
    """One player a task: what every method has learned from the last data set, in the same scenes."""
    data = source.protocol.data_sets[-1]
    sections = []
    for task in source.protocol.tasks:
        recordings = [
            replace(record_episode(find_task(task), policy, seed, episode_rng(seed)), policy=name)
            for name, policy in source.policies(task, data).items()
            for seed in source.protocol.test_seeds[:PLAYED_SCENES]
        ]
        words = f"Episodes of every method, learned from {taught_by(data)}, in the same scenes: what it saw, how likely"
        words += " each control was, and for those that plan, where their automaton stood."
        sections.append(Section(f"Watch {TASKS[task]}", (prose(words), EpisodePlayer(tuple(recordings)))))
    return sections


def _automata_section(tables: Tables, figures: Figures) -> Section:
    protocol = tables.protocol
    rows: list[tuple[Cell | Text, ...]] = []
    for data in protocol.data_sets:
        line: list[Cell | Text] = [f"from {data}"]
        for task in protocol.tasks:
            ours = tables.automata.get((task, data), ())
            paper = paper_automaton(task, data)
            text = ", ".join(" / ".join(map(str, one)) for one in ours) or ABSENT
            line.append(Cell(text, f"paper {' / '.join(map(str, paper))}" if paper else ""))
        rows.append(tuple(line))
    table = Table(
        (Column(""), *(Column(f"{TASKS[task]} {task}", "right") for task in protocol.tasks)),
        tuple(rows),
        "Rank / rows / cols of the weighted automaton of each training seed: those of the data, nothing cut off.",
    )
    return Section("Automata", (table, *_pictures(_starting(figures, "automaton-"), figures)))


def _figures_section(title: str, names: Sequence[str], figures: Figures) -> Section:
    return Section(title, tuple(_pictures(names, figures)))


def _pictures(names: Sequence[str], figures: Figures) -> list[Block]:
    """The figures of these names; in the place of one that could not be drawn the sentence that says why."""
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
    for setting in changed_settings(protocol):
        told.setdefault(METHODS[setting.method], []).append(setting.told)
    return [(method, ", ".join(settings)) for method, settings in told.items()]
