"""An episode, cut into parts by the states of the automaton. (Figure 1 of the paper)"""

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Automaton
from wfairl.core.automata.words import compress, format_word
from wfairl.core.planning.cost import Cost, unit_cost
from wfairl.core.planning.path import Path
from wfairl.core.planning.plan import find_plan
from wfairl.core.planning.product import build_product
from wfairl.core.worlds.task import Task
from wfairl.pages import style
from wfairl.pages.automata.label_differences import DIFFERENCES_EXPLAINED
from wfairl.pages.captioned_figure import CaptionedFigure
from wfairl.pages.path_drawing import PartsDrawing, PathPart, split_by_automaton_state
from wfairl.pages.text import counted
from wfairl.pages.world_drawing import rendering_of

FADING = 0.65

LIST = 1.35
"""Inches that the list of states takes from a column."""

TALLEST = 2.6
"""Inches of a wide scene, which gets more than a column."""

WIDE = 1.2
"""Aspect ratio above which a scene is wide."""


def draw_trajectory(
    task: Task, seed: int, automaton: Automaton, cost: Cost = unit_cost, name: str = "trajectory"
) -> CaptionedFigure:
    """The cheapest episode in a scene, coloured by automaton state, beside the sequence of states.

    Args:
        cost: that the episode minimizes.

    Raises:
        UnsatisfiableTaskError: the automaton accepts nothing in this scene.
    """
    world = task.make_world(seed)
    product = build_product(world, automaton)
    path = find_plan(product, cost(product)).path
    parts = split_by_automaton_state(path)
    *left, last = parts
    notes = (*(part.steps for part in left), f"accepted, {counted(last.last, 'step')}")
    drawing = PartsDrawing(parts, tuple(str(part.automaton_state) for part in parts), notes, path.is_accepted)
    list_width, list_height = drawing.list_size
    rendering = rendering_of(world)
    places = None if rendering is None else rendering.places
    image = rendering.render(world.initial_state) if rendering and places else None
    scene_width, scene_height = (0.0, 0.0) if image is None else _scene_size(image)
    height = max(scene_height, list_height)
    figure = style.new_figure(scene_width + list_width, height)
    if image is not None and places is not None:
        scene = style.place(figure, 0, (height - scene_height) / 2, scene_width, scene_height)
        style.show_image(scene, image, FADING)
        drawing.draw_over(scene, places.trace(path.states))
    drawing.draw_list(style.place_in_inches(figure, scene_width, 0, list_width, height))
    is_shown = image is not None
    return CaptionedFigure(name, figure, _caption(task, seed, path, parts, is_shown), _alt(task, parts, is_shown))


def _scene_size(image: NDArray[np.uint8]) -> tuple[float, float]:
    """Width and height in inches: a column wide, or more for a wide scene."""
    aspect = image.shape[1] / image.shape[0]
    width = min(style.PAGE - LIST, TALLEST * aspect) if aspect > WIDE else style.COLUMN - LIST
    return width, width / aspect


def _caption(task: Task, seed: int, path: Path, parts: tuple[PathPart, ...], is_shown: bool) -> str:
    chain = "in the order of the episode, with their numbers of steps and what ends them"
    return (
        f"An episode of {task.name} (scene {seed}), cut into {counted(len(parts) - 1, 'part')} by the state of the"
        " automaton."
        + (
            " Left: the path of the agent in the initial scene; each part has the colour of its state, whose number is"
            " where it is entered. Parts that share their way run side by side. Right: the same states"
            f" {chain}"
            if is_shown
            else f" The states {chain}; the scene is left out, as it has no renderer that tells where the agent is"
        )
        + f" {DIFFERENCES_EXPLAINED}. The word is: {format_word(compress(path.labels))}."
    )


def _alt(task: Task, parts: tuple[PathPart, ...], is_shown: bool) -> str:
    chain = ", ".join(
        f"state {part.automaton_state} for {part.steps} until {part.difference}"
        for part in parts
        if part.label is not None
    )
    scene = f"A scene of {task.name} with the path of the agent in {counted(len(parts) - 1, 'colour')}, and a chain"
    return (
        f"{scene if is_shown else 'A chain'} of automaton states: {chain}; then state {parts[-1].automaton_state},"
        " which accepts."
    )
