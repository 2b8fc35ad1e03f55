"""The figures: each answers one question, from results, and comes with its caption.

figures = [draw_trajectory(task, seed, automaton, cost), draw_environments(), ...]
write_figures(figures, directory)        # NAME.svg, NAME.png, captions.json
"""

from experiments.figures.curves import draw_curves, read_history
from experiments.figures.environments import draw_environments
from experiments.figures.policies import draw_policies, find_critical_state, probabilities_at
from experiments.figures.returns import Point, ReturnRow, draw_demonstration_curve, draw_returns
from experiments.figures.unseen_word import UnseenWord, draw_unseen_word, find_unseen_word, learn_from_fewer
from wfairl.pages.figures.automaton import draw_automata, draw_automaton
from wfairl.pages.figures.captioned import CaptionedFigure, write_figures
from wfairl.pages.figures.cost_maps import draw_cost_maps, map_costs
from wfairl.pages.figures.trajectory import draw_trajectory
from wfairl.pages.path_drawing import split_by_automaton_state

__all__ = [
    "CaptionedFigure",
    "Point",
    "ReturnRow",
    "UnseenWord",
    "draw_automata",
    "draw_automaton",
    "draw_cost_maps",
    "draw_curves",
    "draw_demonstration_curve",
    "draw_environments",
    "draw_policies",
    "draw_returns",
    "draw_trajectory",
    "draw_unseen_word",
    "find_critical_state",
    "find_unseen_word",
    "learn_from_fewer",
    "map_costs",
    "probabilities_at",
    "read_history",
    "split_by_automaton_state",
    "write_figures",
]
