"""`wfairl plan --refine`: a plan on a roadmap made cheaper in the plane."""

import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from wfairl.cli.app import out
from wfairl.errors import BadInputError
from wfairl.files import write_atomically
from wfairl.planning.path import Path as WorldPath
from wfairl.worlds.continuous.refining import RefinedPath, refine_path
from wfairl.worlds.continuous.scene import FloorScene


def check_refinable(world: Any) -> None:
    """Refuse a world that is not on a roadmap.

    Raises:
        BadInputError: it is not.
    """
    if not isinstance(getattr(world, "source", None), FloorScene):
        raise BadInputError("--refine is for plans on a roadmap; this task has none")


def prices_of(run: Path | None, world: Any) -> NDArray[np.float64]:
    """What a run has learned that a metre of each kind costs; 1 without a run.

    Raises:
        BadInputError: its cost is not of that kind.
    """
    if run is None:
        return np.ones(len(world.feature_names))
    from wfairl.learning.feature_costs import PricesCost  # torch is slow to import
    from wfairl.learning.run_directory import load_run

    cost = load_run(run).cost
    if not isinstance(cost, PricesCost):
        raise BadInputError(
            f"{run}: its cost, {cost.kind}, depends on where a path is cut; --refine needs one of the kind"
            f" {PricesCost.kind} (wfairl train --cost {PricesCost.kind})"
        )
    return cost.prices


def refine_plan(world: Any, path: WorldPath, prices: NDArray[np.float64]) -> RefinedPath:
    """The plan made cheaper."""
    return refine_path(world.source, world.source.roadmap.configurations[list(path.states)], prices)


def refined_document(world: Any, refined: RefinedPath) -> dict[str, Any]:
    """What there is to say of a refined plan, as JSON."""
    return {
        "cost": refined.cost,
        "metres": dict(zip(world.feature_names, refined.metres.tolist(), strict=True)),
        "path": np.round(refined.path, 4).tolist(),
    }


def print_refined(world: Any, refined: RefinedPath) -> None:
    """A summary of a refined plan, for people."""
    metres = ", ".join(f"{name} {one:.1f}" for name, one in zip(world.feature_names, refined.metres, strict=True))
    out.print(f"refined  cost {refined.cost:g}; {refined.metres.sum():.1f} m ({metres})")


def write_refined(world: Any, path: WorldPath, refined: RefinedPath, output: Path) -> None:
    """The floor with the plan on the roadmap and the refined one."""
    scene, stream = world.source, io.BytesIO()
    image = scene.drawing.render(path.states[0], [scene.roadmap.path(path.states), refined.path])
    Image.fromarray(image).save(stream, "PNG")
    write_atomically(output, stream.getvalue())
