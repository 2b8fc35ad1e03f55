"""`wfairl plan --refine`: shorten a plan off its roadmap."""

import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from wfairl.cli.app import out
from wfairl.core.planning.path import Path as WorldPath
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.files import write_atomically
from wfairl.floors.refining import RefinedPath, refine_path
from wfairl.floors.scene import FloorScene


def check_refinable(world: Any) -> None:
    """Raise `BadInputError` for a world that is not on a roadmap."""
    if not isinstance(getattr(world, "source", None), FloorScene):
        raise BadInputError("--refine is for plans on a roadmap; this task has none")


def prices_of(run: Path | None, world: Any) -> NDArray[np.float64]:
    """The learned price of a metre of each kind; 1 without a run.

    Raises:
        BadInputError: the run's cost has no such prices.
    """
    if run is None:
        return np.ones(len(world.feature_names))
    from wfairl.core.costs.feature_costs import PricesCost  # here, because torch is slow to import
    from wfairl.core.runs.run_directory import load_run

    cost = load_run(run).cost
    if not isinstance(cost, PricesCost):
        raise BadInputError(
            f"{run}: its cost, {cost.kind}, depends on how a path is divided into transitions; --refine needs the cost"
            f" {PricesCost.kind} (wfairl train --cost {PricesCost.kind})"
        )
    return cost.prices


def refine_plan(world: Any, path: WorldPath, prices: NDArray[np.float64]) -> RefinedPath:
    """The refined plan."""
    return refine_path(world.source, world.source.roadmap.configurations[list(path.states)], prices)


def refined_document(world: Any, refined: RefinedPath) -> dict[str, Any]:
    """A refined plan as JSON."""
    return {
        "cost": refined.cost,
        "metres": dict(zip(world.feature_names, refined.metres.tolist(), strict=True)),
        "path": np.round(refined.path, 4).tolist(),
    }


def print_refined(world: Any, refined: RefinedPath) -> None:
    """Print a summary of a refined plan."""
    metres = ", ".join(f"{name} {one:.1f}" for name, one in zip(world.feature_names, refined.metres, strict=True))
    out.print(f"refined  cost {refined.cost:g}; {refined.metres.sum():.1f} m ({metres})")


def write_refined(world: Any, path: WorldPath, refined: RefinedPath, output: Path) -> None:
    """Write an image of the floor with the plan on the roadmap and the refined plan."""
    scene, stream = world.source, io.BytesIO()
    image = scene.drawing.render(path.states[0], [scene.roadmap.path(path.states), refined.path])
    Image.fromarray(image).save(stream, "PNG")
    write_atomically(output, stream.getvalue())
