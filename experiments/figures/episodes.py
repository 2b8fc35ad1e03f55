"""An episode over its scene, cut into parts by what happened. (Figure 1 of the paper)"""

from wfairl.core.automata.words import compress, format_word
from wfairl.core.planning.path import Path
from wfairl.core.worlds.task import Task
from wfairl.pages.automata.label_differences import DIFFERENCES_EXPLAINED
from wfairl.pages.captioned_figure import CaptionedFigure
from wfairl.pages.film import draw_film, film_path
from wfairl.pages.text import counted


def draw_episode(task: Task, seed: int, path: Path, name: str, text: str) -> CaptionedFigure:
    """A path in a scene, coloured by its parts, with the list of automaton states and frames of its events.

    Args:
        text: the beginning of the caption.

    Raises:
        NoRendererError: the world has no renderer.
    """
    word = format_word(compress(path.labels))
    caption = (
        f"{text} Scene {seed} of {task.name}: the path of the agent in the initial scene, and its parts in order, each"
        f" with the state of the automaton, its number of steps and what ends it {DIFFERENCES_EXPLAINED}. The word is:"
        f" {word}."
    )
    alt = f"A scene of {task.name} with a path of {counted(len(path.controls), 'step')} and the word {word}."
    return CaptionedFigure(name, draw_film(film_path(task.make_world(seed), path)), caption, alt)
