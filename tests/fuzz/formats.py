"""All formats that wfairl reads: a whole file of each, what the commands read it with, and how to break it."""

import gzip
import json
import random
import runpy
import shutil
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from corridors import corridor_task
from public_data_files import write_labyrinth, write_shanghai

from fuzz import mutations
from fuzz.mutations import Mutation, change_array, change_value, rearrange, split_safetensors
from wfairl.automata import task_model as task_models
from wfairl.automata.event_logs import read_event_log
from wfairl.automata.formats import FORMATS as AUTOMATON_FORMATS
from wfairl.automata.formats import read_automaton, write_automaton
from wfairl.automata.rules import all_of, avoid, visit_in_order
from wfairl.automata.task_model import TaskModel, fit_task_model
from wfairl.automata.weighted import WeightedAutomaton
from wfairl.automata.words import ScoredWords, read_jsonl, read_pautomac, read_pautomac_solution, write_jsonl
from wfairl.baselines.feature_encoder import FeatureEncoder
from wfairl.baselines.gail.checkpoint import GROUPS, GailCheckpoint, IterationMetrics
from wfairl.baselines.policy_run import ModelSelection, PolicyRun, finish_run, load_policy_run
from wfairl.baselines.recurrent import RecurrentLearner
from wfairl.baselines.recurrent_storage import KeptNetwork
from wfairl.demonstrations import Dataset, Demonstration, collect, load, save
from wfairl.demonstrations.answers import Answer, read_answers, write_answers
from wfairl.demonstrations.log import read_log, read_recordings
from wfairl.demonstrations.minari import export_minari, import_minari
from wfairl.documents import DIGEST, Form
from wfairl.errors import BadInputError
from wfairl.evaluation import Evaluation
from wfairl.evaluation.evaluate import Episode
from wfairl.experiment import CONFIGURATION, EVALUATIONS, Config, read_evaluations, read_experiment, write_evaluations
from wfairl.files import write_json
from wfairl.learning import run_directory
from wfairl.learning.adam import Adam
from wfairl.learning.checkpoint import (
    Checkpoint,
    EpochMetrics,
    read_checkpoint,
    read_metrics,
    write_checkpoint,
    write_metrics,
)
from wfairl.learning.feature_costs import LinearCost
from wfairl.learning.grid_costs import LocalCost
from wfairl.learning.run_directory import RunConfig, read_config, write_config
from wfairl.learning.storage import load_cost, save_cost
from wfairl.logic.demonstrated import demonstrated_words
from wfairl.logic.goals import goals_of
from wfairl.logic.hypotheses import hypotheses_of
from wfairl.logic.learners import RationalTaskLearner
from wfairl.logic.support import untested_labels
from wfairl.public_data import labyrinth
from wfairl.public_data.shanghai import read_shanghai
from wfairl.public_data.trajectories import load_trajectories, save_trajectories
from wfairl.report.figures.curves import read_history
from wfairl.safetensors_files import ENTRY, write_arrays
from wfairl.studio.assignment import Assignment
from wfairl.studio.scenes import Scenes
from wfairl.studio.session import JOURNAL, Session
from wfairl.suites import data_compute, data_suite, results, tables
from wfairl.suites.data_suite import Outcome
from wfairl.suites.directory import MADE, RESULTS
from wfairl.suites.metrics import Recovery
from wfairl.suites.paper import FULL, PAPER
from wfairl.suites.results import TIMES, CellResult, Row, Trial
from wfairl.suites.suite import Cell
from wfairl.suites.tables import Tables, read_tables, write_results
from wfairl.worlds import registry
from wfairl.worlds.documents import invented_document
from wfairl.worlds.registry import find_task, load_tasks
from wfairl.worlds.task import Task

Read = Callable[[Path], Any]

A, B, NOTHING = frozenset("a"), frozenset("b"), frozenset()
WORDS = [(NOTHING, A, B), (A, NOTHING, A, B), (NOTHING, B, A), (B,), (A,), (NOTHING,)]
SCORES = [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]
CELL = Cell("doorkey", "D1", "wfa-irl", 0, 32)


