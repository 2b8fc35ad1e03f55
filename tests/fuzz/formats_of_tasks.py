"""Formats of what was learned of a task, and of the words that it is learned from."""

import gzip
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from corridors import corridor_task

from fuzz import json_mutations, text_mutations
from fuzz.file_format import NOTHING, SCORES, WORDS, A, B, FileFormat, sealed, text
from wfairl.core.automata.rules import all_of, avoid, visit_in_order
from wfairl.core.automata.task_model import TASK_MODEL_FORM, FitSummary, TaskModel
from wfairl.core.automata.weighted import WeightedAutomaton
from wfairl.core.rational.demonstrated_words import following_words
from wfairl.core.rational.rational_learner import RationalLearner
from wfairl.core.rational.task_posterior import posterior_of
from wfairl.core.spectral.task_learner import SpectralTaskLearner
from wfairl.core.support.files import write_atomically, write_json
from wfairl.events.event_logs import read_event_log
from wfairl.events.scored_words import read_jsonl
from wfairl.questions.hypotheses import hypotheses_of
from wfairl.runs import task_registry as registry
from wfairl.runs.collection import collect
from wfairl.runs.task_registry import load_tasks
from wfairl.specifications.formats import FORMATS as AUTOMATON_FORMATS
from wfairl.specifications.formats import read_automaton
from wfairl.studio.task_spec import TaskSpec


def spectral_model() -> TaskModel:
    return SpectralTaskLearner().fit(WORDS, SCORES).model


def packed_model() -> TaskModel:
    """So many weights that they are not written as text."""
    rng = np.random.default_rng(0)
    weights = 0.01 * rng.random((2, 110, 110))
    weighted = WeightedAutomaton((A, B), np.ones(110), np.ones(110), weights)
    summary = FitSummary(words=len(WORDS), successes=1, loss=0.0, states=3, closed=False, rank=110)
    return TaskModel("by hand", 0.5, False, summary, {}, None, weighted, max_states=3)


def guarded_model() -> TaskModel:
    rule = all_of(visit_in_order("a", "b"), avoid("c"))
    return TaskModel.of_automaton(rule, "by hand", WORDS, SCORES, stated=("a, then b",))


def read_task_model(path: Path) -> Any:
    """As `score` does."""
    model = TaskModel.load(path)
    return model, model.judge_all(WORDS)


@cache
def rational_model() -> TaskModel:
    task = corridor_task()
    return RationalLearner().learn(collect(task, 4, 2, 0.5, seed=0, n_jobs=1), task, n_jobs=1)


def read_rational_model(path: Path) -> Any:
    """As `ask`, `plan` and `report` do."""
    model = TaskModel.load(path)
    posterior = posterior_of(model)
    if posterior is None:
        return model
    labels = (NOTHING, frozenset({"parcel"}), frozenset({"home"}), frozenset({"parcel", "home"}))
    hypotheses = [(one.text, one.weight) for one in hypotheses_of(posterior, labels)]
    doubts = [(str(one.constraint), one.odds, one.constraint.automaton().to_document()) for one in posterior.doubts]
    words = following_words(posterior.demonstrated_words)
    return model, posterior.untested_labels(), hypotheses, doubts, words.edges


def task_document(path: Path) -> None:
    model = TaskModel.of_automaton(visit_in_order("key", "goal"), "by hand")
    propositions = {"key": {"is": "carrying", "kind": "key"}, "goal": {"is": "on", "terrain": "goal"}}
    write_json(path, TaskSpec("mine", "MiniGrid-DoorKey-5x5-v0", propositions).to_document(model))


def read_task_document(path: Path) -> Any:
    """As `--tasks` does; what is known before is known after."""
    known, loaded = dict(registry._registered()), dict(registry._loaded)
    try:
        (task,) = load_tasks(str(path))
        return task.name, task.summary, task.horizon, task.rule, task.propositions
    finally:
        registry._tasks._entries, registry._loaded = known, loaded


CSV = (
    "case,event,time,outcome\n17,pay,2026-03-01T09:05,\n18,order,2026-03-01T09:00,failure\n17,ship,2026-03-02T14:00,1\n"
)

XES = """<?xml version="1.0" encoding="UTF-8"?>
<log xes.version="1.0">
  <trace><string key="concept:name" value="17"/><boolean key="outcome" value="true"/>
    <event><string key="concept:name" value="order"/><string key="lifecycle:transition" value="complete"/></event>
    <event><string key="concept:name" value="ship"/></event></trace>
  <trace><string key="outcome" value="failed"/><event><string key="concept:name" value="order"/></event></trace>
</log>
"""

RULE = all_of(visit_in_order("a", "b"), avoid("c"))


def written_automaton(name: str) -> Callable[[Path], None]:
    return lambda path: write_atomically(path, AUTOMATON_FORMATS[name].write(RULE, {}))


FORMATS: tuple[FileFormat, ...] = (
    sealed("task model, spectral", "task.json", lambda p: spectral_model().save(p), read_task_model, TASK_MODEL_FORM),
    sealed("task model, packed", "task.json", lambda p: packed_model().save(p), read_task_model, TASK_MODEL_FORM),
    sealed("task model, guards", "task.json", lambda p: guarded_model().save(p), read_task_model, TASK_MODEL_FORM),
    sealed(
        "task model, rational",
        "task.json",
        lambda p: rational_model().save(p),
        read_rational_model,
        TASK_MODEL_FORM,
    ),
    FileFormat("task of one's own", "mine.task.json", task_document, read_task_document, json_mutations.JSON),
    FileFormat(
        "words",
        "words.jsonl",
        text(
            "".join(
                json.dumps({"word": [*map(sorted, w)], "score": s}) + "\n" for w, s in zip(WORDS, SCORES, strict=True)
            )
        ),
        read_jsonl,
        json_mutations.JSON_LINES,
    ),
    FileFormat("event log, CSV", "log.csv", text(CSV), read_event_log, text_mutations.TEXT),
    FileFormat("event log, XES", "log.xes", text(XES), read_event_log, text_mutations.TEXT),
    FileFormat(
        "event log, packed",
        "log.xes.gz",
        lambda p: p.write_bytes(gzip.compress(XES.encode(), mtime=0)),
        read_event_log,
        text_mutations.PACKED,
    ),
    FileFormat("HOA", "a.hoa", written_automaton("hoa"), read_automaton, text_mutations.TEXT),
    FileFormat("LTLf", "a.ltlf", written_automaton("ltlf"), read_automaton, text_mutations.TEXT),
    FileFormat("reward machine", "a.rm", written_automaton("reward-machine"), read_automaton, text_mutations.TEXT),
)
