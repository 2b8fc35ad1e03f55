"""Formats of demonstrations, of runs that learn from them, and of sessions in the studio."""

import runpy
import shutil
import warnings
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from experiments.baselines.network import GridEncoder
from experiments.baselines.network_policy import ModelSelection, NetworkRun, finish_run, load_network_run
from fuzz import json_mutations, tensor_mutations, text_mutations
from fuzz.file_format import NOTHING, A, B, FileFormat, sealed, tensors, text
from wfairl.core.costs.cost_model import load_cost, save_cost
from wfairl.core.costs.feature_costs import PricesCost
from wfairl.core.costs.training import EpochMetrics, check_checkpoint, write_checkpoint, write_metrics
from wfairl.core.demonstrations import Dataset, Demonstration
from wfairl.core.demonstrations.answers import Answer
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.task import Task
from wfairl.networks.grid_costs import LocalCost
from wfairl.pages.run_files import read_history
from wfairl.questions.answer_files import read_answers, write_answers
from wfairl.recordings.log import read_log, read_recordings
from wfairl.recordings.minari_exchange import export_minari, import_minari
from wfairl.runs import Evaluation, run_directory
from wfairl.runs.collection import collect
from wfairl.runs.data_sets import load, save
from wfairl.runs.evaluation import EVALUATIONS, Episode, read_evaluations, write_evaluations
from wfairl.runs.pipeline import CONFIGURATION, PipelineConfig, read_experiment
from wfairl.runs.run_directory import RunConfig, read_config, write_config
from wfairl.runs.task_registry import find_task
from wfairl.studio.session import JOURNAL, Session
from wfairl.studio.task_spec import TaskSpec
from wfairl.studio.workers import WorldCache

MINARI = "doorkey/expert-v0"


def write_minari(path: Path) -> None:
    """The data set, of which the path is one of two files."""
    root = path.parents[3]
    shutil.rmtree(root / MINARI, ignore_errors=True)
    export_minari(collect(find_task("doorkey"), 1, 1, 0.0, seed=0, n_jobs=1), find_task("doorkey"), MINARI, root)


