"""Training the cost: the time of an epoch of the paper's network, against a straightforward implementation.

    python benchmarks/training.py [--json] [--quick] [--task blocked-unlock-pickup] [--epochs 5]

The data are the paper's D2: 32 demonstrations at temperature 0.5, the automaton learned from them and 128 failures.
The straightforward implementation evaluates, for every scene, the network on every transition of the product, each with
its own concatenated input (to be fair, the controls of a node share the convolution), then SciPy's Dijkstra, and
automatic differentiation of the sum of costs along every path. It is measured on a few scenes, ours on all of them and
on the same few; the benchmark checks that both give the same loss and gradient.
"""

import argparse
import resource
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from reporting import Clock, make_parser, report
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from torch import Tensor

from wfairl.core.automata.automaton import ACCEPTED, DEAD
from wfairl.core.costs.gradient import step_losses, trace_paths
from wfairl.core.costs.scene import TrainingScene, prepare_scenes
from wfairl.core.costs.settings import CostSettings
from wfairl.core.costs.training import train_cost
from wfairl.core.demonstrations.learners import Reading
from wfairl.core.planning.shortest_path import cost_to_go
from wfairl.core.spectral.task_learner import SpectralTaskLearner
from wfairl.minigrid.grid_view import GridView, view_states
from wfairl.networks.cost_network import costs_of
from wfairl.networks.epochs import one_torch_thread
from wfairl.networks.grid_costs import PaperCost
from wfairl.runs.collection import collect
from wfairl.runs.task_registry import find_task

TEMPERATURE = 0.5
NODES_AT_A_TIME = 1024


@one_torch_thread()
def main() -> None:
    arguments = parse()
    task = find_task(arguments.task)
    dataset = collect(task, 32, 128, TEMPERATURE, 0)
    automaton = SpectralTaskLearner().fit(dataset.words, dataset.scores, Reading(optional_start=True)).model.finite
    clock = Clock()
    scenes = clock.time(
        "products", lambda: prepare_scenes(dataset.demonstrations, task.make_world, automaton, 0.5).scenes
    )
    settings = CostSettings(epochs=arguments.epochs, temperature=TEMPERATURE)
    model = CostSettings(cost="paper").make_model([scenes[0].product])
    assert isinstance(model, PaperCost)
    title = f"{task.name}, 32 scenes, {sum(len(scene.product) for scene in scenes):,} nodes"
    training = measure_training(model, scenes, settings, clock)
    compared = compare(model, scenes[: arguments.scenes], len(scenes))
    report({title: training, "loss and gradient of a scene": compared}, arguments.json)


def parse() -> argparse.Namespace:
    parser = make_parser(__doc__)
    parser.add_argument("--task", default="blocked-unlock-pickup")
    parser.add_argument("--epochs", type=int, default=5, help="of ours")
    parser.add_argument("--scenes", type=int, default=1, help="that the straightforward version is measured on")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.task, arguments.epochs = "doorkey", 1
    return arguments


