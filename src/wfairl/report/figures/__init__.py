"""The figures: each answers one question, from results, and comes with its caption.

figures = [draw_trajectory(task, seed, automaton, cost), draw_environments(), ...]
write_figures(figures, directory)        # NAME.svg, NAME.png, captions.json
"""

from wfairl.planning.path_drawing import split_by_automaton_state
from wfairl.report.figures.automaton import draw_automata, draw_automaton
from wfairl.report.figures.captioned import CaptionedFigure, write_figures
from wfairl.report.figures.cost_maps import draw_cost_maps, map_costs
from wfairl.report.figures.curves import draw_curves, read_history
from wfairl.report.figures.environments import draw_environments
from wfairl.report.figures.policies import draw_policies, find_critical_state, probabilities_at
from wfairl.report.figures.returns import Point, ReturnRow, draw_demonstration_curve, draw_returns
from wfairl.report.figures.trajectory import draw_trajectory
from wfairl.report.figures.unseen_word import UnseenWord, draw_unseen_word, find_unseen_word, learn_from_fewer

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
