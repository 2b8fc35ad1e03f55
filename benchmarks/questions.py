"""What an answer is worth, in demonstrations: rules kept after answered questions, and after more demonstrations.

    python benchmarks/questions.py [--json] [--validation] [--demonstrate] [--tasks coffee mail ...] [--seeds 3]

Offices drawn anew for each scene; demonstrators act at temperature 0.5, no failures are given. An answerer knows the
true rule. From 4 demonstrations on, either questions are answered one after the other, or more demonstrations are given.
With --demonstrate, the scenes of the further demonstrations are chosen by `find_scene` and compared with random ones.

    kept      share of 64 new scenes in which the greedy plan keeps the true rule, mean over tasks and seeds
    cautious  the same for plans that price in what was not tested, which is what agents do by default
    exact     how many of the learned automata read all labels as the true one does

Settings were chosen on --validation (other collections, scenes 6000..6063); the figures are of scenes 5000..5063.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
from rich.console import Console
from rich.table import Table

from wfairl.automata.automaton import ACCEPTED, Automaton, Label
from wfairl.automata.task_model import TaskModel
from wfairl.demonstrations.collection import collect
from wfairl.demonstrations.demonstration import SUCCESS_SCORE, Dataset, replay
from wfairl.demonstrations.expert import solve
from wfairl.evaluation.evaluate import evaluate
from wfairl.evaluation.policies import PlannedPolicy
from wfairl.logic.caution import cautious
from wfairl.logic.learners import RationalTaskLearner
from wfairl.logic.proposals import find_scene
from wfairl.logic.questions import NothingToAskError, find_question, take_answer
from wfairl.logic.sketch import canonical
from wfairl.planning.cost import unit_cost
from wfairl.worlds.office import PROPOSITIONS
from wfairl.worlds.registry import find_task
from wfairl.worlds.task import Task

TASKS = ("coffee", "mail", "coffee-mail", "patrol")
FIRST, MORE, QUESTIONS, CHOSEN = 4, (6, 8, 12, 16), 5, 4
TEMPERATURE, SCENES, CANDIDATES = 0.5, 64, 24
TEST_SCENES, VALIDATION_SCENES, VALIDATION_COLLECTION = 5000, 6000, 10
LABELS: tuple[Label, ...] = (frozenset(), *(frozenset({name}) for name in PROPOSITIONS))


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
    exact: bool
    automaton: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=TASKS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--validation", action="store_true", help="other collections and other scenes")
    parser.add_argument("--demonstrate", action="store_true", help="choose scenes to demonstrate instead of asking")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    rows = []
    for name in arguments.tasks:
        for seed in range(arguments.seeds):
            for row in _rows(name, seed, arguments.validation, arguments.demonstrate):
                rows.append(row)
                sys.stderr.write(json.dumps(asdict(row)) + "\n")
    if arguments.json:
        print(json.dumps([asdict(row) for row in rows]))
    else:
        Console().print(_table(rows))


def _rows(name: str, seed: int, validation: bool, demonstrate: bool) -> Iterator[Row]:
    task = find_task(f"random-office-{name}")
    collection = seed + VALIDATION_COLLECTION * validation
    first_scene = VALIDATION_SCENES if validation else TEST_SCENES
    scenes = range(first_scene, first_scene + SCENES)
    everything = collect(task, max(MORE), 0, TEMPERATURE, collection, n_jobs=1)

    def judge(dataset: Dataset, way: str) -> tuple[TaskModel, Row]:
        model = RationalTaskLearner().learn(dataset, task, n_jobs=1)
        plain = PlannedPolicy("plain", model.finite, unit_cost, 0.0)
        careful = replace(plain, cost=cautious(unit_cost, model))
        row = Row(
            task=name,
            seed=seed,
            way=way,
            demonstrations=len(dataset),
            answers=len(dataset.answers),
            kept=_kept(task, plain, scenes),
            cautious=_kept(task, careful, scenes),
            exact=_reads(model.finite) == _reads(task.rule),
            automaton=model.sentences[0],
        )
        return model, row

    first = replace(everything, demonstrations=everything.demonstrations[:FIRST])
    model, row = judge(first, "start")
    yield row
    for number in MORE:
        yield judge(replace(everything, demonstrations=everything.demonstrations[:number]), "demonstrations")[1]
    candidates = range(max(everything.seeds) + 1, max(everything.seeds) + 1 + CANDIDATES)
    dataset = first
    for number in range(CHOSEN if demonstrate else QUESTIONS):
        rng = np.random.default_rng([collection, number])
        try:
            if demonstrate:
                dataset = _demonstrate(dataset, model, task, candidates, rng)
            else:
                question = find_question(model, dataset, task, candidates, rng, n_jobs=1)
                dataset = take_answer(dataset, question, bool(task.rule.fulfilled_at(question.labels)))
        except NothingToAskError:
            row = replace(row, way=_way(demonstrate), answers=row.answers + (not demonstrate))
        else:
            model, row = judge(dataset, _way(demonstrate))
        yield row


def _way(demonstrate: bool) -> str:
    return "chosen scenes" if demonstrate else "answers"


def _demonstrate(
    dataset: Dataset, model: TaskModel, task: Task, candidates: Sequence[int], rng: np.random.Generator
) -> Dataset:
    """The data set with a demonstration in the scene that is most worth it."""
    left = [seed for seed in candidates if seed not in dataset.seeds]
    proposal = find_scene(model, dataset, task, left, rng, n_jobs=1)
    world = task.make_world(proposal.seed)
    expert = solve(world, task.rule)
    while True:
        controls, succeeded = expert.act(TEMPERATURE, task.horizon, rng)
        if succeeded:
            shown = replay(world, controls, SUCCESS_SCORE, proposal.seed)
            return replace(dataset, demonstrations=(*dataset.demonstrations, shown))


def _kept(task: Task, policy: PlannedPolicy, scenes: Sequence[int]) -> float:
    return float(np.mean([episode.success for episode in evaluate(task, policy, scenes, n_jobs=1).episodes]))


def _reads(automaton: Automaton) -> bytes:
    """The automaton over the labels of the office, in canonical form."""
    columns = np.stack([automaton.column(label) for label in LABELS], axis=1)
    ends = (columns >= 0) & automaton.accepting[columns]
    order = [0, *(state for state in range(1, len(columns)) if not automaton.accepting[state])]
    number = np.full(len(columns), ACCEPTED, np.int32)
    number[order] = np.arange(len(order))
    table = np.where(ends, ACCEPTED, np.where(columns >= 0, number[columns], columns))
    return canonical(np.ascontiguousarray(table[order].astype(np.int32))).tobytes()


def _table(rows: Sequence[Row]) -> Table:
    """One line for each way and number: means over tasks and seeds, the least in brackets."""
    groups: dict[tuple[str, int, int], list[Row]] = {}
    numbers: dict[tuple[str, str, int], int] = {}
    for row in rows:
        place = numbers[row.way, row.task, row.seed] = numbers.get((row.way, row.task, row.seed), 0) + 1
        groups.setdefault((row.way, place, 0), []).append(row)
    table = Table("", "demonstrations", "answers", "kept", "cautious", "exact")
    for (way, _, _), group in groups.items():
        table.add_row(
            way,
            f"{np.mean([row.demonstrations for row in group]):.3g}",
            f"{np.mean([row.answers for row in group]):.3g}",
            f"{np.mean([row.kept for row in group]):.3f} (least {min(row.kept for row in group):.3f})",
            f"{np.mean([row.cautious for row in group]):.3f} (least {min(row.cautious for row in group):.3f})",
            f"{sum(row.exact for row in group)}/{len(group)}",
        )
    return table


if __name__ == "__main__":
    main()
