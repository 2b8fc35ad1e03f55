"""The page of a run: what was learned, an episode to watch, how well it does, and how it was made.

    write_run_report(Path("runs/doorkey"))      writes runs/doorkey/report.html

Every number comes from the run's files, with all of its digits in the page. If an evaluation, curves or a renderer is
missing, a sentence says so; a run that is unfinished, or whose task is unknown, has no page.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from math import sqrt
from pathlib import Path
from typing import Any

from wfairl import __version__
from wfairl.core.automata.minimisation import canonical_table, to_table
from wfairl.core.automata.sentences import describe_state
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.words import format_label
from wfairl.core.costs.feature_costs import CostOverFeatures
from wfairl.core.demonstrations import Dataset
from wfairl.core.demonstrations.learners import LEARNERS, RATIONAL, SPECTRAL
from wfairl.core.planning.policies import REFERENCES
from wfairl.core.planning.rollout import UNSATISFIABLE
from wfairl.core.rational.constraints import Constraint, conjoin
from wfairl.core.rational.task_posterior import LEAST_WEIGHT, TaskPosterior, posterior_of
from wfairl.core.support.documents import plain_fields
from wfairl.core.support.parallel import map_in_threads
from wfairl.core.support.progress import track
from wfairl.core.worlds.world import slips
from wfairl.pages.blocks import Column, Command, Facts, PageTable, Statements, automaton_drawing, prose
from wfairl.pages.enforced import enforced_sentence
from wfairl.pages.page import Block, Page, Section, check_page_file, write_page
from wfairl.pages.player import EpisodePlayer, RecordedEpisode, record_episode
from wfairl.pages.policy_comparison import regret_of
from wfairl.pages.provenance import provenance
from wfairl.pages.run_files import RunFiles, read_run_files, repeating_command
from wfairl.pages.run_result import result_section
from wfairl.pages.run_training import cost_section
from wfairl.pages.text import Chips, Code, Text, brief_number, capitalised, counted, number, percent
from wfairl.runs.evaluation import Evaluation, episode_rng
from wfairl.runs.methods import tested_policies
from wfairl.runs.run_directory import CONFIG, flat

REPORT = "report.html"

DEFAULT_SCENES = 3
"""In how many scenes each policy acts on the page."""

SHOWN_WORDS, SHOWN_ALTERNATIVES = 8, 5

WAYS = {
    SPECTRAL: "This is the paper's own way: a weighted automaton gives every word the score that it was shown with, and"
    " 0 to all others. So it accepts what was shown and nothing else, and needs failures. The default learner"
    " (--learner rational) finds a rule that covers more, from successes alone.",
    RATIONAL: "The learner asks which rule makes the demonstrators look most rational. This needs no failures, and the"
    " rule covers what nobody has shown. The paper's own way (--learner spectral; make demo-paper) gives every word the"
    " score that it was shown with, and so accepts what was shown and nothing else.",
}
"""How a learner finds a rule, and how this differs from the other way."""


def write_run_report(directory: Path, output: Path | None = None, scenes: int = DEFAULT_SCENES) -> Path:
    """Write the page of a run, with each policy in so many scenes, and return its file: `REPORT` if no other is given.

    Raises `BadInputError` if the run is unfinished, its task is unknown, or the file cannot be written.
    """
    path = Path(directory) / REPORT if output is None else Path(output)
    check_page_file(path)
    write_page(run_page(read_run_files(directory), scenes), path)
    return path


def run_page(run: RunFiles, scenes: int = DEFAULT_SCENES, n_jobs: int = 2, date: datetime | None = None) -> Page:
    """The page of a run; `date` is that of the page, now if None."""
    date, model = datetime.now(UTC) if date is None else date, run.task_model
    return Page(
        title=run.task.name,
        subtitle=f"Demonstrated, and not told to the learner: {run.task.summary}. Learned by {run.method.title}:"
        f" {run.method.summary}{_rule_learner(run)}.",
        sections=(
            *([] if model is None else [learned_section(run, model)]),
            episodes_section(run, scenes, n_jobs),
            result_section(run),
            *([] if model is None else [rule_section(run, model)]),
            *([] if run.cost is None else [cost_section(run, run.cost)]),
            reproduction_section(run),
        ),
        kind="wfairl · a run",
        footer=f"Made by wfairl {__version__} on {date:%d %B %Y}. This page is one file and loads nothing else.",
    )


def _rule_learner(run: RunFiles) -> str:
    """Where the rule of a run is from, which its method does not say."""
    if run.task_model is None or not run.method.needs_task_model:
        return ""
    learner = run.task_model.learner
    if learner not in LEARNERS:
        return f"; the rule is from elsewhere ({learner})"
    return f"; the rule by the learner {learner}" + (", the paper's" if learner == SPECTRAL else "")


def learned_section(run: RunFiles, model: TaskModel) -> Section:
    """The rule, the cost and how sure they are, in sentences; and the automaton."""
    drawing = [automaton_drawing(model)] if model.summary.closed else []
    return Section("What it learned", (Statements(tuple(what_it_learned(run))), *drawing))


def what_it_learned(run: RunFiles) -> Iterator[tuple[str, str]]:
    """Sentences about the rule, the cost, how sure they are and how the learned policy did, each with its heading."""
    if run.task_model is not None:
        yield from _rule(run, run.task_model)
        yield from _cost(run)
        yield from _doubts(run.task_model, run.enforced_orders)
    yield from _tests(run)


def _rule(run: RunFiles, model: TaskModel) -> Iterator[tuple[str, str]]:
    yield "Rule" if run.method.needs_task_model else "Rule it was given", f"{capitalised(model.sentence)}."
    if run.enforced_orders:
        yield "Not to be learned", f"{capitalised(enforced_sentence(run.enforced_orders))}: nobody has to learn that."


def _cost(run: RunFiles) -> Iterator[tuple[str, str]]:
    if isinstance(run.cost, CostOverFeatures):
        verdict, *terms = run.cost.sentences(run.task.make_world(run.scenes(1)[0]))
        yield "Cost", f"{capitalised('; '.join(terms or [verdict]))}."
    elif run.cost is not None:
        yield "Cost", f"A model of the kind {run.cost.kind}; see below what it charges."


def _doubts(model: TaskModel, orders: Sequence[tuple[str, str]] = ()) -> Iterator[tuple[str, str]]:
    """How sure the rule is, without doubts about the orders that the world enforces."""
    posterior = posterior_of(model)
    if posterior is None:
        return
    failures = model.summary.words - model.summary.successes
    shown = f"From {counted(model.summary.successes, 'demonstration')}"
    shown += _misfits(len(posterior.outliers))
    shown += f" and {counted(failures, 'failure')}" if failures else ", no failures"
    longer = "a longer rule, which is listed below"
    rivals = ((rule if len(rule) <= 160 else longer, weight) for rule, weight in posterior.other_rules(1))
    others = "".join(f"; or, with {weight:.0%}: {rule}" for rule, weight in rivals)
    probable = (one for one in posterior.open_doubts if one.probability >= LEAST_WEIGHT)
    doubt = next((one for one in probable if _matters(one.constraint, posterior, orders)), None)
    beside = "" if doubt is None else f" Beside it there may be more: {doubt}, with {doubt.probability:.0%}."
    sure = f"this rule is {percent(posterior.chosen.weight).text} likely among those considered"
    yield "How sure", f"{shown}, {sure}{others}.{beside}"


def _misfits(count: int) -> str:
    """How many demonstrations the rule does not explain, and what that may mean."""
    if count == 1:
        return " (1 of them does not fit this rule: a mistake, or a sign of another)"
    return f" ({count} of them do not fit this rule: mistakes, or signs of another)" if count else ""


def _matters(constraint: Constraint, posterior: TaskPosterior, orders: Sequence[tuple[str, str]]) -> bool:
    """Whether a constraint forbids a word that the chosen rule accepts and that keeps some orders."""
    labels, rows = posterior.labels, to_table(posterior.chosen.automaton, posterior.labels)
    table = canonical_table(rows)
    for first, second in orders:
        table = canonical_table(conjoin(table, Constraint("never", second, until=first), labels))
    return canonical_table(conjoin(table, constraint, labels, rows)).tobytes() != table.tobytes()


def _tests(run: RunFiles) -> Iterator[tuple[str, str]]:
    """How the learned policy did in new scenes, with 95 % intervals."""
    learned, optimal = next(iter(run.learned.values()), None), run.evaluation.get("optimal")
    if learned is None:
        return
    tried = len(learned.episodes)
    without_plan = sum(one.outcome == UNSATISFIABLE for one in learned.episodes)
    is_luck = any(one is not None and one.success_rate < 1 for one in (learned, optimal)) or slips(
        run.task.make_world(learned.episodes[0].seed)
    )
    text = f"{round(learned.success_rate * tried)} of {counted(tried, 'scene')} done right"
    text += f", no plan found in {without_plan}" if without_plan else ""
    text += _chance(learned) if is_luck else ""
    if optimal is not None and is_luck:
        text += f"; by the optimal policy, which knows the rule, {optimal.success_rate:.0%}{_chance(optimal)}"
    regret = None if optimal is None or run.task.true_cost is None else regret_of(learned, optimal)
    if optimal is not None and regret is not None:
        share, least, most = (f"{100 * one + 0.0:.1f}" for one in (regret.value, regret.low, regret.high))
        more = f"{share} % more" + ("" if least == most else f", with 95 % between {least} and {most} %")
        text += (
            f", at a mean true cost of {learned.mean_cost:.1f} (the least possible: {optimal.mean_cost:.1f}; {more})"
        )
    yield "In new scenes", f"{text}."


def _chance(evaluation: Evaluation) -> str:
    """Wilson's interval of 95 % of a policy's chance to fulfil the task."""
    share, count, z = evaluation.success_rate, len(evaluation.episodes), 1.96
    middle, half = share + z**2 / (2 * count), z * sqrt(share * (1 - share) / count + z**2 / (4 * count**2))
    low, high = ((middle + side) / (1 + z**2 / count) for side in (-half, half))
    return f" (a chance of {low:.0%} to {high:.0%})"


def episodes_section(run: RunFiles, scenes: int, n_jobs: int = 2) -> Section:
    """The evaluated policies act again in a few scenes. Raises `BadInputError` if the run is unfinished."""
    tested = tested_policies(run.method, run.directory, run.task, run.config.temperature)
    policies = dict(sorted(tested.items(), key=lambda one: one[0] in REFERENCES))  # the learned ones first

    def record(played: tuple[str, int]) -> RecordedEpisode:
        name, seed = played
        return replace(record_episode(run.task, policies[name], seed, episode_rng(seed)), policy=name)

    jobs = [(name, seed) for name in policies for seed in run.scenes(scenes)]
    recordings = track(map_in_threads(record, jobs, n_jobs=n_jobs), "recording episodes", total=len(jobs))
    which = "scenes of the evaluation" if run.evaluation else "new scenes"
    text = f"Episodes in {which}, step by step, with the probability of each control; for more scenes use "
    automaton = " The automaton reads the label of each step: its state is filled, and the edge just taken is thick."
    introduction = (text, Code("wfairl report --scenes"), "." if run.task_model is None else f".{automaton}")
    return Section("Episodes", (prose(introduction), EpisodePlayer(tuple(recordings))))


def rule_section(run: RunFiles, model: TaskModel) -> Section:
    """How the automaton was learned, its certainty, and the words that it was learned from."""
    title = "How the rule was learned" if run.method.needs_task_model else "The rule it plans with"
    way = [prose(WAYS[model.learner])] if run.method.needs_task_model and model.learner in WAYS else []
    return Section(title, (*way, _rule_facts(model), *_certainty(model), *_demonstrated(run.dataset, model)))


def _rule_facts(model: TaskModel) -> Facts:
    summary = model.summary
    facts: list[tuple[str, Text]] = [
        ("States", (number(summary.states), " live" if summary.closed else ", and more that are not explored")),
        ("Training words", (number(summary.words), ", of which ", number(summary.successes), " succeed")),
        ("Acceptance threshold", brief_number(model.threshold)),
        ("Loss on training words", brief_number(summary.loss)),
    ]
    sizes = [number(size) for size in (summary.rank, summary.rows, summary.cols) if size is not None]
    if sizes:
        facts.insert(0, ("Rank / rows / cols", (sizes[0], *(part for one in sizes[1:] for part in (" / ", one)))))
    if summary.deviation is not None:
        facts.append(("Deviation of the finite automaton", brief_number(summary.deviation)))
    return Facts((*facts, ("Alphabet", Chips(tuple(map(format_label, model.alphabet))))))


def _certainty(model: TaskModel) -> tuple[Block, ...]:
    """The posterior of the learner, if it has one."""
    posterior = posterior_of(model)
    if posterior is None:
        return ()
    rules = [(model.sentence, posterior.chosen.weight), *posterior.other_rules(SHOWN_ALTERNATIVES - 1)]
    rows = tuple((rule, f"{weight:.1%}") for rule, weight in rules)
    facts: list[tuple[str, Text]] = [("Temperature of the demonstrator", brief_number(posterior.temperature))]
    wrong = [f"{i} ({posterior.outlier_probabilities[i]:.0%})" for i in posterior.outliers]
    if wrong:
        facts.append(("Demonstrations that do not fit", ", ".join(wrong)))
    for state, labels in posterior.untested_labels().items():
        where = describe_state(posterior.chosen.automaton, state)
        facts.append((f"Untested {where}", Chips(tuple(map(format_label, labels)))))
    caption = "The most probable rules and their posterior probabilities. An agent plans for all of them at once."
    return (PageTable((Column("rule"), Column("probability", "right")), rows, caption), Facts(tuple(facts)))


def _demonstrated(dataset: Dataset | None, model: TaskModel) -> tuple[Block, ...]:
    """The words of the successes, and whether the automaton accepts them."""
    if dataset is None:
        return ()
    scored = list(zip(dataset.words, dataset.scores, strict=True))
    successes = Counter(word for word, score in scored if score >= model.threshold).most_common()
    failures = [word for word, score in scored if score < model.threshold]
    verdicts = model.judge_all([word for word, _ in successes])
    rows = tuple(
        (Chips(tuple(map(format_label, word))), number(count), "yes" if verdict.accepted else "no")
        for (word, count), verdict in zip(successes[:SHOWN_WORDS], verdicts, strict=False)
    )
    accepted = sum(count for (_, count), verdict in zip(successes, verdicts, strict=True) if verdict.accepted)
    wrong = sum(verdict.accepted for verdict in model.judge_all(failures))
    caption = (
        f"The words of {counted(sum(count for _, count in successes), 'successful demonstration')}, of which the"
        f" automaton accepts {accepted}; it accepts {wrong} of {counted(len(failures), 'failure')}."
    )
    if len(rows) < len(successes):
        caption += f" These are the {len(rows)} most frequent of {len(successes)} words."
    columns = (Column("word"), Column("times", "right"), Column("accepted", "center"))
    return (PageTable(columns, rows, caption),) if rows else ()


def reproduction_section(run: RunFiles) -> Section:
    """The command that makes the run again, its configuration, and the installed versions."""
    started = datetime.fromtimestamp((run.directory / CONFIG).stat().st_mtime, UTC)
    here, stored = provenance("wfairl report"), flat(plain_fields(run.config))
    settings = {name: _setting_text(one) for name, one in stored.items() if one not in (None, [])}
    environment = (("run started", f"{started:%d %B %Y}"), *here["versions"].items(), ("machine", here["machine"]))
    about = "This command makes the same run again, on any number of cores"
    if run.experiment is None:
        successes = run.config.origin.get("successes")
        part = "" if successes is None else f", on the first {counted(successes, 'success', 'successes')} of its data"
        about = f"This command trained it{part}"
    return Section(
        "How to reproduce it",
        (
            prose((f"{about}. To repeat it, give another directory after ", Code("-o"), ", for this one holds a run:")),
            Command(repeating_command(run)),
            Facts(tuple(settings.items()), "Configuration"),
            Facts(environment, "Environment of this page"),
        ),
    )


def _setting_text(value: Any) -> Text:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, bool):
        return str(value).lower()
    return brief_number(value) if isinstance(value, int | float) else str(value)
