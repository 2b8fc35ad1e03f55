"""A round trip through a real Minari data set on disk."""

import sys
from pathlib import Path

import h5py
import minari
import numpy as np
import pytest

from wfairl.core.automata.rules import visit_in_order
from wfairl.core.demonstrations import Dataset, replay
from wfairl.core.support.errors import BadInputError, MissingExtraError
from wfairl.core.worlds import ModelTask
from wfairl.recordings.minari_exchange import export_minari, import_minari
from wfairl.runs.collection import collect
from wfairl.runs.task_registry import find_task

TASK = find_task("doorkey")
ID = "doorkey/expert-v0"


@pytest.fixture(scope="module")
def dataset():
    return collect(TASK, 3, 2, 0.5, seed=0)


@pytest.fixture
def root(tmp_path, dataset):
    export_minari(dataset, TASK, ID, tmp_path)
    return tmp_path


def test_a_round_trip_keeps_every_demonstration(root, dataset):
    imported = import_minari(ID, TASK, root)
    assert imported.dataset.demonstrations == dataset.demonstrations
    assert imported.rejected == {}


def test_the_user_is_spared_warnings_about_what_cannot_be_given(tmp_path, dataset, recwarn):
    export_minari(dataset, TASK, ID, tmp_path)
    assert [str(one.message) for one in recwarn if one.category is UserWarning] == []


@pytest.mark.parametrize("name", ["doorkey-terrain", "ordered-pickup"])
def test_what_was_shown_in_an_environment_of_our_own_is_stored_with_its_environment(tmp_path, monkeypatch, name):
    task = find_task(name)
    shown = collect(task, 1, 0, 0.0, seed=0)
    export_minari(shown, task, ID, tmp_path)
    assert import_minari(ID, task, tmp_path).dataset.demonstrations == shown.demonstrations
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    environment = minari.load_dataset(ID).recover_environment()
    (demonstration,) = shown
    environment.reset(seed=demonstration.seed)
    *_, last = map(environment.step, demonstration.controls)
    assert last[2] == (name == "doorkey-terrain")  # at the goal; three balls end no episode


def test_minari_itself_reads_what_was_written(root, dataset, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(root))
    loaded = minari.load_dataset(ID)
    assert loaded.total_episodes == len(dataset)
    assert loaded.total_steps == sum(map(len, dataset))
    for episode, demonstration in zip(loaded.iterate_episodes(), dataset, strict=True):
        assert tuple(episode.actions) == demonstration.controls
        assert len(episode.observations["image"]) == len(demonstration) + 1
        assert bool(episode.terminations[-1]) == (demonstration.score == 1)
        assert (episode.rewards.sum() > 0) == (demonstration.score == 1)


def edit(root, change):
    (file,) = root.rglob("main_data.hdf5")
    with h5py.File(file, "r+") as data:
        change(data)


def test_an_episode_that_the_world_contradicts_is_rejected_with_its_step_and_the_others_stay(root, dataset):
    def turn_the_agent(data):
        data["episode_1/observations/direction"][4] = (data["episode_1/observations/direction"][4] + 1) % 4

    edit(root, turn_the_agent)
    imported = import_minari(ID, TASK, root)
    assert list(imported.rejected) == [1]
    assert "the observed 'direction' after step 3 is not what the world shows" in imported.rejected[1]
    assert imported.dataset.demonstrations == (dataset.demonstrations[0], *dataset.demonstrations[2:])


def test_an_episode_with_an_impossible_control_is_rejected(root, dataset):
    edit(root, lambda data: data["episode_2/actions"].write_direct(np.full(len(data["episode_2/actions"]), 6)))
    imported = import_minari(ID, TASK, root)
    assert list(imported.rejected) == [2]
    assert "step 0: 6 is not a control" in imported.rejected[2]
    assert len(imported.dataset) == len(dataset) - 1


def test_an_episode_that_was_cut_or_has_no_scene_is_rejected_and_the_others_stay(root, dataset):
    def cut(data):
        actions = data["episode_0/actions"][:-1]
        del data["episode_0/actions"]
        data["episode_0/actions"] = actions
        data["episode_3"].attrs["seed"] = -1

    edit(root, cut)
    imported = import_minari(ID, TASK, root)
    assert "observations of" in imported.rejected[0]
    assert "scene cannot be made again" in imported.rejected[3]
    assert imported.dataset.demonstrations == (*dataset.demonstrations[1:3], dataset.demonstrations[4])


def test_a_demonstration_that_goes_on_after_its_end_cannot_be_exported(tmp_path, dataset):
    """The model stands still on the goal, and the real environment would walk on."""
    first = dataset.demonstrations[0]
    longer = replay(TASK.make_world(first.seed), [*first.controls, 0], 1.0, first.seed)
    with pytest.raises(BadInputError, match=f"step {len(first)}: the world goes to another state"):
        export_minari(Dataset("doorkey", (longer,)), TASK, ID, tmp_path)


def test_a_folder_given_relative_to_here_works(tmp_path, monkeypatch, dataset):
    monkeypatch.chdir(tmp_path)
    export_minari(dataset, TASK, ID, Path("relative"))
    assert import_minari(ID, TASK, Path("relative")).dataset.demonstrations == dataset.demonstrations


def test_a_missing_data_set_and_one_of_another_environment_are_named(root):
    with pytest.raises(BadInputError, match="there is no Minari data set 'doorkey/none-v0'"):
        import_minari("doorkey/none-v0", TASK, root)
    with pytest.raises(BadInputError, match="is of MiniGrid-DoorKey-8x8-v0, the task 'multiroom'"):
        import_minari(ID, find_task("multiroom"), root)


def test_a_task_without_a_gymnasium_environment_is_refused():
    own = ModelTask("own", "", (), visit_in_order("a"), 5, lambda _: None)
    for exchange in (lambda: import_minari(ID, own), lambda: export_minari(Dataset("own", ()), own, ID)):
        with pytest.raises(BadInputError, match="the task 'own' has no Gymnasium environment"):
            exchange()


def test_an_id_that_is_taken_is_refused(root, dataset):
    with pytest.raises(BadInputError, match="Minari refuses"):
        export_minari(dataset, TASK, ID, root)


def test_without_the_extra_the_user_is_told_what_to_install(monkeypatch, dataset):
    monkeypatch.setitem(sys.modules, "minari", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'wfairl\[minari\]'"):
        import_minari(ID, TASK)
