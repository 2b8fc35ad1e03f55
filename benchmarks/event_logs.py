"""Rules hidden in event logs: how often each learner finds them, and the growth of the time.

    python benchmarks/event_logs.py [--json] [--seeds 5] [--largest 1000000] [--edsm]

A rule is a conjunction of two to four constraints: b only after a, a happens, if a happens then b happens too. Logs
are 2,000 words of about 12 events out of 15, most of them incidental, and 3 % of the flags are wrong. `right` is the
fraction of 2,000 other logs whose flag, before noise, is predicted; `states` is the number of live states of the
learned automaton, beside that of the rule's minimal one; `said` tells whether the sentences are those of the rule.

Peers: a decision tree on "a comes before b", which gives no automaton, and with `--edsm` that learner of AALpy
(`pip install aalpy`), on the first 200 logs only: on 2,000 it takes many minutes. Growth is of `declare` on words up to
`--largest`; `exponent` is the slope of log(seconds) against log(words) from 10^4 words on.
"""

import math
import time

import numpy as np
from reporting import make_parser, report, rows_table
from sklearn.tree import DecisionTreeClassifier

from wfairl.core.automata.dfa import same_language, to_finite
from wfairl.core.automata.word_corpus import encode
from wfairl.core.automata.words import sort_labels
from wfairl.core.demonstrations.learners import Reading, find_learner
from wfairl.events.constraints import Constraint, Occurrences, compile_constraints

EVENTS = tuple(f"event{i:02d}" for i in range(15))
ALPHABET = sort_labels(frozenset({event}) for event in EVENTS)
LOGS, MEAN_LENGTH, WRONG_FLAGS = 2_000, 12, 0.03
EDSM_LOGS = 200
LEARNERS = ("declare", "merging", "shortest")
EXAMPLE = (("precedence", EVENTS[0], EVENTS[1]), ("existence", EVENTS[2]), ("responded existence", *EVENTS[3:5]))


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--largest", type=int, default=1_000_000)
    parser.add_argument("--edsm", action="store_true")
    arguments = parser.parse_args()
    sizes = [10**k for k in range(3, int(math.log10(arguments.largest)) + 1)]
    warm_up()
    growth = [measure_growth(size) for size in sizes]
    figures = {
        "rules": [row for seed in range(arguments.seeds) for row in measure_rule(seed, arguments.edsm)],
        "growth": growth,
        "exponent": exponent(growth),
    }
    rules = [{name: value for name, value in row.items() if name != "rule"} for row in figures["rules"]]
    tables = [
        rows_table(rules, "rules"),
        rows_table(growth, f"growth: time grows as words ** {figures['exponent'] or math.nan:.2f}", ".2f"),
    ]
    report(figures, arguments.json, *tables)


def warm_up() -> None:
    """Compile what is compiled at its first call."""
    words = draw_logs(np.random.default_rng(0), 50)
    find_learner("merging").fit(words, [float(len(word) > MEAN_LENGTH) for word in words])


def measure_rule(seed: int, edsm: bool) -> list:
    rng = np.random.default_rng(seed)
    rule = draw_rule(rng)
    learned, other = draw_logs(rng, LOGS), draw_logs(rng, LOGS)
    truth, other_truth = kept(rule, learned), kept(rule, other)
    flags = truth ^ (rng.random(LOGS) < WRONG_FLAGS)
    own = to_finite(compile_constraints(rule, ALPHABET, 10_000), ALPHABET).states
    facts = {"seed": seed, "rule": sorted(c.sentence for c in rule), "rule_states": own, "successes": truth.mean()}
    rows = [facts | judge_learner(name, rule, learned, flags, other, other_truth) for name in LEARNERS]
    rows.append(facts | judge_tree(learned, flags, other, other_truth))
    if edsm:
        rows.append(facts | judge_edsm(learned[:EDSM_LOGS], flags[:EDSM_LOGS], other, other_truth))
    return rows


def judge_learner(name: str, rule: list, words: list, flags: np.ndarray, other: list, truth: np.ndarray) -> dict:
    started = time.perf_counter()
    task = find_learner(name).fit(words, flags.astype(float).tolist(), Reading(keep_repeats=True))
    seconds = time.perf_counter() - started
    said = np.array(task.model.values(other)) >= 0.5
    return {
        "learner": name,
        "right": float((said == truth).mean()),
        "states": task.model.summary.states,
        "said": sorted(task.model.sentences) == sorted(constraint.sentence for constraint in rule),
        "seconds": seconds,
    }