@dataclass(frozen=True)
class FileFormat:
    """A format.

    Attributes:
        name: for people.
        file: what a file of it is called.
        write: makes a good file, and what must stand beside it.
        read: what the commands make of such a file.
        mutations: ways to break it.
        is_sealed: whether a digest is in it, so that what is read is what was written or nothing.
        disguise: changes the contents and puts the right digest on it, as an enemy would.
    """

    name: str
    file: str
    write: Callable[[Path], None]
    read: Read
    mutations: tuple[Mutation, ...]
    is_sealed: bool = False
    disguise: Mutation | None = field(default=None)


def sealed(name: str, file: str, write: Callable[[Path], None], read: Read, form: Form[Any]) -> list[FileFormat]:
    """A document with a digest; the same of the version before, without; and one by an enemy."""

    def disguise(content: bytes, rng: random.Random, _: tuple[bytes, ...]) -> bytes:
        document = {
            key: value for key, value in json.loads(content).items() if key not in ("format", "version", DIGEST)
        }
        changed = rng.choice((change_value, rearrange))(document, rng)
        text = json.dumps(changed, sort_keys=True, separators=(",", ":"))
        if not isinstance(changed, dict):
            return text.encode()
        return json.dumps(
            {"format": form.name, "version": form.version, **changed, DIGEST: form._digest(text)}
        ).encode()

    def write_old(path: Path) -> None:
        write(path)
        document = json.loads(path.read_text())
        del document[DIGEST]
        before = list(form.older)[-1]
        if before is None:
            del document["format"], document["version"]
            document = document["policies"] if form is EVALUATIONS else document
        else:
            document["version"] = before
        path.write_text(json.dumps(document))

    return [
        FileFormat(name, file, write, read, mutations.JSON, is_sealed=True, disguise=disguise),
        FileFormat(f"{name}, version before", file, write_old, read, mutations.JSON),
    ]


def tensors(name: str, file: str, write: Callable[[Path], None], read: Read) -> FileFormat:
    """A safetensors file."""

    def disguise(content: bytes, rng: random.Random, _: tuple[bytes, ...]) -> bytes:
        import tempfile

        from safetensors.numpy import load as load_bytes

        header = json.loads(split_safetensors(content)[0]["__metadata__"][ENTRY])
        arrays = dict(load_bytes(content))
        if rng.random() < 0.6:
            header["header"] = rng.choice((change_value, rearrange))(header["header"], rng)
        else:
            change_array(arrays, rng)
        if not isinstance(header["header"], dict):
            return b""
        with tempfile.TemporaryDirectory() as place:
            path = Path(place, "file.safetensors")
            write_arrays(path, header["format"], header["version"], header["header"], arrays)
            return path.read_bytes()

    return FileFormat(name, file, write, read, mutations.SAFETENSORS, is_sealed=True, disguise=disguise)


def spectral_model() -> TaskModel:
    return fit_task_model(WORDS, SCORES)


def packed_model() -> TaskModel:
    """So many weights that they are not written as text."""
    rng = np.random.default_rng(0)
    weights = 0.01 * rng.random((2, 110, 110))
    weighted = WeightedAutomaton((A, B), np.ones(110), np.ones(110), weights)
    return TaskModel.of_weighted(weighted, "by hand", WORDS, SCORES, rows=1, cols=1, max_states=3)


def guarded_model() -> TaskModel:
    rule = all_of(visit_in_order("a", "b"), avoid("c"))
    return TaskModel.of_automaton(rule, "by hand", WORDS, SCORES, sentences=("a, then b",), facts={"temperature": 0.5})


def read_task_model(path: Path) -> Any:
    """As `score` does."""
    model = TaskModel.load(path)
    return model, model.judge_all(WORDS)


@cache
def rational_model() -> TaskModel:
    task = corridor_task()
    return RationalTaskLearner().learn(collect(task, 4, 2, 0.5, seed=0, n_jobs=1), task, n_jobs=1)


def read_rational_model(path: Path) -> Any:
    """As `ask`, `plan` and `report` do."""
    model = TaskModel.load(path)
    if "alternatives" not in model.facts:
        return model
    labels = (NOTHING, frozenset({"parcel"}), frozenset({"home"}), frozenset({"parcel", "home"}))
    hypotheses = [(one.text, one.weight) for one in hypotheses_of(model, labels)]
    goals = [(goal.missing, goal.joint.automaton.to_document()) for goal in goals_of(model)]
    words = demonstrated_words(model)
    return model, untested_labels(model), hypotheses, goals, None if words is None else words.next_states


