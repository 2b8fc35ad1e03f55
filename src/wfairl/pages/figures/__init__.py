"""The figures: each answers one question, from results, and comes with its caption.

figures = [draw_trajectory(task, seed, automaton, cost), draw_automaton(task_model), ...]
write_figures(figures, directory)        # NAME.svg, NAME.png, captions.json
"""

from wfairl.pages.figures.automaton import draw_automata, draw_automaton
from wfairl.pages.figures.captioned import CaptionedFigure, write_figures
from wfairl.pages.figures.cost_maps import draw_cost_maps, map_costs
from wfairl.pages.figures.trajectory import draw_trajectory
from wfairl.pages.path_drawing import split_by_automaton_state

__all__ = [
    "CaptionedFigure",
    "draw_automata",
    "draw_automaton",
    "draw_cost_maps",
    "draw_trajectory",
    "map_costs",
    "split_by_automaton_state",
    "write_figures",
]
