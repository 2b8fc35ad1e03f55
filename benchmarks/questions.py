"""The value of answers, compared with demonstrations: rules kept after answered questions and more demonstrations.

    python benchmarks/questions.py [--json] [--validation] [--demonstrate] [--tasks coffee mail ...] [--seeds 3]

Every scene is a new random office; demonstrators act at temperature 0.5, and there are no failures. The answers follow
the true rule. After 4 demonstrations (--first), either questions are answered one by one or more demonstrations are
given, with --demonstrate also in scenes that `propose_scene` chooses.

    kept      fraction of 64 new scenes in which the greedy plan keeps the true rule, mean over tasks and seeds
    cautious  the same for the cautious policy, the default of agents
    regret    of the cautious policy, where it keeps the rule: cost over the least possible, minus 1
    exact     how many of the learned automata read all labels as the true one does

Settings were chosen on --validation (other collections, scenes 6000..6063); the figures are of scenes 5000..5063.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
from regret import mean_regret
from reporting import make_parser, report
from rich.table import Table

from wfairl.core.automata.automaton import ACCEPTED, Automaton, Label
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.demonstrations.collection import collect
from wfairl.core.demonstrations.demonstration import SUCCESS_SCORE, Dataset, Demonstration
from wfairl.core.planning import PlannedPolicy, expert_policy
from wfairl.core.planning.cost import unit_cost
from wfairl.core.planning.rollout import act
from wfairl.core.rational.caution import CautiousPolicy
from wfairl.core.rational.rational_learner import RationalLearner
from wfairl.core.rational.tables import canonical_table
from wfairl.core.runs import evaluate
from wfairl.core.worlds.simulator import ModelSimulator
from wfairl.core.worlds.task import Task
from wfairl.core.worlds.task_registry import find_task
from wfairl.offices.office import OFFICE_PROPOSITIONS
from wfairl.questions.question import NothingToAskError, add_answer, find_question
from wfairl.questions.scene_proposal import propose_scene

TASKS = ("coffee", "mail", "coffee-mail", "patrol")
QUESTIONS, CHOSEN = 5, 4
TEMPERATURE, SCENES, CANDIDATES = 0.5, 64, 24
TEST_SCENES, VALIDATION_SCENES, VALIDATION_COLLECTION = 5000, 6000, 10
LABELS: tuple[Label, ...] = (frozenset(), *(frozenset({name}) for name in OFFICE_PROPOSITIONS))


@dataclass(frozen=True)
class Row:
    """One learned automaton and how it does."""

    task: str
    seed: int
    way: str
    demonstrations: int
    answers: int
    kept: float
    cautious: float
    regret: float | None
    exact: bool
    automaton: str


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=TASKS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--scenes", type=int, default=SCENES, help="new scenes to plan in")
    parser.add_argument("--validation", action="store_true", help="other collections and other scenes")
    parser.add_argument("--demonstrate", action="store_true", help="also choose scenes to demonstrate")
    parser.add_argument("--first", type=int, default=4, help="demonstrations to begin with")
    parser.add_argument("--more", nargs="+", type=int, default=[6, 8, 12, 16], help="numbers of demonstrations")
    arguments = parser.parse_args()
    rows = []
    for name in arguments.tasks:
        for seed in range(arguments.seeds):
            for row in _rows(name, seed, arguments):
                rows.append(row)
                sys.stderr.write(json.dumps(asdict(row)) + "\n")
    report([asdict(row) for row in rows], arguments.json, _table(rows))


def _rows(name: str, seed: int, arguments: argparse.Namespace) -> Iterator[Row]:
    task = find_task(f"random-office-{name}")
    collection = seed + VALIDATION_COLLECTION * arguments.validation
    first_scene = VALIDATION_SCENES if arguments.validation else TEST_SCENES
    scenes = range(first_scene, first_scene + arguments.scenes)
    everything = collect(task, max(arguments.first, *arguments.more), 0, TEMPERATURE, collection, n_jobs=1)
    optimal = evaluate(task, expert_policy(task, 0.0), scenes, n_jobs=1)

    def judge(dataset: Dataset, way: str) -> tuple[TaskModel, Row]:
        model = RationalLearner().learn(dataset, task, n_jobs=1)
        plain = PlannedPolicy("plain", model.finite, unit_cost, 0.0)
        careful = CautiousPolicy("cautious", model, unit_cost, 0.0, horizon=task.horizon)
        tested = evaluate(task, careful, scenes, n_jobs=1)
        row = Row(
            task=name,
            seed=seed,
            way=way,
            demonstrations=len(dataset),
            answers=len(dataset.answers),
            kept=evaluate(task, plain, scenes, n_jobs=1).success_rate,
            cautious=tested.success_rate,
            regret=mean_regret(tested, optimal),
            exact=_reads(model.finite) == _reads(task.rule),
            automaton=model.sentences[0],
        )
        return model, row

    first = replace(everything, demonstrations=everything.demonstrations[: arguments.first])
    model, row = judge(first, "start")
    yield row
    for number in arguments.more:
        yield judge(replace(everything, demonstrations=everything.demonstrations[:number]), "demonstrations")[1]
    candidates = range(max(everything.seeds) + 1, max(everything.seeds) + 1 + CANDIDATES)
    for way, number, go_on in (("answers", QUESTIONS, _ask), ("chosen scenes", CHOSEN, _demonstrate)):
        if go_on is _demonstrate and not arguments.demonstrate:
            return
        dataset, known, latest = first, model, row
        for i in range(number):
            try:
                dataset = go_on(dataset, known, task, candidates, np.random.default_rng([collection, i]))
            except NothingToAskError:
                latest = replace(latest, way=way)
            else:
                known, latest = judge(dataset, way)
            yield latest


def _ask(
    dataset: Dataset, model: TaskModel, task: Task, candidates: Sequence[int], rng: np.random.Generator
) -> Dataset:
    """The data set with the true answer to the best question."""
    question = find_question(model, dataset, task, candidates, rng, n_jobs=1)
    return add_answer(dataset, question, bool(task.rule.fulfilled_at(question.labels)))


def _demonstrate(
    dataset: Dataset, model: TaskModel, task: Task, candidates: Sequence[int], rng: np.random.Generator
) -> Dataset:
    """The data set with a demonstration in the scene that is most worth it."""
    left = [seed for seed in candidates if seed not in dataset.seeds]
    proposal = propose_scene(model, dataset, task, left, rng, n_jobs=1)
    world, expert = task.make_world(proposal.seed), PlannedPolicy("expert", task.rule, unit_cost, TEMPERATURE)
    while True:
        episode = act(expert.actor(world, rng), ModelSimulator(world), task.rule, task.horizon, proposal.seed)
        if episode.is_success:
            shown = Demonstration(episode.controls, episode.labels, SUCCESS_SCORE, proposal.seed)
            return replace(dataset, demonstrations=(*dataset.demonstrations, shown))


def _reads(automaton: Automaton) -> bytes:
    """The automaton over the labels of the office, in canonical form."""
    columns = np.stack([automaton.column(label) for label in LABELS], axis=1)
    ends = (columns >= 0) & automaton.accepting[columns]
    order = [0, *(state for state in range(1, len(columns)) if not automaton.accepting[state])]
    number = np.full(len(columns), ACCEPTED, np.int32)
    number[order] = np.arange(len(order))
    table = np.where(ends, ACCEPTED, np.where(columns >= 0, number[columns], columns))
    return canonical_table(np.ascontiguousarray(table[order].astype(np.int32))).tobytes()


def _table(rows: Sequence[Row]) -> Table:
    """One line for each way and number: means over tasks and seeds, the least in brackets."""
    groups: dict[tuple[str, int, int], list[Row]] = {}
    numbers: dict[tuple[str, str, int], int] = {}
    for row in rows:
        place = numbers[row.way, row.task, row.seed] = numbers.get((row.way, row.task, row.seed), 0) + 1
        groups.setdefault((row.way, place, 0), []).append(row)
    table = Table("", "demonstrations", "answers", "kept", "cautious", "regret", "exact")
    for (way, _, _), group in groups.items():
        table.add_row(
            way,
            f"{np.mean([row.demonstrations for row in group]):.3g}",
            f"{np.mean([row.answers for row in group]):.3g}",
            f"{np.mean([row.kept for row in group]):.3f} (least {min(row.kept for row in group):.3f})",
            f"{np.mean([row.cautious for row in group]):.3f} (least {min(row.cautious for row in group):.3f})",
            f"{np.mean([row.regret for row in group if row.regret is not None]):.1%}",
            f"{sum(row.exact for row in group)}/{len(group)}",
        )
    return table


if __name__ == "__main__":
    main()