def measure_training(
    model: Any, scenes: tuple[TrainingScene, ...], settings: CostSettings, clock: Clock
) -> dict[str, Any]:
    """Training as a user gets it, and the same without an epoch, so that their difference is the epochs."""
    idle = CostSettings(epochs=0, temperature=TEMPERATURE)
    clock.time("views", lambda: train_cost(model, scenes, idle))
    clock.time("training", lambda: train_cost(model, scenes, settings))
    epoch = (clock.wall["training"] - clock.wall["views"]) / settings.epochs
    return {
        **{f"{name}, s": seconds for name, seconds in clock.wall.items()},
        "an epoch, s": epoch,
        "an epoch, s of the processor": (clock.processor["training"] - clock.processor["views"]) / settings.epochs,
        "fifty epochs, s": clock.wall["products"] + clock.wall["views"] + 50 * epoch,
        "peak GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }


def needed(scene: TrainingScene) -> NDArray[np.int64]:
    controls = scene.product.successors.shape[1]
    shown = (scene.nodes[:, None] * controls + np.arange(controls)).reshape(-1)
    return np.unique(np.concatenate([scene.product.graph.transition.astype(np.int64), shown]))


def ours(model: Any, scene: TrainingScene, inputs: Any, paths: Any) -> Tensor:
    """A sum of costs whose gradient is that of the loss."""
    _, by_Q = step_losses(paths.control_cost_to_go, scene.controls, TEMPERATURE)
    costs = model.costs(inputs, paths.transitions)
    return costs @ torch.from_numpy(paths.weights(by_Q / len(by_Q))).to(costs.dtype)


def compare(model: PaperCost, scenes: tuple[TrainingScene, ...], of: int) -> dict[str, Any]:
    """Both versions on the same scenes: seconds of loss and gradient, and how far they are apart."""
    model = perturbed(model)
    clock, apart = Clock(), 0.0
    for scene in scenes:
        given = model.inputs_of(scene.product), needed(scene)  # ours makes them once for all epochs

        def fast(s: TrainingScene = scene, given: Any = given) -> tuple[Tensor, ...]:
            solution = cost_to_go(s.product.graph, model.table(*given))
            paths = trace_paths(s.product.successors, solution, s.nodes)
            return torch.autograd.grad(ours(model, s, given[0], paths), list(model.parameters()))

        fast()  # compiles
        first = clock.time("ours", fast)
        second = clock.time(
            "straightforward",
            lambda s=scene: torch.autograd.grad(straightforward_loss(model, s), list(model.parameters())),
        )
        largest = max(gradient.abs().max().item() for gradient in second)
        apart = max(apart, *((a - b).abs().max().item() / largest for a, b in zip(first, second, strict=True)))
    return {
        "scenes_compared": len(scenes),
        "ours_seconds_a_scene": clock.wall["ours"] / len(scenes),
        "straightforward_seconds_a_scene": clock.wall["straightforward"] / len(scenes),
        "straightforward_epoch_seconds": of * clock.wall["straightforward"] / len(scenes),
        "ratio": clock.wall["straightforward"] / clock.wall["ours"],
        "gradients_apart": apart,
    }


def perturbed(model: PaperCost) -> PaperCost:
    """A network that has left its start, at which everything costs 1 and paths are not unique."""
    torch.manual_seed(0)
    with torch.no_grad():
        model.head.last.weight.normal_(std=0.2)
    return model


def straightforward_loss(model: PaperCost, scene: TrainingScene) -> Tensor:
    """The loss the way one would write it first."""
    product = scene.product
    view = view_states(product.world, np.asarray(product.states))
    with torch.no_grad():
        nodes = torch.arange(len(product))
        costs = torch.cat([all_controls(model, view, part) for part in nodes.split(NODES_AT_A_TIME)]).double().numpy()
    best = best_controls(product.successors, costs)
    sums = []
    for node in scene.nodes:
        for control in range(costs.shape[1]):
            path = walk(product.successors, best, int(node), control)
            sums.append(path_cost(model, view, path) if path else torch.tensor(torch.inf))
    Q = torch.stack(sums).reshape(len(scene.nodes), -1)
    return -torch.log_softmax(-Q / TEMPERATURE, dim=1)[torch.arange(len(Q)), torch.from_numpy(scene.controls)].mean()


def all_controls(model: PaperCost, view: GridView, nodes: Tensor) -> Tensor:
    """Costs of every control of some nodes, one concatenated input a transition; shape [nodes, controls]."""
    parts = gather(view, nodes.numpy())
    controls = model.control.num_embeddings
    grid = model.convolution(parts[0])
    embedded = [grid, model.position(parts[1]), model.direction(parts[2]), model.carried(parts[3])]
    repeated = [part.repeat_interleave(controls, dim=0) for part in embedded]
    control = model.control(torch.arange(controls).repeat(len(nodes)))
    raw = model.head.from_hidden(model.dense(torch.cat([*repeated, control], dim=1)))
    return costs_of(raw).reshape(len(nodes), controls)


def path_cost(model: PaperCost, view: GridView, path: list[tuple[int, int]]) -> Tensor:
    nodes, controls = np.array(path).T
    embeddings = (model.convolution, model.position, model.direction, model.carried, model.control)
    inputs = (*gather(view, nodes), torch.from_numpy(controls))
    hidden = model.dense(torch.cat([embed(one) for embed, one in zip(embeddings, inputs, strict=True)], dim=1))
    return costs_of(model.head.from_hidden(hidden)).sum()


def gather(view: GridView, nodes: NDArray[np.int64]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    arrays = (view.grids[view.grid_numbers[nodes]], view.cells[nodes], view.directions[nodes], view.carried[nodes])
    grids, cells, directions, carried = map(torch.from_numpy, arrays)
    return grids, cells, directions, carried


def best_controls(successors: NDArray[np.int32], costs: NDArray[np.float64]) -> NDArray[np.int64]:
    """SciPy's Dijkstra on the reversed graph, then the control of least Q; -1 where there is none."""
    nodes = len(successors)
    sources, controls = np.nonzero(successors != DEAD)
    targets = successors[sources, controls]
    targets = np.where(targets == ACCEPTED, nodes, targets)
    weights = costs[sources, controls]
    order = np.lexsort((weights, sources, targets))  # SciPy adds parallel transitions up: keep the cheapest
    keys = targets[order].astype(np.int64) * (nodes + 1) + sources[order]
    first = order[np.unique(keys, return_index=True)[1]]
    graph = csr_array((weights[first], (targets[first], sources[first])), shape=(nodes + 1, nodes + 1))
    V = np.append(dijkstra(graph, indices=nodes)[:nodes], [0.0, np.inf])
    Q = costs + V[np.where(successors == ACCEPTED, nodes, np.where(successors == DEAD, nodes + 1, successors))]
    return np.where(np.isfinite(Q.min(axis=1)), Q.argmin(axis=1), -1)


def walk(successors: NDArray[np.int32], best: NDArray[np.int64], node: int, control: int) -> list[tuple[int, int]]:
    """The transitions of the optimal path, none if there is no path."""
    path = [(node, control)]
    node = int(successors[node, control])
    while node >= 0:
        if best[node] < 0:
            return []
        path.append((node, int(best[node])))
        node = int(successors[node, best[node]])
    return path if node == ACCEPTED else []


if __name__ == "__main__":
    main()
