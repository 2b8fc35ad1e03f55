import json
from collections import Counter

import numpy as np
import pytest
from public_data_files import write_borlange, write_labyrinth, write_shanghai

from experiments.public_data.borlange import read_borlange
from experiments.public_data.labyrinth import trajectories_of
from experiments.public_data.shanghai import read_shanghai
from experiments.public_data.trajectories import save_trajectories
from experiments.suites import borlange, compute, labyrinth, shanghai
from experiments.suites.data_suite import Outcome, find_data_suite, mean_and_spread
from wfairl.core.automata.rules import visit_in_order
from wfairl.core.rational.rational_learner import NothingExplainedError


@pytest.fixture
def data(tmp_path):
    place = tmp_path / "data"
    for one in (
        read_borlange(write_borlange(tmp_path / "b")),
        read_shanghai(write_shanghai(tmp_path / "s", range(1), (100, 1000))),
        trajectories_of(write_labyrinth(tmp_path / "l")),
    ):
        save_trajectories(one, place)
    return place


@pytest.fixture
def in_this_process(monkeypatch):
    """Jobs run here: starting workers takes longer than the fits."""
    done = []

    def run_jobs(jobs, directory, workers, title):
        for job in jobs:
            done.append(job.name)
            job.work(directory)
        return {}

    monkeypatch.setattr(compute, "run_jobs", run_jobs)
    return done


@pytest.mark.parametrize("name", ["labyrinth", "borlange", "shanghai"])
def test_a_suite_writes_tables_figures_and_a_page(name, data, in_this_process, tmp_path):
    suite, directory = find_data_suite(name), tmp_path / "run"
    results = compute.reproduce_on_data(suite, data, directory, True, 1, "wfairl reproduce")
    assert in_this_process == [fit.name for fit in suite.fits(True)]
    assert set(results.outcomes) == set(in_this_process)
    document = json.loads((directory / "results.json").read_text())
    assert document["fits"].keys() == results.outcomes.keys()
    markdown, page = (directory / "results.md").read_text(), (directory / "report.html").read_text()
    for table in results.text_tables:
        assert table.to_markdown() in markdown
    assert "A quick look" in page
    assert "what may be claimed" in page
    assert list((directory / "figures").glob("*.svg"))


def test_a_fit_is_not_made_twice_and_a_page_is_written_again_without_the_data(data, in_this_process, tmp_path):
    suite, directory = find_data_suite("borlange"), tmp_path / "run"
    results = compute.reproduce_on_data(suite, data, directory, True, 1, "wfairl reproduce")
    again = compute.reproduce_on_data(suite, data, directory, True, 1, "wfairl reproduce")
    assert len(in_this_process) == len(results.outcomes)
    assert again.text_tables == results.text_tables
    before = (directory / "report.html").read_text()
    (directory / "report.html").unlink()
    compute.write_report(directory)
    assert (directory / "report.html").read_text() == before


def test_other_data_are_fitted_anew(data, in_this_process, tmp_path):
    suite, directory = find_data_suite("borlange"), tmp_path / "run"
    compute.reproduce_on_data(suite, data, directory, True, 1, "")
    made = len(in_this_process)
    save_trajectories(read_borlange(write_borlange(tmp_path / "other", seed=1)), data)
    compute.reproduce_on_data(suite, data, directory, True, 1, "")
    assert len(in_this_process) == 2 * made


def test_a_suite_whose_fits_all_fail_has_a_page_that_says_why(data, monkeypatch, tmp_path):
    monkeypatch.setattr(compute, "run_jobs", lambda jobs, *_: {job.name: "it broke" for job in jobs})
    suite, directory = find_data_suite("borlange"), tmp_path / "run"
    results = compute.reproduce_on_data(suite, data, directory, True, 1)
    assert results.failures.keys() == {fit.name for fit in suite.fits(True)}
    assert "it broke" in (directory / "report.html").read_text()
    assert "it broke" in (directory / "results.md").read_text()


def test_the_held_out_trips_of_borlange_are_not_fitted_to(data):
    """Fitting to the trips that are tested would find other weights."""
    trips = read_borlange(write_borlange(data / "again"))
    outcome = borlange.held_out(trips, "exact", 0)
    assert outcome.facts["trips"] == len(trips) - round(0.8 * len(trips))
    whole = borlange.in_sample(trips, "exact")
    assert whole.facts["steps"] == len(trips.states)


