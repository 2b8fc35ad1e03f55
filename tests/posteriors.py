"""Posteriors as a rational learner could give them, for tests that do not learn."""

import numpy as np

from wfairl.core.automata.task_model import TaskModel
from wfairl.core.rational.task_posterior import Alternative, Support, TaskPosterior


def certain_support(automaton, labels=()):
    """A support that leaves nothing in doubt."""
    return Support(tuple(labels), np.zeros((automaton.states - 1, len(labels)), bool))


def posterior_over(*alternatives, support=None, **fields):
    """The posterior of automata, the chosen one first; each alone, or with its weight, or with weight and text."""
    kept = [one if isinstance(one, tuple) else (one, 1.0) for one in alternatives]
    known = {
        "temperature": 0.5,
        "log_posterior": -10.0,
        "log_prior": -5.0,
        "automata_generated": 1,
        "automata_evaluated": 1,
        "outlier_probabilities": np.zeros(0),
    }
    return TaskPosterior(
        tuple(Alternative(automaton, *(text or ["rule"]), weight) for automaton, weight, *text in kept),
        support or certain_support(kept[0][0]),
        **{**known, **fields},
    )


def model_with(posterior):
    """The task model of a posterior."""
    return TaskModel.of_automaton(posterior.chosen.automaton, "rational", record=posterior)