def task_document(path: Path) -> None:
    rule = visit_in_order("key", "goal")
    propositions = {"key": {"is": "carrying", "kind": "key"}, "goal": {"is": "on", "terrain": "goal"}}
    write_json(path, invented_document("mine", "MiniGrid-DoorKey-5x5-v0", propositions, rule))


def read_task_document(path: Path) -> Any:
    """As `--tasks` does; what is known before is known after."""
    known, loaded = dict(registry._known()), dict(registry._loaded)
    try:
        (task,) = load_tasks(str(path))
        return task.name, task.summary, task.horizon, task.rule, task.propositions
    finally:
        for before, now in ((known, registry._tasks), (loaded, registry._loaded)):
            now.clear()
            now.update(before)


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


def write_task_version_1(path: Path) -> None:
    spectral_model().save(path)
    document = json.loads(path.read_text())
    old = {**document, "version": 1, "automaton": document["weighted"]}
    for name in ("weighted", "learner", "facts", "sentences", DIGEST):
        del old[name]
    path.write_text(json.dumps(old))


RUN_CONFIG = RunConfig("wfa-irl", "doorkey", 0.5, {"cost": "local", "floor": 0.01, "epochs": 3}, (7,), {"who": "me"})


def write_config_version_1(path: Path) -> None:
    old = {
        "format": "wfairl-run", "version": 1, "task": "doorkey", "temperature": 0.5, "cost": "local", "floor": 0.01,
        "activation": "softplus", "training": {"epochs": 3, "seed": 0}, "seen": [5_001], "origin": {"who": "me"},
    }  # fmt: skip
    path.write_text(json.dumps(old))


def evaluations() -> dict[str, Evaluation]:
    episodes = tuple(
        Episode(5_000 + i, 10 + i, i > 0, 0.5, (NOTHING, A), (0, 1, 2), "success", 3.5, 2.5) for i in range(3)
    )
    return {name: Evaluation("doorkey", name, 75, episodes) for name in ("optimal", "learned, greedy")}


def cell_result() -> CellResult:
    trials = tuple(
        Trial("doorkey", variant, variant == "greedy", (0.5, 0.25), (True, False), (False, False), (20.0, 30.0))
        for variant in ("greedy", "at 0.5")
    )
    facts = {"rank": 5, "rows": 4, "cols": 4, "epoch": 3}
    return CellResult(CELL, PAPER.key(CELL, FULL), trials, 0.75, facts, Recovery(0.9, 4, 3))


def suite_tables() -> Tables:
    protocol = replace(FULL, tasks=("doorkey",), data_sets=("D1",), methods=("wfa-irl", "bc"))
    row = Row("doorkey", "D1", "wfa-irl", 32, "", 0.7, 0.02, 0.01, 0.9, 3, 0.797, 0.0, None, 0.95, 4.5, 3)
    made = {
        "date": "2026-01-01",
        "command": "wfairl reproduce",
        "machine": "one",
        "versions": {"numpy": "2"},
        "core_seconds": 5.0,
    }
    return Tables(protocol, (row,), {("doorkey", "D1"): ((5, 4, 4),)}, made, {"a cell": "it broke"})


OUTCOME = Outcome({"bits": 1.5, "trips": 3}, {"why": ["a", 1]}, {"map": np.arange(4.0)})
DATA_RESULTS = {
    "suite": "borlange",
    "quick": True,
    "fits": {"a": {"measured": {"bits": 1.5}, "facts": {}}},
    "tables": [{"title": "t", "head": ["", "bits"], "body": [["a", "1.5"]]}],
    "failures": {"b": "it broke"},
}


def read_suite(path: Path) -> Any:
    """As `report` does."""
    found = read_tables(path.parent)
    return found, found.to_markdown(), found.to_csv()


def write_fit(path: Path) -> None:
    OUTCOME.save(path.with_suffix(".json"), {"name": "a"})


def write_roads(path: Path) -> None:
    save_trajectories(read_shanghai(write_shanghai(path.parent / "roads")), path.parent)


def read_roads(path: Path) -> Any:
    """As suites on public data do."""
    found = load_trajectories(path.parent, path.stem)
    return found, [found.split(name) for name in found.splits], [found.demonstration(i) for i in range(len(found))]


def write_mice(pickled: bool) -> Callable[[Path], None]:
    return lambda path: write_labyrinth(path.parent, pickled) and None


def read_plain_mice(path: Path) -> str:
    """What is compared with the digest of published figures."""
    return labyrinth._digest(labyrinth._from_npz(path))