def test_unseen_pairs_of_shanghai_are_those_that_no_training_route_has(tmp_path):
    place = write_shanghai(tmp_path)
    training = place / "cross_validation" / "train_CV0_size100.csv"
    training.write_text("path\n0_1_3\n1_3_4\n")
    outcome = shanghai.learn(read_shanghai(place), "linear", 100, 0)
    assert (outcome.facts["trips"], outcome.facts["unseen trips"]) == (6, 2)  # 0_2_3_4 and 2_3_4
    assert outcome.measured["unseen edit distance"] <= 1


def test_the_labyrinth_learns_water_then_home_from_the_training_mice_alone(data, tmp_path):
    mice = write_labyrinth(tmp_path / "again")
    outcome = labyrinth.learn(trajectories_of(mice), "ours", "restricted")
    assert "-water->" in outcome.facts["rule"][0]
    assert outcome.facts["rule"][0].count("done") == 1
    # Validation mice that all do something else change nothing that is learned.
    mice["restricted"]["states"][mice["restricted"]["validation"]] = 0
    mice["restricted"]["controls"][mice["restricted"]["validation"]] = 3
    other = labyrinth.learn(trajectories_of(mice), "ours", "restricted")
    assert other.facts == outcome.facts
    assert other.measured["training bits"] == outcome.measured["training bits"]
    assert other.measured["bits"] != outcome.measured["bits"]


def test_mice_that_no_automaton_explains_are_taken_to_go_home(tmp_path, monkeypatch):
    def refuse(*_):
        raise NothingExplainedError("chance")

    data = trajectories_of(write_labyrinth(tmp_path))
    monkeypatch.setattr(labyrinth, "learn_posterior", refuse)
    trained = data.split("unrestricted train")
    model = labyrinth.learn_task(data, trained)
    assert model.finite.accepts([frozenset({"home"})])
    assert not model.finite.accepts([frozenset({"water"})])
    assert "assumed" in model.sentences[0]
    assert labyrinth.look_wrong(model) == len(trained)


def test_copies_of_controls_cost_a_cost_on_nodes_what_the_last_column_gives_back(tmp_path):
    mice = trajectories_of(write_labyrinth(tmp_path))
    nodes = labyrinth.learn(mice, "node", "restricted").measured
    copies = "bits, copies of controls counted as one"
    assert nodes[copies] > nodes["bits"] + 0.1
    for entry in ("ours", "unit", "no-automaton"):
        measured = labyrinth.learn(mice, entry, "restricted").measured
        assert measured[copies] >= measured["bits"]


def test_counts_are_frequencies_in_each_state_of_the_automaton_and_node(tmp_path):
    """Counted with a dictionary: whether water was met, the node, the control."""
    arrays = write_labyrinth(tmp_path)
    data, mice = trajectories_of(arrays), arrays["restricted"]
    graph = labyrinth.task_graph(data.world(0), visit_in_order("water", "home"))
    found = labyrinth._frequencies(data, graph, mice["train"], mice["validation"], 0.5)

    def steps(rows):
        for row in rows:
            state = 0
            for node, control, after in zip(
                mice["states"][row], mice["controls"][row], [*mice["states"][row][1:], 0], strict=True
            ):
                yield (state, int(node)), int(control)
                state = 1 if state == 0 and after == 100 else 2 if state == 1 and after == 0 else state

    seen = Counter(steps(mice["train"]))
    expected = [
        np.log((seen[place, control] + 0.5) / (sum(seen[place, u] for u in range(4)) + 2))
        for place, control in steps(mice["validation"])
    ]
    np.testing.assert_allclose(found, expected)


def test_the_length_of_a_trajectory_leaves_out_the_stay_at_home_at_its_end():
    states, controls = np.array([0, 0, 2, 0, 0, 0]), np.array([3, 1, 2, 2, 3, 3])
    assert labyrinth.length_of(states, controls) == 4
    assert labyrinth.length_of(np.zeros(5, int), np.full(5, 3)) == 1


def test_an_outcome_is_stored_with_its_arrays_and_belongs_to_its_key(tmp_path):
    outcome = Outcome({"bits": -0.3}, {"rule": ["a"]}, {"costs": np.arange(3.0)})
    outcome.save(tmp_path / "fit.json", {"seed": 1})
    loaded = Outcome.load(tmp_path / "fit.json", {"seed": 1})
    assert (loaded.measured, loaded.facts) == (outcome.measured, outcome.facts)
    np.testing.assert_array_equal(loaded.arrays["costs"], outcome.arrays["costs"])
    assert Outcome.load(tmp_path / "fit.json", {"seed": 2}) is None
    assert Outcome.load(tmp_path / "none.json", {"seed": 1}) is None


def test_mean_and_spread():
    assert mean_and_spread([]) == "-"
    assert mean_and_spread([1.0]) == "1.000"
    assert mean_and_spread([1.0, 2.0], 1) == "1.5 ± 0.7"
