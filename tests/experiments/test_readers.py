import os
import pickle

import numpy as np
import pytest
from public_data_files import (
    LINKS,
    SHANGHAI_ROUTES,
    draw_borlange,
    published_as,
    write_borlange,
    write_labyrinth,
    write_shanghai,
)

from experiments.public_data import labyrinth_data as labyrinth
from experiments.public_data.borlange import BORLANGE, read_borlange
from experiments.public_data.labyrinth_data import labyrinth_table, plain_unpickle, read_mice
from experiments.public_data.shanghai import CONTROLS, SHANGHAI, read_shanghai
from experiments.public_data.source import WrongSourceError
from experiments.public_data.trajectories import (
    ARRIVED,
    BrokenTrajectoriesError,
    TrajectorySet,
)
from wfairl.core.automata.automaton import UNAVAILABLE
from wfairl.core.automata.rules import visit_in_order
from wfairl.core.planning.cost import unit_cost
from wfairl.core.planning.planner import ExactPlanner


def test_borlange_has_its_routes_its_attributes_and_destinations_that_nothing_leaves(tmp_path):
    data = read_borlange(write_borlange(tmp_path))
    pairs, trips = draw_borlange()
    assert [[state + 1 for state in data.route(i)] for i in range(len(data))] == trips
    assert (data.table.successors[LINKS:] == UNAVAILABLE).all()
    states, controls = np.nonzero(data.table.successors != UNAVAILABLE)
    assert len(states) == len(pairs)
    for state, control in zip(states, controls, strict=True):
        after = int(data.table.successors[state, control])
        time, angle = pairs[state + 1, after + 1]
        left, back = float(angle == -0.9), float(abs(angle) == 3.14)  # the other angles are straight on or to the right
        expected = (0, 0, 0, 0) if after >= LINKS else (time, left, 1, back)
        assert tuple(data.table.features[data.table.feature_index[state, control]]) == pytest.approx(expected)


def test_shanghai_has_its_routes_its_splits_and_features_of_the_link_that_is_entered(tmp_path):
    data = read_shanghai(write_shanghai(tmp_path, splits=range(2)))
    assert set(data.splits) == {"test_CV0", "test_CV1", "train_CV0_size100", "train_CV1_size100"}
    for numbers in data.splits.values():
        assert ["_".join(map(str, data.route(i))) for i in numbers] == SHANGHAI_ROUTES
    features = dict(zip(data.table.feature_names, data.table.features[data.table.feature_index[0, 2]], strict=True))
    assert features.pop("length on residential roads, km") == pytest.approx(0.2)
    assert features.pop("right turn") == features.pop("link constant") == 1
    assert not any(features.values())
    one = dict(zip(data.table.feature_names, data.table.features[data.table.feature_index[0, 0]], strict=True))
    assert one["length on other roads, km"] == pytest.approx(0.15)  # a list of classes is another class
    assert CONTROLS[4] == "back"


