"""The experiments on public data, on small files in the same formats."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest
from public_data_files import write_borlange, write_labyrinth, write_shanghai

from experiments.harness import Cell, Options, experiment, mean_and_spread, run_experiment
from experiments.harness.experiment import EXPERIMENTS
from experiments.harness.tables import to_markdown
from experiments.harness.workers import Workers
from experiments.public_data import borlange, labyrinth, shanghai
from experiments.public_data.labyrinth_data import trajectories_of
from experiments.public_data.shanghai import read_shanghai
from experiments.public_data.source import NoDataError, PublicSource, WrongSourceError
from wfairl.core.automata.rules import visit_in_order
from wfairl.core.rational.rational_learner import NothingExplainedError
from wfairl.core.support.errors import BadInputError

WRITE = {
    "borlange": write_borlange,
    "shanghai": lambda place: write_shanghai(place, range(5), (100, 1_000, 10_000)),
    "labyrinth": lambda place: write_labyrinth(place) and place,
}


@pytest.fixture
def unchecked(monkeypatch):
    """Files of our own count as what the authors published."""
    monkeypatch.setattr(PublicSource, "check", lambda *_: None)
    monkeypatch.setattr("experiments.public_data.labyrinth_data._digest", lambda arrays: "as published")
    published = dict.fromkeys(("restricted", "unrestricted"), "as published")
    monkeypatch.setattr("experiments.public_data.labyrinth_data.CONTENT", published)


@pytest.fixture
def loaded(monkeypatch):
    """Trajectories that have been read count as the folder of their files."""
    monkeypatch.setattr(PublicSource, "load", lambda _, trajectories: trajectories)


@pytest.fixture
def in_threads(monkeypatch):
    """Cells run in this process: starting workers takes longer than the fits."""

    @contextmanager
    def open_workers(*_):
        with ThreadPoolExecutor(1) as threads:
            yield Workers(threads, share_disk=True, count=lambda: 1)

    monkeypatch.setattr(experiment, "open_workers", open_workers)


@pytest.mark.usefixtures("unchecked", "in_threads")
@pytest.mark.parametrize("name", WRITE)
def test_an_experiment_writes_tables_and_a_page(name, tmp_path):
    place, directory = WRITE[name](tmp_path / "source"), tmp_path / "run"
    results = run_experiment(EXPERIMENTS.find(name), Options(quick=True, data=place), directory, 1)
    assert results.failures == {}
    assert results.outcomes.keys() == results.cells.keys()
    assert set(results.table.cell) == set(results.cells)
    markdown, page = (directory / "results.md").read_text(), (directory / "report.html").read_text()
    assert len(results.tables) >= 3
    for table in results.tables:
        assert to_markdown(table) in markdown
    assert "A quick look" in page


@pytest.mark.usefixtures("unchecked", "in_threads")
def test_a_cell_is_not_computed_twice_and_other_data_are_fitted_anew(tmp_path):
    options, chosen = Options(quick=True, data=write_borlange(tmp_path / "one")), EXPERIMENTS.find("borlange")
    first = run_experiment(chosen, options, tmp_path / "run", 1)
    written = {path: path.stat().st_mtime_ns for path in (tmp_path / "run" / "cells").rglob("result.json")}
    again = run_experiment(chosen, options, tmp_path / "run", 1)
    assert {path: path.stat().st_mtime_ns for path in written} == written
    assert again.to_markdown() == first.to_markdown()
    other = Options(quick=True, data=write_borlange(tmp_path / "other", seed=1))
    run_experiment(chosen, other, tmp_path / "run", 1)
    assert len(list((tmp_path / "run" / "cells").rglob("result.json"))) == 2 * len(written)


@pytest.mark.usefixtures("in_threads")
@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name not in ("sobti", "captaincook")])
def test_an_experiment_whose_cells_all_fail_has_a_page_that_says_why(name, tmp_path, monkeypatch):
    def fail(*_):
        raise BadInputError("it broke")

    monkeypatch.setattr(PublicSource, "folder", lambda *_: None)
    monkeypatch.setattr(Cell, "compute", fail)
    (tmp_path / "logs.tsv.xz").touch()  # the only data that no source describes
    options = Options(quick=True, data=tmp_path if name == "pdc" else None)
    results = run_experiment(EXPERIMENTS.find(name), options, tmp_path / "run", 1)
    assert results.failures.keys() >= results.cells.keys()
    assert "it broke" in (tmp_path / "run" / "report.html").read_text()
    assert "it broke" in (tmp_path / "run" / "results.md").read_text()


@pytest.mark.parametrize("name", WRITE)
def test_an_experiment_without_its_data_says_where_to_get_them(name, tmp_path):
    for data in (None, tmp_path / "nowhere"):
        with pytest.raises(NoDataError, match=r"github\.com.*give that folder as --data"):
            run_experiment(EXPERIMENTS.find(name), Options(data=data), tmp_path / "run")
    with pytest.raises(WrongSourceError, match="missing"):
        run_experiment(EXPERIMENTS.find(name), Options(data=tmp_path), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.usefixtures("unchecked")
def test_the_held_out_trips_of_borlange_are_not_fitted_to(tmp_path):
    place = write_borlange(tmp_path)
    trips = borlange.BORLANGE.load(place)
    outcome = borlange.held_out(place, "exact", 0)
    assert outcome.facts["trips"] == len(trips) - round(0.8 * len(trips))
    whole = borlange.in_sample(place, "exact")
    assert whole.facts["steps"] == len(trips.states)


@pytest.mark.usefixtures("loaded")
def test_unseen_pairs_of_shanghai_are_those_that_no_training_route_has(tmp_path):
    place = write_shanghai(tmp_path)
    training = place / "cross_validation" / "train_CV0_size100.csv"
    training.write_text("path\n0_1_3\n1_3_4\n")
    everywhere, unseen = shanghai.learn(read_shanghai(place), "linear", 100, 0).rows
    assert (everywhere["trips"], unseen["trips"]) == (6, 2)  # 0_2_3_4 and 2_3_4
    assert unseen["edit distance"] <= 1


@pytest.mark.usefixtures("loaded")
def test_the_labyrinth_learns_water_then_home_from_the_training_mice_alone(tmp_path):
    mice = write_labyrinth(tmp_path / "again")
    outcome = labyrinth.learn(trajectories_of(mice), "ours", "restricted")
    assert "-water->" in outcome.rows[0]["rule"]
    assert outcome.rows[0]["rule"].count("done") == 1
    # Validation mice that all do something else change nothing that is learned.
    mice["restricted"]["states"][mice["restricted"]["validation"]] = 0
    mice["restricted"]["controls"][mice["restricted"]["validation"]] = 3
    other = labyrinth.learn(trajectories_of(mice), "ours", "restricted")
    for column in ("rule", "follow none", "training bits"):
        assert other.rows[0][column] == outcome.rows[0][column]
    assert other.rows[0]["bits"] != outcome.rows[0]["bits"]


def test_mice_that_no_automaton_explains_are_taken_to_go_home(tmp_path, monkeypatch):
    def refuse(*_):
        raise NothingExplainedError("chance")

    data = trajectories_of(write_labyrinth(tmp_path))
    monkeypatch.setattr(labyrinth, "learn_posterior", refuse)
    trained = data.splits["unrestricted train"]
    model = labyrinth.learn_task(data, trained)
    assert model.finite.accepts([frozenset({"home"})])
    assert not model.finite.accepts([frozenset({"water"})])
    assert "assumed" in model.sentences[0]
    assert labyrinth.look_wrong(model) == len(trained)


@pytest.mark.usefixtures("loaded")
def test_copies_of_controls_cost_a_cost_on_nodes_what_the_last_column_gives_back(tmp_path):
    mice = trajectories_of(write_labyrinth(tmp_path))
    nodes = labyrinth.learn(mice, "node", "restricted").rows[0]
    copies = "bits, copies of controls counted as one"
    assert nodes[copies] > nodes["bits"] + 0.1
    for entry in ("ours", "unit", "no-automaton"):
        measured = labyrinth.learn(mice, entry, "restricted").rows[0]
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


def test_mean_and_spread():
    assert mean_and_spread([]) == "-"
    assert mean_and_spread([1.0]) == "1.000"
    assert mean_and_spread([1.0, 2.0], 1) == "1.5 ± 0.7"
