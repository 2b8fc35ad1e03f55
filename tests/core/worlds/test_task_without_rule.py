"""A task of which nobody knows the rule: demonstrations are trusted, and what needs a rule says so."""

import json
from dataclasses import replace

import pytest
from corridors import Corridor

from wfairl.core.automata.rules import visit_in_order
from wfairl.core.planning import RandomPolicy
from wfairl.core.rational import RationalLearner
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds import ModelTask
from wfairl.recordings.log import disagreements, read_log
from wfairl.runs import evaluate
from wfairl.runs.collection import collect
from wfairl.runs.task_laws import check_task
from wfairl.specifications.rule_evidence import weigh_rules

RULE = visit_in_order("parcel", "home")
TASK = ModelTask("corridor", "fetch it", ("parcel", "home"), RULE, 40, lambda seed: Corridor(4 + seed % 5))
UNKNOWN = replace(TASK, rule=None)


def log_of(dataset, path):
    lines = [json.dumps({"seed": one.seed, "controls": [int(u) for u in one.controls]}) for one in dataset]
    path.write_text("\n".join(lines))
    return path


def test_it_keeps_the_contract():
    check_task(UNKNOWN)


def test_what_needs_a_rule_says_so():
    with pytest.raises(BadInputError, match="has no rule"):
        collect(UNKNOWN, 1, 0, 0.5, 0)
    with pytest.raises(BadInputError, match="has no rule"):
        evaluate(UNKNOWN, RandomPolicy(), range(2))


def test_a_log_is_trusted_and_the_rule_is_learned_from_it(tmp_path):
    shown = collect(TASK, 6, 0, 0.5, 0, n_jobs=1)
    dataset = read_log(log_of(shown, tmp_path / "log.jsonl"), UNKNOWN)
    assert all(one.is_success for one in dataset)
    assert disagreements(dataset, UNKNOWN) == {}
    learned = RationalLearner().learn(dataset, UNKNOWN, n_jobs=1).finite
    held_out = read_log(log_of(collect(TASK, 6, 0, 0.5, 1, n_jobs=1), tmp_path / "other.jsonl"), UNKNOWN)
    assert weigh_rules({"learned": learned}, held_out, UNKNOWN, n_jobs=1)["learned"].unlike == ()


def test_a_score_in_the_log_is_kept(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"seed": 0, "controls": [0, 0], "score": 0.0}))
    assert not read_log(path, UNKNOWN).demonstrations[0].is_success