def read_pickled_mice(path: Path) -> str:
    return labyrinth._digest(labyrinth._from_authors(path.parent, "restricted", path))


@cache
def floor_task() -> Task:
    return runpy.run_path(str(Path(__file__).parents[2] / "examples" / "own_floor.py"))["TASK"]


SCENES = Scenes()


def write_journal(path: Path) -> None:
    path.unlink(missing_ok=True)
    session = Session(path.parent, Assignment("doorkey"), SCENES)
    for controls in (2, 1, 2), (0, 0):
        for control in controls:
            session.do({"do": "control", "control": control})
        session.do({"do": "keep", "right": False, "by": "person"})
    session.do({"do": "answer", "seed": session.seed, "controls": [2, 1], "right": False})
    session.do({"do": "control", "control": 1})


def read_journal(path: Path) -> Any:
    """As the studio does when it opens a session."""
    session = Session(path.parent, scenes=SCENES)
    try:
        return session.dataset, session.labels
    except BadInputError as error:  # on the screen it stands under the name of the session
        raise BadInputError(f"{path}: {error}") from None


HISTORY = tuple(EpochMetrics(epoch, 0.01, 0.9 - 0.1 * epoch, 0.8 - 0.1 * epoch) for epoch in range(4))


def write_old_metrics(path: Path) -> None:
    path.write_text("".join(json.dumps(asdict(one)) + "\n" for one in HISTORY))


def read_training(path: Path) -> Any:
    return read_metrics(path.parent), read_history(path.parent)


def dataset() -> Dataset:
    walks = [((0, 1, 2), (NOTHING, A, B), 1.0, 2**40), ((1,), (NOTHING,), 0.0, 7), ((), (), 0.0, 3)]
    answers = (Answer(7, (0, 1), (NOTHING, A), True),)
    return Dataset("doorkey", tuple(Demonstration(*walk) for walk in walks), 0.5, answers)


def write_demonstrations_version_1(path: Path) -> None:
    arrays = {
        "lengths": np.array([2, 1]), "seeds": np.array([7, 9]), "scores": np.array([1.0, 0.0]),
        "controls": np.array([0, 1, 1], np.uint8), "labels": np.array([0, 3, 1], np.uint16),
    }  # fmt: skip
    header = {"task": "doorkey", "temperature": "inf", "propositions": ["a", "b"]}
    write_arrays(path, "wfairl-demonstrations", 1, header, arrays)


def write_checkpoint_file(path: Path) -> None:
    model = LinearCost(3, 2)
    checkpoint = Checkpoint.capture(model, Adam(model, 0.01), HISTORY[:1], None)
    write_checkpoint(replace(checkpoint, history=HISTORY, steps=12), path, "a fingerprint")


def read_checkpoint_file(path: Path) -> Any:
    """As --resume does."""
    model = LinearCost(3, 2)
    adam = Adam(model, 0.01)
    checkpoint = read_checkpoint(path, "a fingerprint")
    if checkpoint is None:  # where there is none, a run begins anew
        raise run_directory.BadInputError(f"{path}: no checkpoint")
    try:
        checkpoint.restore(model, adam)
    except run_directory.BadInputError as error:
        raise type(error)(f"{path}: {error}") from None
    adam.step({name: torch.ones_like(one) for name, one in model.named_parameters()}, 0.01)
    return checkpoint, model.state_dict()


def write_gail_checkpoint(path: Path) -> None:
    groups = {name: {"0.x": torch.arange(4.0), "1.y": torch.ones(2, 3)} for name in GROUPS}
    metrics = IterationMetrics(0, 100, 4, 0.5, 20.0, None, 0.1, 0.2, 1.3, 0.6, 0.7, 0.5, (0.4, 0.5))
    GailCheckpoint(groups, 0, (0.4, 0.5), (metrics,)).write(path, "a fingerprint")


def write_policy(path: Path) -> None:
    encoder = FeatureEncoder(("left", "right"), ("a", "b"), 2, 3)
    networks = [encoder.make_network(2) for _ in range(2)]
    config = RunConfig("bc", "doorkey", 0.5, {"epochs": 3}, (7,), {"who": "me"})
    finish_run(config, path.parent, networks, encoder, ModelSelection(0.5, {"dropout": 0.0}, 0.75))


