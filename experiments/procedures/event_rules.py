"""Rules hidden in event logs: how often each learner finds them.

A rule is a conjunction of two to four constraints: b only after a, a happens, if a happens then b happens too. Logs
are 2,000 words of about 12 events out of 15, most of them incidental, and 3 % of the flags are wrong. `right` is the
fraction of 2,000 other logs whose flag, before noise, is predicted; `states` is the number of live states of the
learned automaton, beside that of the rule's minimal one; `said` tells whether the sentences are those of the rule. The
peer is a decision tree on "a comes before b", which gives no automaton.
"""

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from experiments.harness import Cell, Experiment, Options, Outcome, Results
from experiments.harness.results import Sections
from experiments.procedures.unseen_scenes import mean_table
from wfairl.core.automata.word_corpus import encode
from wfairl.core.automata.words import Word, sort_labels
from wfairl.core.demonstrations.learners import Reading, WordLearner, find_learner
from wfairl.events.constraints import Constraint, Occurrences, compile_constraints
from wfairl.events.dfa import same_language, to_finite

EVENTS = tuple(f"event{i:02d}" for i in range(15))
ALPHABET = sort_labels(frozenset({event}) for event in EVENTS)
LOGS, FEWER_LOGS, MEAN_LENGTH, WRONG_FLAGS, MOST_STATES = 2_000, 300, 12, 0.03, 10_000
TREE = "tree (no automaton)"
LEARNERS = ("declare", "merging", "shortest", TREE)

Rule = Sequence[Constraint]


def cells(options: Options) -> list[Cell]:
    """Five rules, each by all learners; a quick look has one rule and few logs."""
    logs, seeds = (FEWER_LOGS, 1) if options.quick else (LOGS, options.seeds or 5)
    return [
        Cell(f"{seed} {learner}", learn_rule, {"seed": seed, "learner": learner, "logs": logs})
        for seed in range(seeds)
        for learner in options.methods or LEARNERS
    ]


def learn_rule(seed: int, learner: str, logs: int) -> Outcome:
    """One rule by one learner."""
    rng = np.random.default_rng(seed)
    rule = draw_rule(rng)
    shown, other = draw_logs(rng, logs), draw_logs(rng, logs)
    flags = kept(rule, shown) ^ (rng.random(logs) < WRONG_FLAGS)
    begun = time.process_time()
    if learner == TREE:
        tree = DecisionTreeClassifier(min_samples_leaf=5, random_state=0).fit(features(shown), flags)
        predicted, found = tree.predict(features(other)), {}
    else:
        by = find_learner(learner)
        assert isinstance(by, WordLearner)
        model = by.fit(shown, flags.astype(float).tolist(), Reading(keep_repeats=True)).model
        said = sorted(model.sentences) == sorted(constraint.sentence for constraint in rule)
        predicted = np.array(model.values(other)) >= 0.5
        found = {"states": model.summary.states, "said": float(said)}
    row = {
        "right": float((predicted == kept(rule, other)).mean()),
        **found,
        "states of the rule": to_finite(compile_constraints(rule, ALPHABET, MOST_STATES), ALPHABET).states,
        "successes": float(kept(rule, shown).mean()),
        "seconds": time.process_time() - begun,
    }
    return Outcome([row])


def features(words: Sequence[Word]) -> NDArray[np.bool_]:
    """Whether a comes before b, for all pairs, and whether a happens; shape [words, features]."""
    places = Occurrences.of(encode(words, ALPHABET), ALPHABET, EVENTS)
    happens = places.last >= 0
    before = (places.first[:, None] < places.first[None]) & happens[:, None]
    return np.vstack([before.reshape(-1, len(words)), happens]).T


def draw_rule(rng: np.random.Generator) -> list[Constraint]:
    """Constraints none of which follows from the others or could be said more simply; 10 to 90 % of logs keep them."""
    while True:
        rule = []
        for _ in range(rng.integers(2, 5)):
            name = str(rng.choice(["precedence", "existence", "responded existence"]))
            rule.append(Constraint.of(name, *map(str, rng.permutation(EVENTS)[: 1 if name == "existence" else 2])))
        if is_said_simply(rule) and 0.1 <= kept(rule, draw_logs(rng, 500)).mean() <= 0.9:
            return rule


def is_said_simply(rule: list[Constraint]) -> bool:
    """Whether no constraint can be left out or replaced by a simpler one."""
    whole = compile_constraints(rule, ALPHABET, MOST_STATES)
    if not whole.accepting.any():
        return False
    for i, constraint in enumerate(rule):
        others = rule[:i] + rule[i + 1 :]
        simpler = [[Constraint.of("existence", name)] for name in constraint.propositions]
        alternatives = [[], *simpler] if constraint.template.arguments == 2 else [[]]
        compiled = [compile_constraints(others + instead, ALPHABET, MOST_STATES) for instead in alternatives]
        if any(same_language(one, whole) for one in compiled):
            return False
    return True


def draw_logs(rng: np.random.Generator, count: int) -> list[Word]:
    """Words of random events."""
    lengths = rng.poisson(MEAN_LENGTH, size=count)
    flat = rng.integers(len(EVENTS), size=int(lengths.sum())).tolist()
    ends = np.cumsum(lengths).tolist()
    return [tuple(ALPHABET[i] for i in flat[end - n : end]) for n, end in zip(lengths.tolist(), ends, strict=True)]


def kept(rule: Rule, words: Sequence[Word]) -> NDArray[np.bool_]:
    """Whether each word keeps a rule."""
    places = Occurrences.of(encode(words, ALPHABET), ALPHABET, EVENTS)
    return np.logical_and.reduce([constraint.holds(places) for constraint in rule])


def sections(results: Results) -> Sections:
    """Each rule, and means over rules."""
    columns = ["right", "states", "states of the rule", "said", "seconds"]
    frame = results.table.reindex(columns=["seed", "learner", *columns])
    return {
        "Results": [
            mean_table(frame, ["learner"], columns, "Means over rules."),
            mean_table(frame, ["seed", "learner"], columns, "Each rule."),
        ]
    }


EVENT_RULES_EXPERIMENT = Experiment(
    name="event-rules",
    title="Rules hidden in event logs",
    summary="How often each learner finds the constraints that logs with wrong flags keep",
    cells=cells,
    sections=sections,
    quick="one rule, 300 logs",
    options=("methods", "seeds"),
)