def read_minari(path: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_minari(MINARI, find_task("doorkey"), path.parents[3])


RUN_CONFIG = RunConfig(
    "wfa-irl", "doorkey", 0.5, {"cost": "local", "weight_decay": 0.1, "epochs": 3}, (7,), {"who": "me"}
)


def evaluations() -> dict[str, Evaluation]:
    episodes = tuple(
        Episode(5_000 + i, 10 + i, i > 0, 0.5, (NOTHING, A), (0, 1, 2), "success", 3.5, 2.5) for i in range(3)
    )
    return {name: Evaluation("doorkey", name, 75, episodes) for name in ("optimal", "learned, greedy")}


@cache
def floor_task() -> Task:
    return runpy.run_path(str(Path(__file__).parents[2] / "examples" / "own_floor.py"))["TASK"]


WORLDS = WorldCache()


def write_journal(path: Path) -> None:
    path.unlink(missing_ok=True)
    session = Session(path.parent, TaskSpec("doorkey"), WORLDS)
    for controls in (2, 1, 2), (0, 0):
        for control in controls:
            session.do({"do": "control", "control": control})
        session.do({"do": "keep", "right": False, "by": "person"})
    session.do({"do": "answer", "seed": session.state.seed, "controls": [2, 1], "right": False})
    session.do({"do": "control", "control": 1})


def read_journal(path: Path) -> Any:
    """As the studio does when it opens a session."""
    session = Session(path.parent, worlds=WORLDS)
    try:
        return session.dataset, session.walk.labels
    except BadInputError as error:  # on the screen it stands under the name of the session
        raise BadInputError(f"{path}: {error}") from None


HISTORY = tuple(EpochMetrics(epoch, 0.01, 0.9 - 0.1 * epoch, 0.8 - 0.1 * epoch) for epoch in range(4))


def read_training(path: Path) -> Any:
    return read_history(path.parent)


def dataset() -> Dataset:
    walks = [((0, 1, 2), (NOTHING, A, B), 1.0, 2**40), ((1,), (NOTHING,), 0.0, 7), ((), (), 0.0, 3)]
    answers = (Answer(7, (0, 1), (NOTHING, A), True),)
    return Dataset("doorkey", tuple(Demonstration(*walk) for walk in walks), 0.5, answers)


def read_checkpoint_file(path: Path) -> None:
    """As --resume does."""
    if not path.exists():  # then a run begins anew
        raise run_directory.BadInputError(f"{path}: no checkpoint")
    check_checkpoint(path, "a fingerprint")


def write_policy(path: Path) -> None:
    encoder = GridEncoder(2)
    networks = tuple(encoder.make_network(6) for _ in range(2))
    config = RunConfig("bc", "doorkey", 0.5, {"epochs": 3}, (7,), {"who": "me"})
    run = NetworkRun(networks, encoder, ModelSelection(0.5, 0.75, {"epochs": [3]}))
    finish_run(config, path.parent, run, [])


def read_policy(path: Path) -> NetworkRun:
    return load_network_run(path.parent)


LOG = '{"seed": 7, "controls": ["left", "forward", 5], "score": 1.0}\n{"seed": 3, "controls": [0, 1]}\n'

PATHS = (
    '{"seed": 7, "path": [[1.0, 3.0], [1.5, 2.5], [1.5, 2.0]], "score": 1.0}\n'
    '{"seed": 3, "path": [[1.0, 4.0], [2.0, 5.0]]}\n'
)

PATHS_CSV = "episode,seed,x,y,score\n1,7,1.0,3.0,1\n1,7,1.5,2.5,\n2,3,1.0,4.0,\n2,3,2.0,5.0,\n"


FORMATS: tuple[FileFormat, ...] = (
    FileFormat("Minari, metadata", f"{MINARI}/data/metadata.json", write_minari, read_minari, json_mutations.JSON),
    FileFormat("Minari, episodes", f"{MINARI}/data/main_data.hdf5", write_minari, read_minari, text_mutations.BYTES),
    sealed(
        "configuration",
        "config.json",
        lambda p: write_config(p.parent, RUN_CONFIG),
        lambda p: read_config(p.parent),
        run_directory.FORM,
    ),
    sealed(
        "experiment",
        "experiment.json",
        lambda p: CONFIGURATION.write(p, asdict(PipelineConfig("doorkey", settings={"epochs": 3}))),
        lambda p: read_experiment(p.parent),
        CONFIGURATION,
    ),
    sealed(
        "evaluation",
        "evaluation.json",
        lambda p: write_evaluations(evaluations(), p),
        lambda p: read_evaluations(p.parent),
        EVALUATIONS,
    ),
    FileFormat(
        "metrics",
        "metrics.jsonl",
        lambda p: write_metrics(HISTORY, p.parent),
        read_training,
        json_mutations.JSON_LINES,
        is_sealed=True,
    ),
    tensors("demonstrations", "demos.safetensors", lambda p: save(dataset(), p), load),
    tensors("cost, prices", "cost.safetensors", lambda p: save_cost(PricesCost(3), p), load_cost),
    tensors("cost, local", "cost.safetensors", lambda p: save_cost(LocalCost(), p), load_cost),
    FileFormat(  # without tensors
        "checkpoint",
        "last.safetensors",
        lambda p: write_checkpoint(p, "a fingerprint"),
        read_checkpoint_file,
        (*text_mutations.BYTES, tensor_mutations.change_metadata),
        is_sealed=True,
    ),
    tensors("policy", "policy.safetensors", write_policy, read_policy),
    FileFormat(
        "answers", "a.jsonl", lambda p: write_answers(dataset().answers * 3, p), read_answers, json_mutations.JSON_LINES
    ),
    FileFormat(
        "log of controls",
        "log.jsonl",
        text(LOG),
        lambda p: read_log(p, find_task("doorkey")),
        json_mutations.JSON_LINES,
    ),
    FileFormat(
        "log of paths",
        "paths.jsonl",
        text(PATHS),
        lambda p: read_recordings(p, floor_task()),
        json_mutations.JSON_LINES,
    ),
    FileFormat(
        "paths, CSV", "paths.csv", text(PATHS_CSV), lambda p: read_recordings(p, floor_task()), text_mutations.TEXT
    ),
    FileFormat(
        "journal of a session", f"some-session/{JOURNAL}", write_journal, read_journal, json_mutations.JSON_LINES
    ),
)