def read_policy(path: Path) -> PolicyRun:
    return load_policy_run(path.parent)


def write_network(path: Path) -> None:
    KeptNetwork(RecurrentLearner(hidden=3, embedding=2, max_epochs=1).fit(WORDS, SCORES), 0.5, False).save(path)


def read_network(path: Path) -> Any:
    network = KeptNetwork.load(path)
    return network.learner.alphabet_, network.values(WORDS), network.threshold


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
LOG = '{"seed": 7, "controls": ["left", "forward", 5], "score": 1.0}\n{"seed": 3, "controls": [0, 1]}\n'
PATHS = (
    '{"seed": 7, "path": [[1.0, 3.0], [1.5, 2.5], [1.5, 2.0]], "score": 1.0}\n'
    '{"seed": 3, "path": [[1.0, 4.0], [2.0, 5.0]]}\n'
)
PATHS_CSV = "episode,seed,x,y,score\n1,7,1.0,3.0,1\n1,7,1.5,2.5,\n2,3,1.0,4.0,\n2,3,2.0,5.0,\n"
PAUTOMAC = "3 4\n2 0 1\n0\n3 3 2 1\n"
RULE = all_of(visit_in_order("a", "b"), avoid("c"))


def text(content: str) -> Callable[[Path], None]:
    return lambda path: path.write_text(content, encoding="utf-8")  # type: ignore[return-value]


def written_automaton(name: str) -> Callable[[Path], None]:
    return lambda path: write_automaton(path, AUTOMATON_FORMATS[name], RULE)


