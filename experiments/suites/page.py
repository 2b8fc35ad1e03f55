"""The page of a suite: the tables with ours beside published figures, episodes to watch, the figures."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from experiments.suites.data_results import DataResults
from experiments.suites.figures import Figures, FigureSource, describe_data
from experiments.suites.reproduction import Reproduction, TextTable
from experiments.suites.scope import changed_settings, included
from experiments.suites.suite import Protocol, find_suite
from experiments.suites.tables import Tables
from wfairl import __version__
from wfairl.core.planning.policies import policy_title
from wfairl.core.runs.evaluation import episode_rng
from wfairl.core.worlds.task_registry import find_task
from wfairl.pages.blocks import Command, Facts, KeyFigure, KeyFigures, prose
from wfairl.pages.page import Block, Page, Section
from wfairl.pages.player import EpisodePlayer
from wfairl.pages.recording import record_episode
from wfairl.pages.text import Code, Text, number

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
        Section("Automata", tuple(_automata_blocks(tables, figures))),
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
    results = (*_blocks(tables.acting_tables()), *_blocks(tables.comparison_tables()), *_failure_blocks(tables))
    rules = (*_figure_blocks(_starting(figures, "automaton-"), figures), *_blocks(tables.rule_tables()))
    return [Section("Results", results), Section("The rules", rules)]


def _returns_section(tables: Tables, figures: Figures) -> Section:
    key_figures, returns = tuple(_key_figures(tables)), tables.returns_table()
    blocks: list[Block] = [KeyFigures(key_figures)] if key_figures else []
    blocks.append(replace(returns, caption=f"{returns.caption} The best that was learned from a data set stands out."))
    blocks += _figure_blocks(("returns",), figures)
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


def _automata_blocks(tables: Tables, figures: Figures) -> Iterator[Block]:
    if tables.automata and not tables.suite.metrics:
        yield tables.automata_table()
        yield from _figure_blocks(_starting(figures, "automaton-"), figures)


def _figures_section(title: str, names: Sequence[str], figures: Figures) -> Section:
    return Section(title, tuple(_figure_blocks(names, figures)))


def _figure_blocks(names: Sequence[str], figures: Figures) -> Iterator[Block]:
    """The figures of these names; or, for one that could not be drawn, a sentence that says why."""
    drawn = {figure.name: figure for figure in figures.drawn}
    for name in names:
        if name in drawn:
            yield drawn[name]
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
