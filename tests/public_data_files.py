"""Small files in the formats in which public data are published; nothing in them is anybody's data."""

import hashlib
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np

from wfairl.public_data.source import PublicSource, SourceFile

BORLANGE_ROUTES = {1: [1, 2, 4, 6], 2: [1, 3, 4, 6], 3: [3, 5, 7], 4: [1, 2, 4, 6], 5: [2, 4, 6], 6: [1, 3, 5, 7]}
"""Links of trips on five links; 6 and 7 are destinations."""


def write_borlange(directory: Path) -> Path:
    """1 leads to 2 and 3, those to 4 and 5, which lead back to 1 (a U-turn) and to a destination each."""
    directory.mkdir(parents=True, exist_ok=True)
    pairs = [(1, 2), (1, 3), (2, 4), (3, 4), (3, 5), (4, 1), (4, 6), (5, 1), (5, 7)]
    angles = {(1, 2): -0.9, (3, 5): 0.7, (4, 1): 3.14, (5, 1): -3.14, (3, 4): -0.2}
    (directory / "linkIncidence.txt").write_text("".join(f"  {a}.0e+00 {b}.0e+00 1.0\n" for a, b in pairs))
    times = "".join(f"{a}\t{b}\t{0.1 * (a + b):.5f}\n" for a, b in pairs if b <= 5)
    (directory / "ATTRIBUTEestimatedtime.txt").write_text(times)
    turns = "".join(f"{a} {b} {angle}\n" for (a, b), angle in angles.items())
    (directory / "ATTRIBUTEturnangles.txt").write_text(turns)
    rows = [
        (trip, place, link)
        for trip, links in BORLANGE_ROUTES.items()
        for place, link in enumerate([links[-1], *links], start=1)
    ]
    (directory / "observationsForEstimBAI.txt").write_text("".join(f"{a} {b} {c}\n" for a, b, c in rows))
    return directory


SHANGHAI_ROUTES = ["0_1_3", "0_2_3", "0_1_3", "1_3_4", "0_2_3_4", "2_3_4"]


def write_shanghai(directory: Path, splits=range(1), sizes=(100,)) -> Path:
    """Five links: 0 leads to 1 and 2, both to 3, 3 to 4, and 4 back to 0."""
    (directory / "cross_validation").mkdir(parents=True, exist_ok=True)
    head = "u,v,name,highway,oneway,length,n_id\n"
    classes = ["primary", "\"['residential', 'tertiary']\"", "residential", "secondary", "tertiary"]
    ends = [("a", "b"), ("b", "c"), ("b", "d"), ("c", "d"), ("d", "a")]
    edges = "".join(
        f"{u},{v},some road,{kind},0,{100 + 50 * i}.0,{i}\n"
        for i, ((u, v), kind) in enumerate(zip(ends, classes, strict=True))
    )
    (directory / "edge.txt").write_text(head + edges)
    (directory / "node.txt").write_text("osmid,y,x\na,0,0\nb,0,1\nc,1,1\nd,1,0\n")
    transitions = [(0, 0, 1), (0, 2, 2), (1, 6, 3), (2, 0, 3), (3, 0, 4), (4, 4, 0)]
    np.save(directory / "transit.npy", np.array(transitions, np.int32))
    for split in splits:
        names = [f"test_CV{split}", *(f"train_CV{split}_size{size}" for size in sizes)]
        for name in names:
            lines = [f"{r.split('_')[0]},{r.split('_')[-1]},{r},{r.count('_') + 1}\n" for r in SHANGHAI_ROUTES]
            (directory / "cross_validation" / f"{name}.csv").write_text("ori,des,path,len\n" + "".join(lines))
    return directory


def draw_mice(trajectories: int = 12, steps: int = 16, seed: int = 0) -> dict[str, np.ndarray]:
    """Mice that go to the water and back home, now and then into a blind alley, and then stay."""
    rng = np.random.default_rng(seed)
    there = [1, 0, 0, 1, 0, 1]  # from home to the water
    states, controls = np.zeros((trajectories, steps), int), np.full((trajectories, steps), 3)
    for row in range(trajectories):
        plan = [*there, *([3] * int(rng.integers(0, 2))), *([2] * 6)]
        if rng.random() < 0.3:
            plan = [0, 2, *plan]
        node = 0
        for step in range(steps):
            states[row, step] = node
            controls[row, step] = control = plan[step] if step < len(plan) else 3
            node = [
                2 * node + 1 if node < 63 else node,
                2 * node + 2 if node < 63 else node,
                max((node - 1) // 2, 0),
                node,
            ][control]
    order = rng.permutation(trajectories)
    return {"states": states, "controls": controls, "train": order[3:], "validation": order[:3]}


def write_labyrinth(directory: Path, pickled: bool = False) -> dict[str, dict[str, np.ndarray]]:
    """As plain arrays, or as the authors' pickles; gives back the arrays."""
    directory.mkdir(parents=True, exist_ok=True)
    mice = {"restricted": draw_mice(seed=0), "unrestricted": draw_mice(trajectories=8, seed=1)}
    for name, arrays in mice.items():
        if not pickled:
            np.savez(directory / f"{name}.npz", **arrays)
            continue
        trajectories = [
            {"states": states, "actions": list(actions)}
            for states, actions in zip(arrays["states"], arrays["controls"], strict=True)
        ]
        (directory / f"water_{name}_mice_trajs.pickle").write_bytes(pickle.dumps(trajectories))
        for part, suffix in (("train", "train"), ("validation", "val")):
            np.save(directory / f"{name}_{suffix}_indices.npy", arrays[part].astype(float))
    return mice


def published_as(source: PublicSource, directory: Path) -> PublicSource:
    """The source, as if these files were what its authors published."""
    files = [
        SourceFile(str(path.relative_to(directory)), path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest())
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    ]
    return replace(source, files=tuple(files))