FORMATS: tuple[FileFormat, ...] = (
    *sealed("task model, spectral", "task.json", lambda p: spectral_model().save(p), read_task_model, task_models.FORM),
    *sealed("task model, packed", "task.json", lambda p: packed_model().save(p), read_task_model, task_models.FORM),
    *sealed("task model, guards", "task.json", lambda p: guarded_model().save(p), read_task_model, task_models.FORM),
    FileFormat("task model, version 1", "task.json", write_task_version_1, read_task_model, mutations.JSON),
    *sealed(
        "task model, rational",
        "task.json",
        lambda p: rational_model().save(p),
        read_rational_model,
        task_models.FORM,
    ),
    FileFormat("task of one's own", "mine.task.json", task_document, read_task_document, mutations.JSON),
    FileFormat("Minari, metadata", f"{MINARI}/data/metadata.json", write_minari, read_minari, mutations.JSON),
    FileFormat("Minari, episodes", f"{MINARI}/data/main_data.hdf5", write_minari, read_minari, mutations.BYTES),
    *sealed(
        "configuration",
        "config.json",
        lambda p: write_config(p.parent, RUN_CONFIG),
        lambda p: read_config(p.parent),
        run_directory.FORM,
    ),
    FileFormat(
        "configuration, version 1",
        "config.json",
        write_config_version_1,
        lambda p: read_config(p.parent),
        mutations.JSON,
    ),
    *sealed(
        "experiment",
        "experiment.json",
        lambda p: CONFIGURATION.write(p, asdict(Config("doorkey", settings={"epochs": 3}))),
        lambda p: read_experiment(p.parent),
        CONFIGURATION,
    ),
    *sealed(
        "evaluation",
        "evaluation.json",
        lambda p: write_evaluations(evaluations(), p),
        lambda p: read_evaluations(p.parent),
        EVALUATIONS,
    ),
    *sealed(
        "result of a cell",
        "result.json",
        lambda p: cell_result().save(p),
        lambda p: CellResult.load(p, CELL, cell_result().key),
        results.FORM,
    ),
    *sealed("times", "timing.json", lambda p: TIMES.write(p, {"seconds": 1.5}), TIMES.read, TIMES),
    *sealed("results", RESULTS, lambda p: write_results(suite_tables(), p.parent), read_suite, tables.FORM),
    *sealed("provenance", MADE, lambda p: write_results(suite_tables(), p.parent), read_suite, tables.PROVENANCE),
    *sealed("outcome of a fit", "fit.json", lambda p: OUTCOME.save(p, {"name": "a"}), Outcome.load, data_suite.FORM),
    *sealed(
        "results on data",
        RESULTS,
        lambda p: data_compute.FORM.write(p, DATA_RESULTS),
        data_compute.FORM.read,
        data_compute.FORM,
    ),
    FileFormat(
        "metrics",
        "metrics.jsonl",
        lambda p: write_metrics(HISTORY, p.parent),
        read_training,
        mutations.JSON_LINES,
        is_sealed=True,
    ),
    FileFormat("metrics, without digest", "metrics.jsonl", write_old_metrics, read_training, mutations.JSON_LINES),
    tensors("demonstrations", "demos.safetensors", lambda p: save(dataset(), p), load),
    tensors("demonstrations, version 1", "demos.safetensors", write_demonstrations_version_1, load),
    tensors("cost, linear", "cost.safetensors", lambda p: save_cost(LinearCost(3, 2), p), load_cost),
    tensors("cost, local", "cost.safetensors", lambda p: save_cost(LocalCost(), p), load_cost),
    tensors("checkpoint", "last.safetensors", write_checkpoint_file, read_checkpoint_file),
    tensors(
        "checkpoint of GAIL",
        "gail.safetensors",
        write_gail_checkpoint,
        lambda p: GailCheckpoint.read(p, "a fingerprint"),
    ),
    tensors("policy", "policy.safetensors", write_policy, read_policy),
    tensors("network of words", "net.safetensors", write_network, read_network),
    FileFormat(
        "words",
        "words.jsonl",
        lambda p: write_jsonl(p, ScoredWords(tuple(WORDS), tuple(SCORES))),
        read_jsonl,
        mutations.JSON_LINES,
    ),
    FileFormat(
        "answers", "a.jsonl", lambda p: write_answers(dataset().answers * 3, p), read_answers, mutations.JSON_LINES
    ),
    FileFormat(
        "log of controls", "log.jsonl", text(LOG), lambda p: read_log(p, find_task("doorkey")), mutations.JSON_LINES
    ),
    FileFormat(
        "log of paths", "paths.jsonl", text(PATHS), lambda p: read_recordings(p, floor_task()), mutations.JSON_LINES
    ),
    FileFormat("paths, CSV", "paths.csv", text(PATHS_CSV), lambda p: read_recordings(p, floor_task()), mutations.TEXT),
    FileFormat("journal of a session", f"some-session/{JOURNAL}", write_journal, read_journal, mutations.JSON_LINES),
    tensors("arrays of a fit", "fit.safetensors", write_fit, lambda p: Outcome.load(p.with_suffix(".json"))),
    tensors("trajectories", "shanghai.safetensors", write_roads, read_roads),
    FileFormat("mice, arrays", "restricted.npz", write_mice(False), read_plain_mice, mutations.BYTES),
    FileFormat(
        "mice, pickled", "water_restricted_mice_trajs.pickle", write_mice(True), read_pickled_mice, mutations.BYTES
    ),
    FileFormat(
        "probabilities of PAutomaC", "words.txt", text("3\n0.5\n0.25\n1e-9\n"), read_pautomac_solution, mutations.TEXT
    ),
    FileFormat("words of PAutomaC", "words.pautomac", text(PAUTOMAC), read_pautomac, mutations.TEXT),
    FileFormat("event log, CSV", "log.csv", text(CSV), read_event_log, mutations.TEXT),
    FileFormat("event log, XES", "log.xes", text(XES), read_event_log, mutations.TEXT),
    FileFormat(
        "event log, packed",
        "log.xes.gz",
        lambda p: p.write_bytes(gzip.compress(XES.encode(), mtime=0)),
        read_event_log,
        mutations.PACKED,
    ),
    FileFormat("HOA", "a.hoa", written_automaton("hoa"), read_automaton, mutations.TEXT),
    FileFormat("LTLf", "a.ltlf", written_automaton("ltlf"), read_automaton, mutations.TEXT),
    FileFormat("reward machine", "a.rm", written_automaton("reward-machine"), read_automaton, mutations.TEXT),
)


def plain(value: Any) -> Any:
    """A value as plain data that can be compared, whatever it is made of."""
    if is_dataclass(value) and not isinstance(value, type):
        return [(one.name, plain(getattr(value, one.name))) for one in fields(value) if one.compare and one.repr]
    if isinstance(value, torch.nn.Module):
        return plain(value.state_dict())
    if isinstance(value, torch.Tensor):
        return plain(value.detach().numpy())
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.tolist()
    if isinstance(value, Mapping):
        return sorted(((repr(key), plain(one)) for key, one in value.items()), key=lambda pair: pair[0])
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return sorted(value) if isinstance(value, frozenset) else value
