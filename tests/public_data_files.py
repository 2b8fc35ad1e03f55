"""Small files in the formats in which public data are published; nothing in them is anybody's data."""

import hashlib
import pickle
from dataclasses import replace
from pathlib import Path

import networkx
import numpy as np

from experiments.public_data.source import PublicSource, SourceFile

LINKS = 24

TRUE_WEIGHTS = (2.0, 0.8, 0.3, 2.0)


def draw_borlange(seed: int = 0) -> tuple[dict[tuple[int, int], tuple[float, float]], list[list[int]]]:
    """Time and angle of each pair of links, and trips by the cheapest way under noisy costs; 25 and 26 are goals."""
    rng = np.random.default_rng(seed)
    pairs = {}
    for link in range(1, LINKS + 1):
        for after in {link % LINKS + 1, *rng.integers(1, LINKS + 1, 3).tolist()} - {link}:
            pairs[link, after] = (round(rng.uniform(0.2, 1.5), 5), rng.choice([-3.14, -0.9, -0.2, 0.7, 3.14]))
    ends = {LINKS + 1: (4, 9), LINKS + 2: (17,)}
    trips = []
    for _ in range(60):
        graph = networkx.DiGraph()
        for (link, after), (time, angle) in pairs.items():
            attributes = (time, -3.1 < angle < -0.5236, 1.0, abs(angle) > 3.1)
            graph.add_edge(link, after, cost=np.dot(TRUE_WEIGHTS, attributes) + rng.gumbel(1.0, 0.4))
        for end, links in ends.items():
            graph.add_edges_from(((link, end) for link in links), cost=0.0)
        for _, _, data in graph.edges(data=True):
            data["cost"] = max(0.0, data["cost"])
        origin, end = int(rng.integers(1, LINKS + 1)), int(rng.choice(list(ends)))
        trips.append(networkx.dijkstra_path(graph, origin, end, "cost"))
    pairs |= {(link, end): (0.0, 0.0) for end, links in ends.items() for link in links}
    return pairs, trips


def write_borlange(directory: Path, seed: int = 0) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    pairs, trips = draw_borlange(seed)
    inside = {pair: values for pair, values in pairs.items() if pair[1] <= LINKS}
    (directory / "linkIncidence.txt").write_text("".join(f"  {a}.0e+00 {b}.0e+00 1.0\n" for a, b in pairs))
    times = "".join(f"{a}\t{b}\t{time:.5f}\n" for (a, b), (time, _) in inside.items())
    (directory / "ATTRIBUTEestimatedtime.txt").write_text(times)
    turns = "".join(f"{a} {b} {angle}\n" for (a, b), (_, angle) in inside.items())
    (directory / "ATTRIBUTEturnangles.txt").write_text(turns)
    rows = [(i, k, link) for i, trip in enumerate(trips, 1) for k, link in enumerate([trip[-1], *trip], 1)]
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
