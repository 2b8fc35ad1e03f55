"""The figures of the documentation that `continuous.py` measures."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from continuous_scenes import PLAN, PLANNED_ON, three_stations

from wfairl.floors.roadmap import draw_roadmap
from wfairl.floors.workshop import workshop
from wfairl.floors.workshop import workshop_roadmap as roadmap_of


def draw(figures: dict[str, Any], folder: Path) -> None:
    """The figures of the documentation."""
    import matplotlib.pyplot as plt

    if "gap" in figures:
        rows = figures["gap"]
        figure, axes = plt.subplots(figsize=(4.6, 3))
        for name, colour in (("roadmap", "#0072b2"), ("refined", "#d55e00")):
            axes.loglog(
                [row["samples"] for row in rows], [100 * row[name] for row in rows], "o-", color=colour, label=name
            )
        axes.set_xlabel("samples")
        axes.set_ylabel("% above the best known")
        finish(figure, axes, folder / "continuous-gap.svg")
    if "growth" in figures:
        rows = figures["growth"]
        figure, (left, right) = plt.subplots(1, 2, figsize=(7.4, 3))
        for name, colour in (("drawing, s", "#0072b2"), ("planning, s", "#d55e00"), ("refining, s", "#009e73")):
            left.loglog(
                [row["edges"] for row in rows], [row[name] for row in rows], "o-", color=colour, label=name[:-3]
            )
        for name, colour in (("table, MB", "#0072b2"), ("peak of planning, MB", "#d55e00")):
            right.loglog(
                [row["edges"] for row in rows], [row[name] for row in rows], "o-", color=colour, label=name[:-4]
            )
        left.set_ylabel("seconds")
        right.set_ylabel("MB")
        for axes in (left, right):
            axes.set_xlabel("edges")
        left.legend(frameon=False)
        finish(figure, right, folder / "continuous-growth.svg")
    if "curves" in figures:
        scene = three_stations(draw_roadmap(replace(PLAN, regions=dict(PLAN.regions)), 1000))
        paths = [np.array(row["path"]) for row in figures["curves"]]
        image = scene.source.drawing.render(scene.initial_state, paths)
        save(image, folder / "continuous-curves.png")
    for row in figures.get("pictures", ()):
        is_plan = row["picture"] == "plan"
        scene = workshop(row["seed"], roadmap_of(PLANNED_ON)) if is_plan else workshop(row["seed"])
        paths = [scene.source.roadmap.path(row["walk"]), np.array(row["path"])]
        image = scene.source.drawing.render(scene.initial_state, paths if is_plan else paths[::-1])
        save(image, folder / f"continuous-{row['picture']}.png")


def save(image: Any, file: Path) -> None:
    from PIL import Image

    Image.fromarray(image).quantize(64).save(file, optimize=True)


def finish(figure: Any, axes: Any, file: Path) -> None:
    axes.legend(frameon=False)
    for one in figure.axes:
        one.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(file)
