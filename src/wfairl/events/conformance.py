"""Conformance: how far each case of a log is from a model, where, and why.

    cost       ranks cases: 0 for one in which nothing is unusual
    fitness    1 - the cost of the best alignment / its largest value, as process mining defines it
    violated   the sentences of the rule that the case breaks, those with most evidence first

The cost is that of the best alignment. If the model was learned from good cases alone, the `deviation` of the relations
of the case is added. The evidence of the sentences that the case breaks adds less than 1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.words import Word, as_read
from wfairl.core.demonstrations.learners import PLAIN_READING, LearnedTask, Reading
from wfairl.events.alignment import Aligner
from wfairl.events.declare import DeclareLearner
from wfairl.events.event_logs import EventLog, LogColumns, find_columns, from_frame
from wfairl.events.event_texts import as_attribute
from wfairl.events.learned_rule import learned_rule_of
from wfairl.events.shortest import ShortestLearner


@dataclass(frozen=True, eq=False)
class Conformance:
    """How far words are from a model; arrays have the shape [words]."""

    model: TaskModel
    aligner: Aligner  # of the model, with the costs of events
    words: tuple[Word, ...]  # as the model reads them
    cases: tuple[str, ...]  # their names, empty if they have none
    cost: NDArray[np.float64]
    fitness: NDArray[np.float64]
    violated: tuple[tuple[str, ...], ...]  # the sentences that each word breaks
    conforming: NDArray[np.bool_]  # whether the model accepts each word

    @property
    def ranking(self) -> NDArray[np.int64]:
        """The words from the farthest to the nearest, shape [words]."""
        return np.argsort(-self.cost, kind="stable")

    def reason(self, number: int) -> str:
        """Why a word is far off, in a sentence; empty if it is not."""
        rule, word = learned_rule_of(self.model), self.words[number]
        if not self.cost[number] > 0:
            return ""
        if not word:
            return "no event"
        if rule is not None and rule.relations is not None and (reasons := rule.relations.reasons(word)):
            return "; ".join(reasons)
        if rule is not None and (broken := rule.violations([word])[0]):
            return "; ".join(one.denial for one in broken[:4])
        found = self.aligner.align(word)
        return "; ".join(str(move) for move in (*found.extra, *found.missing)[:4])

    def columns(self) -> dict[str, Sequence[Any]]:
        """One entry per case, by the name of the column."""
        return {
            "case": self.cases or range(len(self.words)),
            "cost": self.cost.tolist(),
            "fitness": self.fitness.tolist(),
            "conforming": self.conforming.tolist(),
            "violated": ["; ".join(sentences) for sentences in self.violated],
            "reason": [self.reason(i) for i in range(len(self.words))],
        }


def conform(
    model: TaskModel, words: Sequence[Word], cases: Sequence[str] = (), costs: Mapping[Label | str, float] | None = None
) -> Conformance:
    """Compare words with a model; `costs` are those of extra and missing events, 1 where it names none."""
    read = as_read(words, model.keep_repeats)
    number = {word: i for i, word in enumerate(dict.fromkeys(read))}
    which, distinct = np.array([number[word] for word in read], np.int64), [*number]
    aligner = Aligner.of(model, costs)
    cost, fitness = aligner.measure(distinct)
    conforming = np.array(model.values(distinct)) >= model.threshold
    rule = learned_rule_of(model)
    broken = [[] for _ in distinct] if rule is None else rule.violations(distinct)
    if rule is not None and rule.relations is not None:
        cost = cost + rule.relations.deviations(distinct)
    evidence = np.array([sum(max(one.evidence, 0.0) for one in some) for some in broken])
    cost, sentences = cost + evidence / (1 + evidence), [tuple(one.sentence for one in some) for some in broken]
    violated = tuple(sentences[i] for i in which)
    return Conformance(
        model, aligner, tuple(read), tuple(cases), cost[which], fitness[which], violated, conforming[which]
    )


def learn_process(
    log: Any,
    case: str = LogColumns.case,
    activity: str = LogColumns.event,
    time: str = LogColumns.time,
    outcome: str = LogColumns.outcome,
    attributes: Sequence[str] = (),
    outliers: float | None = None,
    lifecycle: str = LogColumns.lifecycle,
) -> LearnedTask:
    """Learn from a log: a pandas DataFrame, or an `EventLog`.

    If all cases of the log have outcomes, what tells successes from failures; else what the cases have in common.

    Args:
        log: one row per event.
        case, activity, time, outcome, lifecycle: names of columns, and which events count; see `LogColumns`.
        attributes: columns that become propositions.
        outliers: share of the cases that may break a rule learned from good cases; estimated if None.
    """
    columns = LogColumns(case, activity, time, outcome, lifecycle, tuple(attributes))
    read = good_or_scored(log if isinstance(log, EventLog) else from_frame(log, columns))
    assert read.scores is not None
    learner = DeclareLearner(outliers=outliers) if min(read.scores) >= PLAIN_READING.threshold else ShortestLearner()
    task = learner.fit(read.words, read.scores, Reading(keep_repeats=True))
    return replace(task, notes=(*read.notes, *task.notes))


def conform_frame(
    model: TaskModel,
    frame: Any,
    case: str = LogColumns.case,
    activity: str = LogColumns.event,
    time: str = LogColumns.time,
    lifecycle: str = LogColumns.lifecycle,
) -> Any:
    """Compare the cases of a pandas DataFrame with a model: a DataFrame with one row per case, named as in the frame.

    `case`, `activity` and `time` are names of columns, `lifecycle` says which events count; see `LogColumns`.
    """
    columns = LogColumns(case, activity, time, lifecycle=lifecycle, attributes=attributes_of(model))
    log = from_frame(frame, columns)
    given = frame.iloc[:, find_columns(map(str, frame.columns), columns, "the frame")["case"]]
    named = {str(one).strip(): one for one in given.unique()}
    columns_of_cases = conform(model, log.words, log.cases).columns()
    return type(frame)({**columns_of_cases, "case": [named[name] for name in log.cases]})


def attributes_of(model: TaskModel) -> tuple[str, ...]:
    """The propositions of a model that are about attributes of events, such as `amount > 1000`.

    An event may have such a name too. But it stands alone in labels, and an attribute stands beside its event.
    """
    events = {name for label in model.alphabet if len(label) == 1 for name in label}
    names = {name for label in model.alphabet for name in label} - events
    return tuple(sorted(name for name in names if as_attribute(name)))


def good_or_scored(log: EventLog) -> EventLog:
    """The log with a score for every case.

    Without outcomes all cases count as good. If some cases have outcomes and most have not, those that have failed are
    left out. If most have outcomes, the others are left out.
    """
    if log.scores is not None:
        return log
    if not log.outcomes:
        return replace(log, scores=(1.0,) * len(log))
    open_ = log.outcomes.count(None)
    if 2 * open_ < len(log):
        keep = [i for i, one in enumerate(log.outcomes) if one is not None]
        note = "were left out"
    else:
        keep = [i for i, one in enumerate(log.outcomes) if one is None or one >= PLAIN_READING.threshold]
        note = f"count as good; {len(log) - len(keep):,} failures were left out"
    scores = tuple(1.0 if (one := log.outcomes[i]) is None else one for i in keep)
    words, cases = tuple(log.words[i] for i in keep), tuple(log.cases[i] for i in keep)
    note = f"{open_:,} of {len(log):,} cases have no outcome and {note}"
    return EventLog(words, scores, cases, scores, (*log.notes, note))
