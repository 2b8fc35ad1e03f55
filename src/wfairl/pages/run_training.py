"""How the cost of a run was learned: its words, the curves of a network, and maps."""

from wfairl.core.costs.cost_model import CostModel
from wfairl.core.costs.cost_words import CLAIMED
from wfairl.core.costs.feature_costs import CostOverFeatures, SampledCost
from wfairl.core.costs.training import METRICS, EpochMetrics, is_falling
from wfairl.core.support.errors import WfairlError
from wfairl.pages.blocks import Facts, prose
from wfairl.pages.charts import draw_losses
from wfairl.pages.cost_maps import draw_cost_maps
from wfairl.pages.page import Block, Section
from wfairl.pages.preference import SCENES, NoPreferenceError, check_preference
from wfairl.pages.run_files import RunFiles
from wfairl.pages.text import Code, Text, capitalised, number

SAMPLED = (
    "Costs of a few features and controls, weighed by how likely they are after the demonstrations; 90 % lie in the"
    " interval. A plain step, the most common kind, is the unit."
)

MOST_LIKELY = "The most likely weights, from all demonstrations. Before training, every control costs 1."

TRAINED = (
    "Training fits a cost for every transition, under which the demonstrated controls are likely, and selects the"
    " epoch with the least loss on held-out demonstrations. Before training, every control costs 1."
)


def cost_section(run: RunFiles, cost: CostModel) -> Section:
    """What was learned, how, and what each control costs at each place."""
    learned = _in_words(run, cost) if isinstance(cost, CostOverFeatures) else _epochs(run.history, cost)
    return Section("How the cost was learned", (*learned, *cost_maps(run, cost)))


def _in_words(run: RunFiles, cost: CostOverFeatures) -> tuple[Block, ...]:
    sentences = cost.sentences(run.task.make_world(run.scenes(1)[0]))
    return (prose(SAMPLED if isinstance(cost, SampledCost) else MOST_LIKELY, f"{capitalised('; '.join(sentences))}."),)


def _epochs(history: tuple[EpochMetrics, ...], cost: CostModel) -> tuple[Block, ...]:
    """The training of a network."""
    parameters = sum(array.size for array in cost.arrays.values())
    facts: list[tuple[str, Text]] = [("Model", cost.kind), ("Parameters", number(parameters))]
    if not history:
        return prose(TRAINED), Facts(tuple(facts)), prose(("There are no curves: the run has no ", Code(METRICS), "."))
    facts.append(("Epochs", number(len(history) - 1)))
    held_out = {epoch.epoch: epoch.held_out_loss for epoch in history if epoch.held_out_loss is not None}
    selected = min(held_out, key=held_out.__getitem__, default=None)
    if selected is not None:
        facts += [
            ("Selected epoch", number(selected)),
            ("Held-out loss per step", number(held_out[selected], 4)),
            ("Held-out loss before training", number(held_out[0], 4)),
        ]
    curves = {"held-out demonstrations": held_out, "training": {epoch.epoch: epoch.train_loss for epoch in history}}
    chart = draw_losses({name: losses for name, losses in curves.items() if losses}, selected)
    return prose(TRAINED), Facts(tuple(facts)), chart


def cost_maps(run: RunFiles, cost: CostModel) -> tuple[Block, ...]:
    """Maps of each control's cost over the first scene of the page, or a sentence why there are none."""
    assert run.task_model is not None
    scenes, is_known = run.scenes(SCENES), None
    try:
        if isinstance(cost, SampledCost):
            if float(cost.unit[0]) >= CLAIMED:
                return (prose("There are no maps of the cost: the demonstrations do not show a preference."),)
            is_known = cost.is_known
        else:
            check_preference(run.task, scenes, run.task_model.finite, cost)
        return (draw_cost_maps(run.task, scenes[0], run.task_model.finite, cost, is_known=is_known),)
    except NoPreferenceError as error:
        text = f"{capitalised(str(error))}. Maps of the cost would only show noise, so there are none."
        if is_falling([epoch.held_out_loss for epoch in run.history]):
            text += " But training ended while the held-out loss was still falling: with more epochs it may find one."
        return (prose(text),)
    except WfairlError as error:
        return (prose(f"There are no maps of the cost: {str(error).rstrip('.')}."),)
