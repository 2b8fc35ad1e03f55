"""The experiments on people's words, on small made-up files."""

import json
from itertools import permutations

import pytest

from experiments.harness.experiment import Options, run_experiment
from experiments.public_data.captaincook import CAPTAINCOOK_EXPERIMENT, f1, learn_edges, with_ends
from experiments.public_data.sobti import DESIGNS, SOBTI_EXPERIMENT, distance, read_rule
from wfairl.core.support.errors import BadInputError
from wfairl.events.order_learner import LearnedOrder


def test_sobti_counts_distances_and_wrong_demonstrations(tmp_path):
    rule = {"eventual": ["r", "g"], "global": ["NOT o1", "NOT o2"], "order": "NOT g UNTIL r & o1 & o2"}
    records = [
        {"task": 1, "participant": "1", "design": design, "demonstration": i + 1, "published_distance": 0.5}
        | {"word": [["g"], ["r"]] if i == 7 else [[], ["r"], [], ["g"]]}
        for design in DESIGNS
        for i in range(10)
    ]
    (tmp_path / "truth.json").write_text(json.dumps({"1": rule}))
    (tmp_path / "demonstrations.jsonl").write_text("\n".join(map(json.dumps, records)))
    table = run_experiment(SOBTI_EXPERIMENT, Options(data=tmp_path), tmp_path / "run", 1).table
    last = table[(table["after"] == 10) & (table["design"] == "random")]
    # No word has b or y: they are learned as never, beside o1 and o2, r and g, and their order.
    assert last["distance"].item() == pytest.approx(1 - 5 / 7)
    assert table[table["design"] == "all"][["wrong", "named", "named in vain"]].to_numpy().tolist() == [[3, 3, 0]]


def test_distance_is_that_of_conjuncts():
    rule = read_rule({"eventual": ["r", "g"], "global": ["NOT o1"], "order": "NOT g UNTIL r & o1"})
    assert rule == LearnedOrder(("r", "g"), ("o1",), (("r", "g"),))
    assert distance(rule, rule) == 0
    assert distance(rule, LearnedOrder(("r", "g"), (), (("g", "r"),))) == pytest.approx(1 - 2 / 5)


def test_captaincook_finds_the_graph_of_a_recipe(tmp_path):
    steps = {"1": "Peel-Peel a carrot", "2": "Cut-Cut a leek", "3": "Boil-Boil carrot and leek"}
    edges = [["START", 1], ["START", 2], [1, 3], [2, 3], [3, "END"]]
    one = {"steps": steps, "sequences": [[1, 2, 3], [2, 1, 3]] * 3, "edges": edges}
    (tmp_path / "recipes.json").write_text(json.dumps({"soup": one, "stew": one}))
    table = run_experiment(CAPTAINCOOK_EXPERIMENT, Options(data=tmp_path, quick=True), tmp_path / "run", 1).table
    assert len(table) == 2 * 4 * 5
    assert (table[table["sequences"] == "all"]["F1"] == 100).all()


def test_f1_counts_the_edges_of_start_and_end():
    true = with_ends({("a", "b")}, "ab")
    assert true == {("START", "a"), ("a", "b"), ("b", "END")}
    for found in permutations(true, 2):
        assert f1(set(found), true) == pytest.approx(2 * 1 * (2 / 3) / (1 + 2 / 3))


def test_the_plain_rule_reads_the_sequences_that_have_both_steps():
    found = learn_edges([["a", "b", "c"], ["b", "a", "c"], ["a", "c"]], {}, "plain", ())
    assert found == with_ends({("a", "c"), ("b", "c")}, "abc")


def test_experiments_on_people_ask_for_their_data(tmp_path):
    for experiment in (SOBTI_EXPERIMENT, CAPTAINCOOK_EXPERIMENT):
        with pytest.raises(BadInputError, match="--data"):
            run_experiment(experiment, Options(), tmp_path / experiment.name)
