"""What is saved is loaded; what is damaged is named; nothing that is read can run code."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wfairl.core.demonstrations import Dataset, Demonstration, replay
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.safetensors_files import write_arrays
from wfairl.core.worlds import explore_world
from wfairl.runs import data_sets
from wfairl.runs.collection import collect
from wfairl.runs.data_sets import BrokenDatasetError, load, save
from wfairl.runs.task_registry import find_task


@pytest.fixture(scope="module")
def dataset():
    return collect(find_task("doorkey"), 3, 4, 0.5, seed=0)


@pytest.fixture
def path(tmp_path, dataset):
    save(dataset, tmp_path / "demos.safetensors")
    return tmp_path / "demos.safetensors"


def test_a_data_set_comes_back_as_it_was(path, dataset):
    assert load(path) == dataset
    assert load(path, task="doorkey") == dataset


def test_the_same_data_set_makes_the_same_bytes(path, tmp_path, dataset):
    for number in range(8):
        save(dataset, tmp_path / f"{number}.safetensors")
        assert (tmp_path / f"{number}.safetensors").read_bytes() == path.read_bytes()


@st.composite
def datasets(draw):
    labels = st.frozensets(st.sampled_from([f"p{i}" for i in range(100)]), max_size=80)
    items = []
    for _ in range(draw(st.integers(0, 4))):
        length = draw(st.integers(0, 5))
        items.append(
            Demonstration(
                controls=tuple(draw(st.lists(st.integers(0, 2**16 - 1), min_size=length, max_size=length))),
                labels=tuple(draw(st.lists(labels, min_size=length, max_size=length))),
                score=draw(st.floats(allow_nan=False, allow_infinity=False)),
                seed=draw(st.integers(0, 2**40)),
            )
        )
    return Dataset("any", tuple(items), draw(st.sampled_from([None, 0.0, 0.5, np.inf])))


@given(datasets())
def test_every_data_set_comes_back(tmp_path_factory, dataset):
    path = tmp_path_factory.mktemp("storage") / "x.safetensors"
    save(dataset, path)
    assert load(path) == dataset


def test_another_task_is_named(path):
    with pytest.raises(BrokenDatasetError, match="demonstrations of the task 'doorkey', not of 'multiroom'"):
        load(path, task="multiroom")


def forge(path, header=None, **arrays):
    """A file that nobody's `save` wrote, with a digest that fits."""
    content = {name: np.zeros(0, kind) for name, kind in data_sets.ARRAYS.items()}
    plain = {"task": "x", "temperature": 0.5, "labels": []}
    write_arrays(path, data_sets.FORMAT, data_sets.VERSION, plain if header is None else header, {**content, **arrays})


@pytest.mark.parametrize(
    "header", [{}, {"task": "x", "temperature": "hot", "labels": []}, {"task": "x", "temperature": 0.5, "labels": 3}]
)
def test_a_header_that_is_none_is_named_although_its_digest_fits(path, header):
    forge(path, header)
    with pytest.raises(BrokenDatasetError, match="its header is not that of a data set"):
        load(path)


@pytest.mark.parametrize(
    "arrays",
    [
        {"lengths": np.array([3])},
        {"lengths": np.array([-1]), "seeds": np.array([0]), "scores": np.zeros(1)},
        {"controls": np.zeros(2, np.uint16)},
        {"label_index": np.zeros(4, np.uint16)},
    ],
)
def test_arrays_that_do_not_fit_each_other_are_named(path, arrays):
    forge(path, **arrays)
    with pytest.raises(BrokenDatasetError, match="its arrays do not fit each other"):
        load(path)


class Bomb:
    def __reduce__(self):
        return exec, ("raise SystemExit('code from a file was run')",)


def test_a_pickle_is_refused_and_not_run(path):
    path.write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(BrokenDatasetError):
        load(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(BadInputError, match=r"nothing\.safetensors: no such file"):
        load(tmp_path / "nothing.safetensors")


def test_a_failed_write_leaves_the_old_file_and_no_litter(path, monkeypatch):
    before = path.read_bytes()
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(BadInputError, match="cannot be written"):
        save(Dataset("doorkey", ()), path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"controls": np.zeros(0, np.uint8)}, "the array 'controls' is missing or of the wrong type"),
        (
            {
                "lengths": np.array([1]),
                "seeds": np.array([0]),
                "scores": np.zeros(1),
                "controls": np.zeros(1, np.uint16),
                "label_index": np.array([7], np.uint16),
            },
            "its arrays do not fit the 0 labels of its header",
        ),
        ({"lengths": np.array([0]), "seeds": np.array([-4]), "scores": np.zeros(1)}, "the seed must lie between"),
    ],
)
def test_arrays_that_hold_no_demonstrations_are_named(path, arrays, message):
    forge(path, **arrays)
    with pytest.raises(BrokenDatasetError, match=message):
        load(path)


class Words:
    """A world whose states are texts, tuples and numbers."""

    controls = ("on", "back")
    propositions = ("three",)
    initial_state = ""
    states = ("", (1, "two"), 3.5, frozenset({4}))

    def step(self, state, control):
        return self.states[(self.states.index(state) + 1 - 2 * control) % 4]

    def label(self, state, control, next_state):
        return frozenset({"three"} if next_state == 3.5 else ())

    def features(self, state, control, next_state):
        return np.ones(1)


@given(st.lists(st.lists(st.integers(0, 1), max_size=6), max_size=4))
def test_demonstrations_in_a_world_of_any_states_come_back(tmp_path_factory, runs):
    path = tmp_path_factory.mktemp("storage") / "x.safetensors"
    for world in (Words(), explore_world(Words())):
        dataset = Dataset("own", tuple(replay(world, run, 1.0, seed) for seed, run in enumerate(runs)), 0.5)
        save(dataset, path)
        assert load(path) == dataset