def test_the_labyrinth_is_the_tree_that_its_authors_describe():
    table = labyrinth_table()
    for s in range(127):
        left, right, reverse, stay = table.successors[s]
        assert stay == s
        assert reverse == (0 if s == 0 else (s + 1) // 2 - 1)
        assert (left, right) == ((2 * (s + 1) - 1, 2 * (s + 1)) if s < 63 else (s, s))


def test_plain_arrays_and_the_authors_pickles_give_the_same_trajectories(tmp_path, monkeypatch):
    arrays = write_labyrinth(tmp_path / "plain")
    write_labyrinth(tmp_path / "authors", pickled=True)
    content = {mice: labyrinth._digest(one) for mice, one in arrays.items()}
    monkeypatch.setattr(labyrinth, "CONTENT", content)
    plain, authors = (labyrinth.read_labyrinth(tmp_path / name) for name in ("plain", "authors"))
    for name in ("states", "controls", "first"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(authors, name))
    for name, numbers in plain.splits.items():
        np.testing.assert_array_equal(numbers, authors.splits[name])
    assert len(plain) == 20
    assert plain.splits["unrestricted train"].min() >= 12


class _Hostile:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("depth", ["itself", "inside a trajectory", "as the reconstructor of an array"])
def test_a_pickle_that_would_run_something_is_refused_and_nothing_has_run(tmp_path, depth):
    trap = tmp_path / "trap"
    bomb = {
        "itself": _Hostile(trap),
        "inside a trajectory": [{"states": np.arange(3), "actions": _Hostile(trap)}],
        "as the reconstructor of an array": np.array([_Hostile(trap)], dtype=object),
    }[depth]
    write_labyrinth(tmp_path, pickled=True)
    (tmp_path / "water_restricted_mice_trajs.pickle").write_bytes(pickle.dumps(bomb))
    with pytest.raises(BrokenTrajectoriesError, match=r"water_restricted_mice_trajs\.pickle.*refused"):
        read_mice(tmp_path, "restricted")
    assert not trap.exists()
    pickle.loads(pickle.dumps(_Hostile(trap)))
    assert trap.exists()  # the trap works: it is the reader that did not step into it


def test_object_arrays_are_no_plain_arrays(tmp_path):
    arrays = write_labyrinth(tmp_path)["restricted"]
    np.savez(tmp_path / "restricted.npz", **{**arrays, "states": np.array([_Hostile(tmp_path / "trap")], dtype=object)})
    with pytest.raises(BrokenTrajectoriesError, match=r"restricted\.npz: cut short, or not plain arrays"):
        read_mice(tmp_path, "restricted")
    assert not (tmp_path / "trap").exists()


def test_mice_of_another_version_and_cut_or_missing_files_are_named(tmp_path):
    write_labyrinth(tmp_path)
    with pytest.raises(WrongSourceError, match=r"restricted\.npz: other values"):
        read_mice(tmp_path, "restricted")
    whole = (tmp_path / "restricted.npz").read_bytes()
    (tmp_path / "restricted.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BrokenTrajectoriesError, match=r"restricted\.npz: cut short"):
        read_mice(tmp_path, "restricted")
    (tmp_path / "restricted.npz").unlink()
    with pytest.raises(
        WrongSourceError, match=r"water_restricted_mice_trajs\.pickle: missing, and so is restricted\.npz"
    ):
        read_mice(tmp_path, "restricted")


@pytest.mark.parametrize(("source", "write"), [(BORLANGE, write_borlange), (SHANGHAI, write_shanghai)])
def test_every_file_that_is_missing_cut_or_another_version_is_named(tmp_path, source, write):
    write(tmp_path)
    published = published_as(source, tmp_path)
    published.load(tmp_path)
    for file in published.files:
        path = tmp_path / file.path
        content = path.read_bytes()
        for spoil, complaint in (
            (lambda path: path.unlink(), "missing"),
            (lambda path, content=content: path.write_bytes(content[:-3]), "cut short"),
            (lambda path, content=content: path.write_bytes(content[:-1] + b"7"), "another version"),
        ):
            spoil(path)
            with pytest.raises(WrongSourceError, match=f"{path.name}: {complaint}"):
                published.check(tmp_path)
            path.write_bytes(content)
    published.check(tmp_path)


def test_scenes_share_the_table_and_demonstrations_end_where_they_were_going(tmp_path):
    data = read_shanghai(write_shanghai(tmp_path))
    one, other = data.world(0), data.world(3)
    assert one.table is other.table
    demonstration = data.demonstration(4)
    assert demonstration.labels[-1] == {ARRIVED}
    assert demonstration.follow(data.world(4)).states == data.route(4)
    solution = ExactPlanner().solve(one, visit_in_order(ARRIVED), unit_cost)
    assert np.nanmin(solution.control_cost_to_go(one.initial_state, 0)) == len(data.route(0)) - 1


def test_trajectories_that_do_not_follow_the_table_are_refused():
    table = labyrinth_table()

    def make(states, controls, first=(0, 3)):
        return TrajectorySet("mice", table, *(np.array(part) for part in (first, states, controls)), {})

    make([0, 1, 3], [0, 0, 3])
    with pytest.raises(BrokenTrajectoriesError, match="step 1 of trajectory 0 does not follow the table"):
        make([0, 1, 9], [0, 0, 3])
    with pytest.raises(BrokenTrajectoriesError, match="a control is none of the 4"):
        make([0, 1, 3], [0, 0, 4])
    with pytest.raises(BrokenTrajectoriesError, match="at least one step"):
        make([0, 1, 3], [0, 0, 3], (0, 0, 3))


def test_the_known_sources_say_where_they_are_from():
    for source in (labyrinth.LABYRINTH, BORLANGE, SHANGHAI):
        assert "github.com" in source.where
        assert "commit" in source.where


class ObjectsAnywhere:
    """An array of objects over bytes that the pickle chooses: NumPy would follow them as pointers."""

    def __reduce__(self):
        return np.ndarray, ((1,), np.dtype("O"), bytes(8))


def test_no_array_of_objects_is_made_over_bytes_of_a_pickle(tmp_path):
    path = tmp_path / "hostile.pickle"
    with pytest.raises(BrokenTrajectoriesError, match="refused"):
        plain_unpickle(pickle.dumps(ObjectsAnywhere()), path)


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("dtype", ["<i8", ">i4", "<f8", "u1"])
def test_arrays_of_numbers_come_back_from_every_protocol(tmp_path, protocol, dtype):
    arrays = [np.arange(6).reshape(2, 3).astype(dtype), np.asfortranarray(np.arange(6).reshape(2, 3).astype(dtype))]
    content = pickle.dumps({"states": arrays, "number": arrays[0][1, 2]}, protocol)
    found = plain_unpickle(content, tmp_path / "plain.pickle")
    for one, other in zip(found["states"], arrays, strict=True):
        np.testing.assert_array_equal(one, other)
    assert found["number"] == arrays[0][1, 2]
