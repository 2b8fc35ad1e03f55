"""Caution: what a learned automaton has not been tested on is priced into the cost.

A label of which no demonstration tells where it leads may end the task in failure. `Support` says how probable that
is; a cautious cost adds the price of a failure times that probability,

    c'(s, u) = c(s, u) + price * mean(c) * risk(q, l(s, u)),

so that a plan leaves what was demonstrated only where nothing else reaches the goal, or where it saves more than that.
"""

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import Label
from wfairl.automata.task_model import TaskModel
from wfairl.logic.plan import DEFAULT_PRICE
from wfairl.logic.support import Support
from wfairl.planning.cost import Cost
from wfairl.planning.path import Path
from wfairl.planning.product import Product


def cautious(cost: Cost, model: TaskModel, price: float = DEFAULT_PRICE) -> Cost:
    """A cost with the risk of a model's automaton priced in; the cost itself if the model knows no risk.

    Args:
        cost: what transitions cost.
        model: the task, whose automaton the products are of.
        price: what a failure is worth, in units of the mean cost.
    """
    support = support_of(model)
    if support is None or price == 0:
        return cost

    def priced(product: Product) -> NDArray[np.float64]:
        costs = cost(product)
        risk = _risk_by_label(support, product.labels)
        if product.automaton is not model.finite or not len(product.labels):
            return costs  # states alone, without an automaton to be at risk of
        return costs + price * float(costs.mean()) * risk[product.automaton_states[:, None], product.label_index]

    return priced


def support_of(model: TaskModel) -> Support | None:
    """The evidence behind a model's automaton, None if its learner keeps none."""
    document = model.facts.get("support")
    return None if document is None else Support.from_document(document)


def untested_steps(model: TaskModel, path: Path) -> list[int]:
    """The steps of a path, from 1, at which it reads what no demonstration tells about in that state."""
    support = support_of(model)
    if support is None:
        return []
    known = {label: i for i, label in enumerate(support.labels)}
    steps = []
    for step, (state, label) in enumerate(zip(path.automaton_states, path.labels, strict=False), start=1):
        if 0 <= state < len(support.visits) and (label not in known or support.is_untested[state, known[label]]):
            steps.append(step)
    return steps


def _risk_by_label(support: Support, labels: tuple[Label, ...]) -> NDArray[np.float64]:
    """The risk of each label in each state, shape [states + 1, labels]; the accepting state has none."""
    known = {label: i for i, label in enumerate(support.labels)}
    risk = np.full((len(support.risk) + 1, len(labels)), support.unknown_risk)
    for i, label in enumerate(labels):
        if label in known:
            risk[:-1, i] = support.risk[:, known[label]]
    risk[-1] = 0.0
    return risk
