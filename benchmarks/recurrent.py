"""The weighted automaton against the recurrent network, learned from the same words and judged on others.

    python benchmarks/recurrent.py [--json] [--tasks doorkey ...] [--sizes 4 8 ...] [--seeds 3] [--scenes 16]

Words are those of demonstrations: half of them successes of the expert at temperature 0.5 (D2), half failed random
walks. Each learner gets the same words, compressed, with an optional empty label at the beginning. They are judged on
256 + 256 words of other scenes:

    right       fraction of these words that are judged correctly, at the threshold 0.5; successes and failures apart
    unseen      the same for words that are not among the training words
    early       fraction of held-out successes with an accepted proper prefix, after which an agent would stop
    error       loss of eq. (2) on these words
    seconds     of learning (with the extraction of the automaton), after a first fit that does not count
    return      of an agent that plans with the finite automaton and unit cost, minus that of the optimal one, on
                validation scenes of the task; an automaton that cannot be planned with has the return 0

`wfa` is `--learner spectral`, `wfa select` chooses rank and basis on held-out words, `gru` is `--learner gru`, and
`gru words` the same network without prefixes as failures. A network judges words itself; the last column of the table
is its agreement with its automaton.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from reporting import make_parser, report, rows_table
from rich.table import Table

from experiments.baselines.recurrent import RecurrentLearner
from experiments.baselines.recurrent_automaton import fit_recurrent_task
from experiments.baselines.validation import FIRST_VALIDATION_SEED
from wfairl.core.automata.finite import FiniteAutomaton
from wfairl.core.automata.words import Word, compress, with_optional_start
from wfairl.core.demonstrations import collect
from wfairl.core.planning import PlannedPolicy, Policy, expert_policy
from wfairl.core.planning.cost import unit_cost
from wfairl.core.planning.product import ProductTooLargeError
from wfairl.core.planning.rollout import roll_out
from wfairl.core.runs.evaluation import episode_return
from wfairl.core.spectral.model_selection import select_setting
from wfairl.core.spectral.task_learner import fit_task_model
from wfairl.core.support.errors import FailedRunError
from wfairl.core.support.parallel import map_in_threads
from wfairl.core.worlds import Task, find_task

TASKS = ("doorkey", "multiroom", "blocked-unlock-pickup")
SIZES = (4, 8, 16, 32, 64, 128, 256, 512)
TEMPERATURE = 0.5
HELD_OUT_WORDS, HELD_OUT_SEED = 512, 1_000
THRESHOLD = 0.5

Judge = Callable[[Sequence[Word]], Any]


@dataclass(frozen=True)
class Learned:
    """A learner's judgement of words, its automaton (None if it does not close) and how well that tells the learner."""

    judge: Judge
    finite: FiniteAutomaton | None
    agreement: float


