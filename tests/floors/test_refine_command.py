"""A floor without cells on the command line: recorded paths in, a rule, prices and a refined plan out."""

import csv
import json
import runpy
from pathlib import Path

import numpy as np
import pytest
from experts import solve
from PIL import Image

from wfairl.core.planning.cost import true_cost
from wfairl.core.planning.path import follow
from wfairl.runs.data_sets import load

FLOOR = Path(__file__).parents[2] / "examples" / "own_floor.py"
FIRST = 1_000_000


@pytest.fixture(scope="module")
def serve():
    return runpy.run_path(str(FLOOR))["TASK"]


def recorded(task, seed, noise=0.01):
    """A path that a demonstrator took, as something that records positions tells it; and the walk behind it."""
    world, rng = task.make_world(seed), np.random.default_rng(seed)
    controls, succeeded = solve(world, task.rule, true_cost(task)).act(0.05, task.horizon, rng)
    assert succeeded
    path = world.source.roadmap.path(follow(world, controls, task.rule).states)
    return path + noise * rng.uniform(-1, 1, path.shape), controls


@pytest.mark.slow
def test_paths_become_a_rule_prices_and_a_refined_plan(wfairl, serve, tmp_path):
    log, demos, model, run = (tmp_path / name for name in ("paths.jsonl", "d.safetensors", "task.json", "run"))
    lines = [{"seed": seed, "path": recorded(serve, seed)[0].tolist()} for seed in range(FIRST, FIRST + 12)]
    log.write_text("\n".join(map(json.dumps, lines)))
    imported = wfairl("--tasks", FLOOR, "demos-import", "serve", log, "-o", demos)
    assert imported.returncode == 0, imported.stderr
    assert "12 successful and 0 failed demonstrations of serve" in imported.stdout
    assert "cm off on average" in imported.stdout

    learned = wfairl("--tasks", FLOOR, "learn-task", demos, "-o", model, "--json", "--jobs", 1)
    assert json.loads(learned.stdout)["rule"] == "kitchen, then table"
    trained = wfairl("--tasks", FLOOR, "train", demos, "--task-model", model, "-o", run, "--epochs", 10, "--jobs", 1)
    assert trained.returncode == 0, trained.stderr

    picture = tmp_path / "plan.png"
    planned = wfairl("--tasks", FLOOR, "plan", "serve", "--seed", 3, "--cost", run, "--refine", "-o", picture, "--json")
    document = json.loads(planned.stdout)
    assert document["refined"]["cost"] <= document["cost"]
    assert sum(document["refined"]["metres"].values()) == pytest.approx(
        np.linalg.norm(np.diff(document["refined"]["path"], axis=0), axis=1).sum(), rel=1e-3
    )
    world = serve.make_world(3)
    assert world.source.shown_word(np.array(document["refined"]["path"]))[-1] == frozenset({"table"})
    assert Image.open(picture).size == (640, 390)

    evaluated = wfairl(
        "--tasks", FLOOR, "evaluate", "serve", "--policy", run, "--temperature", 0, "--seeds", "0:8", "--json"
    )
    assert json.loads(evaluated.stdout)["success_rate"] == 1.0


def test_a_table_of_places_tells_the_same_as_lines(wfairl, serve, tmp_path):
    table, demos = tmp_path / "paths.csv", tmp_path / "d.safetensors"
    walks = {seed: recorded(serve, seed, noise=0) for seed in (FIRST, FIRST + 1)}
    with table.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["seed", "x", "y", "heading"])
        rows.writerows([seed, *place, 0.5] for seed, (path, _) in walks.items() for place in path.tolist())
    imported = wfairl("--tasks", FLOOR, "demos-import", "serve", table, "-o", demos, "--json")
    snapping = json.loads(imported.stdout)["snapping"]
    assert [one["episode"] for one in snapping] == [0, 1]
    assert max(one["largest_error"] for one in snapping) < 1e-9
    assert [list(one.controls) for one in load(demos)] == [controls for _, controls in walks.values()]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "x,z\n1,2\n", "a table of paths has the columns x and y"),
        ("a.csv", "seed,x,y\n0,1,1\n0,1,here\n", "line 3: it holds something that is not a number"),
        ("a.csv", "x,y\n", "there is no episode in it"),
        ("a.jsonl", '{"path": [[1, 1]]}', "line 1: a path has two or more places"),
        ("a.jsonl", '{"path": [[1, 1], [1, "b"]]}', "line 1: a path has two or more places"),
        ("a.jsonl", '{"path": [[1, 1], [1, NaN]]}', "line 1: "),
        ("a.jsonl", '{"path": [[1, 1], [2, 2]], "controls": []}', "line 1: an episode has a list"),
    ],
)
def test_a_log_of_paths_that_cannot_be_read_says_where(wfairl, tmp_path, name, text, message):
    log = tmp_path / name
    log.write_text(text)
    result = wfairl("--tasks", FLOOR, "demos-import", "serve", log, "-o", tmp_path / "d.safetensors")
    assert result.returncode == 2
    assert message in result.stderr
    assert not (tmp_path / "d.safetensors").exists()


def test_paths_and_refinement_are_for_roadmaps(wfairl, tmp_path):
    log = tmp_path / "a.jsonl"
    log.write_text('{"path": [[1, 1], [2, 2]]}')
    result = wfairl("demos-import", "office-coffee", log, "-o", tmp_path / "d.safetensors")
    assert (result.returncode, "this task has none" in result.stderr) == (2, True)
    result = wfairl("plan", "office-coffee", "--refine")
    assert (result.returncode, "--refine is for plans on a roadmap" in result.stderr) == (2, True)
    result = wfairl("--tasks", FLOOR, "plan", "serve", "--refine", "-o", tmp_path / "plan.gif")
    assert (result.returncode, "must end in .png" in result.stderr) == (2, True)


def test_a_film_of_a_roadmap_shows_the_trail(wfairl, tmp_path):
    picture = tmp_path / "plan.gif"
    assert wfairl("--tasks", FLOOR, "plan", "serve", "-o", picture).returncode == 0
    frames = Image.open(picture)
    first = np.asarray(frames.convert("RGB"), int)
    frames.seek(frames.n_frames - 1)
    last = np.asarray(frames.convert("RGB"), int)
    blue = [((image[..., 2] - image[..., 0] > 100) & (image[..., 2] > 120)).sum() for image in (first, last)]
    assert blue[1] > blue[0] + 100
