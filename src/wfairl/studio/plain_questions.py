"""Questions that a person can answer: one path, and in what it differs from what the agent would do."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.words import compress, format_label
from wfairl.core.rational.task_posterior import posterior_of
from wfairl.pages.text import capitalised
from wfairl.questions.hypotheses import hypotheses_of


def question_text(asked: Sequence[Label], usual: Sequence[Label]) -> str:
    """All differences between a path and that of the agent as a question: yes or no to each of them.

    Both are given by what holds after each step.
    """
    here, there = _times(asked), _times(usual)
    extra = [name for name in here if name not in there]
    lacking = [name for name in there if name not in here]
    orders = [[name for name in one if name in here and name in there] for one in (here, there)]
    swapped = next(((a, b) for a, b in zip(*orders, strict=True) if a != b), None)
    differences = []
    if extra and lacking:
        differences.append(f"{_all_of(extra)} instead of {_all_of(lacking)}")
    elif extra:
        differences.append(f"passing {_all_of(extra)} on the way")
    elif lacking:
        differences.append(f"without {_all_of(lacking)}")
    if swapped is not None:
        differences.append(f"{swapped[0]} before {swapped[1]}")
    differences += [
        f"{_all_of(names)} without {_all_of(missing)}"
        for missing, names in _alone(asked, usual).items()
        if not set(missing) <= set(lacking)
    ]
    again = [name for name in orders[0] if here[name] > there[name]]
    differences += [f"{name} {'twice' if here[name] == 2 else f'{here[name]} times'}" for name in again]
    if differences:
        return f"{capitalised(', and '.join(differences))}: still right?"
    word = [format_label(label) for label in compress(asked) if label]
    return f"{capitalised(', then '.join(word) or 'nothing')}: right?"


def _alone(asked: Sequence[Label], usual: Sequence[Label]) -> dict[tuple[str, ...], list[str]]:
    """What holds at some moment without what holds beside it whenever it holds in the usual path, by the latter."""
    found: dict[tuple[str, ...], list[str]] = {}
    for label in dict.fromkeys(asked):
        fuller = [one for one in usual if label and label <= one]
        if missing := frozenset.intersection(*fuller) - label if fuller else None:
            found.setdefault(tuple(sorted(missing)), []).append(format_label(label))
    return found


def _times(labels: Sequence[Label]) -> Counter[str]:
    """How often each proposition begins to hold, in the order in which they first do."""
    before = (frozenset[str](), *labels)
    return Counter(name for old, new in zip(before, labels, strict=False) for name in sorted(new - old))


def _all_of(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def probability_of(model: TaskModel, labels: Sequence[Label]) -> float | None:
    """Probability that a path is right, by the belief that the page shows; None if its labels are new."""
    posterior = posterior_of(model)
    if posterior is None or not set(labels) <= set(posterior.labels):
        return None
    word = np.array([posterior.support.number[label] for label in labels], np.int32)
    return sum(one.weight for one in hypotheses_of(posterior, posterior.labels) if one.accepts(word))