@dataclass(frozen=True)
class HeldOut:
    """Words of other scenes and their scores; and the scenes to act in, with the optimal return there."""

    words: list[Word]
    scores: np.ndarray
    scenes: range
    optimal: float


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--tasks", nargs="+", default=TASKS, choices=TASKS)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--learners", nargs="+", default=list(LEARNERS), choices=list(LEARNERS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--scenes", type=int, default=16, help="0: nobody acts")
    arguments = parser.parse_args()
    rows = []
    for name in arguments.tasks:
        runs = measure_task(find_task(name), arguments)
        rows += [
            mean_of([run for run in runs if (run["words"], run["learner"]) == (size, learner)])
            for size in arguments.sizes
            for learner in arguments.learners
        ]
    figures = {"rows": rows, "seeds": arguments.seeds, "scenes": arguments.scenes}
    report(figures, arguments.json, *tables(rows), width=150)


def measure_task(task: Task, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    scenes = range(FIRST_VALIDATION_SEED, FIRST_VALIDATION_SEED + arguments.scenes)
    optimal = mean_return(task, expert_policy(task, 0.0), scenes) if scenes else 0.0
    words, scores = draw_words(task, HELD_OUT_WORDS, HELD_OUT_SEED)
    held_out = HeldOut(words, np.array(scores), scenes, optimal)
    returns: dict[bytes, float] = {}
    pools = [draw_words(task, max(arguments.sizes), seed) for seed in range(arguments.seeds)]
    learners = {name: LEARNERS[name] for name in arguments.learners}
    for learn in learners.values():  # what is compiled or imported once is not learning
        learn(*first_of_each(pools[0], min(arguments.sizes)))
    runs = []
    for pool, size in product(pools, arguments.sizes):
        shown = first_of_each(pool, size)
        for name, learn in learners.items():
            runs.append(
                {"task": task.name, "words": size, "learner": name} | measure(task, learn, shown, held_out, returns)
            )
    return runs


def draw_words(task: Task, count: int, seed: int) -> tuple[list[Word], list[float]]:
    """As many words of successes as of failures, compressed."""
    dataset = collect(task, count // 2, count - count // 2, TEMPERATURE, seed)
    return [compress(word) for word in dataset.words], list(dataset.scores)


def first_of_each(pool: tuple[list[Word], list[float]], count: int) -> tuple[list[Word], list[float]]:
    """A smaller draw: the first successes and the first failures, as many of the one as of the other."""
    words, scores = pool
    successes = [i for i, score in enumerate(scores) if score >= THRESHOLD][: count // 2]
    failures = [i for i, score in enumerate(scores) if score < THRESHOLD][: count - count // 2]
    return [words[i] for i in successes + failures], [scores[i] for i in successes + failures]


def measure(
    task: Task, learn: Callable[..., Learned], shown: tuple[list[Word], list[float]], held_out: HeldOut, returns: dict
) -> dict[str, Any]:
    started = time.perf_counter()
    learned = learn(*shown)
    seconds = time.perf_counter() - started
    values = np.asarray(learned.judge(held_out.words))
    right = (values >= THRESHOLD) == (held_out.scores >= THRESHOLD)
    succeeded = held_out.scores >= THRESHOLD
    known = set(shown[0])
    unseen = np.array([word not in known for word in held_out.words])
    successes = [word for word, success in zip(held_out.words, succeeded, strict=True) if success]
    return {
        "right": share(right),
        "successes_accepted": share(right[succeeded]),
        "failures_rejected": share(right[~succeeded]),
        "unseen_share": share(unseen),
        "unseen_successes_accepted": share(right[succeeded & unseen]),
        "unseen_failures_rejected": share(right[~succeeded & unseen]),
        "early": share(np.array([stops_early(learned.judge, word) for word in dict.fromkeys(successes)])),
        "error": float(np.mean((values - held_out.scores) ** 2)),
        "seconds": seconds,
        "states": learned.finite.states if learned.finite else None,
        "agreement": learned.agreement,
        "return_minus_optimal": act(task, learned.finite, held_out, returns),
    }


def stops_early(judge: Judge, word: Word) -> bool:
    return bool((np.asarray(judge([word[:k] for k in range(len(word))])) >= THRESHOLD).any())


def share(flags: np.ndarray) -> float | None:
    return float(flags.mean()) if len(flags) else None


def act(task: Task, finite: FiniteAutomaton | None, held_out: HeldOut, returns: dict[bytes, float]) -> float | None:
    """The return of the agent that plans with an automaton, minus the optimal one; each automaton is asked once."""
    if not held_out.scenes:
        return None
    if finite is None:
        return -held_out.optimal  # without an automaton that closes there is no plan
    key = json.dumps(
        [[sorted(label) for label in finite.alphabet], finite.transitions.tolist(), finite.accepting.tolist()]
    ).encode()
    if key not in returns:
        try:
            returns[key] = mean_return(task, PlannedPolicy("learned", finite, unit_cost, 0.0), held_out.scenes)
        except ProductTooLargeError:
            returns[key] = 0.0  # an automaton of hundreds of states, too many for the planner
    return returns[key] - held_out.optimal


def mean_return(task: Task, policy: Policy, scenes: range) -> float:
    def run(seed: int) -> float:
        trajectory = roll_out(task, policy, seed, np.random.default_rng(seed))
        return episode_return(len(trajectory), trajectory.is_success, task.horizon)

    return float(np.mean(list(map_in_threads(run, scenes, n_jobs=2))))


def learn_wfa(words: list[Word], scores: list[float], select: bool = False) -> Learned:
    basis = {}
    if select:
        setting = select_setting(*with_optional_start(words, scores), np.random.default_rng(0)).chosen
        basis = {"rank": setting.rank, "rows": setting.rows, "cols": setting.cols}
    model = fit_task_model(words, scores, **basis, optional_start=True)
    return Learned(model.values, model.finite if model.summary.closed else None, 1.0)


def learn_gru(words: list[Word], scores: list[float], prefixes_fail: bool = True) -> Learned:
    learner = RecurrentLearner(prefixes_fail=prefixes_fail)
    try:
        learned = fit_recurrent_task(words, scores, optional_start=True, learner=learner)
    except FailedRunError:
        return Learned(learner.predict, None, 0.0)
    return Learned(learner.predict, learned.model.finite, learned.likely_agreement)


LEARNERS: dict[str, Callable[[list[Word], list[float]], Learned]] = {
    "wfa": learn_wfa,
    "wfa select": lambda words, scores: learn_wfa(words, scores, select=True),
    "gru": learn_gru,
    "gru words": lambda words, scores: learn_gru(words, scores, prefixes_fail=False),
}


def mean_of(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The seeds as one row: means over those that have a figure, and the spread of the share of right words."""
    row: dict[str, Any] = {name: runs[0][name] for name in ("task", "words", "learner")}
    for name in runs[0].keys() - row.keys():
        known = [run[name] for run in runs if run[name] is not None]
        row[name] = float(np.mean(known)) if known else None
    row["right_spread"] = float(np.std([run["right"] for run in runs]))
    row["closed"] = sum(run["states"] is not None for run in runs)
    return row


def tables(rows: list[dict[str, Any]]) -> Iterator[Table | str]:
    columns = ("right", "successes_accepted", "failures_rejected", "unseen_successes_accepted", "early", "error")
    columns = ("task", "words", "learner", *columns, "return_minus_optimal", "seconds", "states", "agreement")
    yield rows_table([{name: row[name] for name in columns} for row in rows])
    seconds = {name: np.array([row["seconds"] for row in rows if row["learner"] == name]) for name in LEARNERS}
    if len(seconds["gru"]) == len(seconds["wfa"]) > 0:
        ratio = float(np.exp(np.mean(np.log(seconds["gru"] / seconds["wfa"]))))
        yield f"learning takes the network {ratio:,.0f} times as long as the automaton (geometric mean of the rows)"


if __name__ == "__main__":
    main()
