"""`wfairl plan --refine`: a plan shortened off its roadmap."""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.planning.path import Path as WorldPath
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.files import write_atomically
from wfairl.core.worlds.graph import GraphWorld
from wfairl.floors.refining import RefinedPath, refine_path
from wfairl.floors.roadmap import FloorScene


@dataclass(frozen=True, eq=False)
class RefinedPlan:
    """A plan on a roadmap and the same plan in the plane."""

    world: Any  # of the roadmap
    path: WorldPath  # the plan on the roadmap
    refined: RefinedPath  # the plan in the plane

    def to_document(self) -> dict[str, Any]:
        """The refined plan as JSON."""
        return {
            "cost": self.refined.cost,
            "metres": dict(zip(self.world.feature_names, self.refined.metres.tolist(), strict=True)),
            "path": np.round(self.refined.path, 4).tolist(),
        }

    @property
    def sentence(self) -> str:
        """The cost of the path, and its length by kind of floor."""
        metres = self.refined.metres
        lengths = ", ".join(f"{name} {one:.1f}" for name, one in zip(self.world.feature_names, metres, strict=True))
        return f"refined  cost {self.refined.cost:g}; {metres.sum():.1f} m ({lengths})"

    def write_image(self, output: Path) -> None:
        """Write an image of the floor with both plans."""
        from PIL import Image

        scene, stream = self.world.source, io.BytesIO()
        image = scene.drawing.render(self.path.states[0], [scene.roadmap.path(self.path.states), self.refined.path])
        Image.fromarray(image).save(stream, "PNG")
        write_atomically(output, stream.getvalue())


def check_refinable(world: Any, output: Path | None) -> None:
    """Refuse a world that is not on a roadmap, and a film of a refined plan."""
    if output is not None and output.suffix.lower() != ".png":
        raise BadInputError(f"{output}: the image of a refined plan must end in .png")
    if not isinstance(world, GraphWorld) or not isinstance(world.source, FloorScene):
        raise BadInputError("--refine is for plans on a roadmap; this task has none")


def refine_plan(world: Any, path: WorldPath, run: Path | None) -> RefinedPlan:
    """Refine a plan at the prices that a run has learned, or 1 per metre without a run."""
    places = world.source.roadmap.path(path.states)
    return RefinedPlan(world, path, refine_path(world.source, places, _prices(run, len(world.feature_names))))


def _prices(run: Path | None, kinds: int) -> NDArray[np.float64]:
    """The learned price of a metre of each kind of floor; 1 without a run.

    Raises:
        BadInputError: the run's cost has no such prices.
    """
    if run is None:
        return np.ones(kinds)
    from wfairl.core.costs.feature_costs import PricesCost  # here, because it is slow to import
    from wfairl.runs.run_directory import load_run

    cost = load_run(run).cost
    if not isinstance(cost, PricesCost):
        raise BadInputError(
            f"{run}: its cost, {cost.kind}, depends on how a path is divided into transitions; --refine needs the cost"
            f" {PricesCost.kind} (wfairl train --cost {PricesCost.kind})"
        )
    return cost.prices