def judge_tree(words: list, flags: np.ndarray, other: list, truth: np.ndarray) -> dict:
    started = time.perf_counter()
    tree = DecisionTreeClassifier(min_samples_leaf=5, random_state=0).fit(features(words), flags)
    seconds = time.perf_counter() - started
    right = float((tree.predict(features(other)) == truth).mean())
    return {"learner": "tree (no automaton)", "right": right, "states": None, "said": False, "seconds": seconds}


def judge_edsm(words: list, flags: np.ndarray, other: list, truth: np.ndarray) -> dict:
    from aalpy.learning_algs import run_EDSM

    data = [(tuple(next(iter(label)) for label in word), bool(flag)) for word, flag in zip(words, flags, strict=True)]
    started = time.perf_counter()
    model = run_EDSM(data, automaton_type="dfa", print_info=False)
    seconds = time.perf_counter() - started
    said = np.array([edsm_accepts(model, word) for word in other])
    right = float((said == truth).mean())
    return {
        "learner": "EDSM (AALpy)",
        "right": right,
        "states": len(model.states),
        "said": False,
        "seconds": seconds,
    }


def edsm_accepts(model: object, word: tuple) -> bool:
    state = model.initial_state
    for label in word:
        state = state.transitions.get(next(iter(label)))
        if state is None:
            return False
    return bool(state.is_accepting)


def features(words: list) -> np.ndarray:
    """Whether a comes before b, for all pairs, and whether a happens."""
    places = Occurrences.of(encode(words, ALPHABET), ALPHABET, EVENTS)
    happens = places.last >= 0
    before = (places.first[:, None] < places.first[None]) & happens[:, None]
    return np.vstack([before.reshape(-1, len(words)), happens]).T


def draw_rule(rng: np.random.Generator) -> list:
    """Constraints none of which follows from the others or could be said more simply; 10 to 90 % of logs keep them."""
    while True:
        rule = []
        for _ in range(rng.integers(2, 5)):
            name = str(rng.choice(["precedence", "existence", "responded existence"]))
            rule.append(Constraint.of(name, *map(str, rng.permutation(EVENTS)[: 1 if name == "existence" else 2])))
        if said_simply(rule) and 0.1 <= kept(rule, draw_logs(rng, 500)).mean() <= 0.9:
            return rule


def said_simply(rule: list) -> bool:
    whole = compile_constraints(rule, ALPHABET, 10_000)
    if not whole.accepting.any():
        return False
    for i, constraint in enumerate(rule):
        others = rule[:i] + rule[i + 1 :]
        simpler = [[Constraint.of("existence", name)] for name in constraint.propositions]
        alternatives = [[], *simpler] if constraint.template.arguments == 2 else [[]]
        compiled = [compile_constraints(others + instead, ALPHABET, 10_000) for instead in alternatives]
        if any(same_language(one, whole) for one in compiled):
            return False
    return True


def draw_logs(rng: np.random.Generator, count: int) -> list:
    lengths = rng.poisson(MEAN_LENGTH, size=count)
    flat = rng.integers(len(EVENTS), size=int(lengths.sum())).tolist()
    ends = np.cumsum(lengths).tolist()
    return [tuple(ALPHABET[i] for i in flat[end - n : end]) for n, end in zip(lengths.tolist(), ends, strict=True)]


def kept(rule: list, words: list) -> np.ndarray:
    places = Occurrences.of(encode(words, ALPHABET), ALPHABET, EVENTS)
    return np.logical_and.reduce([constraint.holds(places) for constraint in rule])


def measure_growth(count: int) -> dict:
    rng = np.random.default_rng(0)
    rule = [Constraint.of(*parts) for parts in EXAMPLE]
    words = draw_logs(rng, count)
    flags = (kept(rule, words) ^ (rng.random(count) < WRONG_FLAGS)).astype(float).tolist()
    started = time.perf_counter()
    task = find_learner("declare").fit(words, flags, Reading(keep_repeats=True))
    seconds = time.perf_counter() - started
    said = sorted(task.model.sentences) == sorted(constraint.sentence for constraint in rule)
    return {"words": count, "seconds": seconds, "said": said}


def exponent(rows: list) -> float | None:
    large = [row for row in rows if row["words"] >= 10**4]
    if len(large) < 2:
        return None
    return float(np.polyfit(*(np.log([row[key] for row in large]) for key in ("words", "seconds")), 1)[0])


if __name__ == "__main__":
    main()
