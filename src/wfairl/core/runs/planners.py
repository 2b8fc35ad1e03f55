"""The methods that learn a cost and plan with it: with a learned automaton, and until the goal alone."""

from abc import abstractmethod
from dataclasses import asdict
from pathlib import Path
from typing import Any

from wfairl.core.automata.rules import goal_alone
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.costs.comparisons import comparisons_of
from wfairl.core.costs.cost_model import Estimator
from wfairl.core.costs.cost_words import cost_sentences
from wfairl.core.costs.feature_costs import SampledCost
from wfairl.core.costs.scene import TrainingScenes, prepare_scenes
from wfairl.core.costs.settings import DEFAULT_TRAINING_TEMPERATURE, CostSettings
from wfairl.core.costs.storage import save_cost
from wfairl.core.costs.trainer import CostTraining, TrainingResult
from wfairl.core.planning.cost import Cost
from wfairl.core.planning.policies import PlannedPolicy
from wfairl.core.rational.caution import CautiousPolicy
from wfairl.core.rational.task_posterior import posterior_of
from wfairl.core.runs.methods import Method, Trained, TrainingRequest, acting_mode, plain_settings
from wfairl.core.runs.run_directory import (
    COST,
    TASK_MODEL,
    Run,
    RunConfig,
    check_free,
    load_run,
    seen_tests,
    write_config,
)
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.task import Task, rule_of


class PlanningMethod(Method):
    """Plans with an automaton and a learned cost."""

    learns_cost = True

    @abstractmethod
    def task_model(self, request: TrainingRequest) -> TaskModel:
        """The task to plan for."""

    def settings_type(self) -> type[Any]:
        return CostSettings

    def train(self, request: TrainingRequest) -> Trained:
        settings: CostSettings = self.make_settings(request.settings).complete(request.task.default_cost)
        dataset, directory = request.dataset, request.directory
        config = RunConfig(
            method=self.name,
            task=request.task.name,
            temperature=dataset.temperature,
            settings=plain_settings(settings),
            seen=seen_tests(dataset),
            origin=dict(request.origin),
        )
        check_free(directory, config, request.resume)
        task = self.task_model(request)
        make_world, n_jobs = request.task.make_world, request.n_jobs
        prepared = prepare_scenes(dataset.demonstrations, make_world, task.finite, task.threshold, n_jobs)
        model = settings.make_model([scene.product for scene in prepared.scenes])
        to_train = settings.for_demonstrations(dataset.temperature)
        compared = comparisons_of(dataset.answers, make_world)
        training = CostTraining(model, prepared.scenes, to_train, directory, request.resume, compared)
        # Nothing is written before here, so that a refused request leaves the directory as it was.
        write_config(directory, config)
        task.save(directory / TASK_MODEL)
        result = training.run(n_jobs)
        save_cost(result.model, directory / COST)
        return describe(task, settings, result, prepared)

    def load(self, directory: Path, task: Task, temperature: float | None) -> PlannedPolicy | CautiousPolicy:
        run = load_run(directory)
        foreign = run.task_model.finite.propositions - set(task.propositions)
        if foreign:
            raise BadInputError(
                f"{directory}: a run of the task {run.config.task!r}, whose automaton reads"
                f" {', '.join(sorted(foreign))}; the task {task.name!r} does not have that"
            )
        return policy_of(run, task, temperature, str(directory))

    def acting_temperatures(self, temperature: float) -> dict[str, float | None]:
        """Greedy where the demonstrator was, as in the paper; else at its temperature, and greedy for comparison."""
        return {acting_mode(one): one for one in dict.fromkeys((temperature, 0.0))}

    def learned_cost(self, directory: Path) -> Cost | None:
        return load_run(directory).cost.as_cost()


class WfaIrl(PlanningMethod):
    """The paper's method."""

    name = "wfa-irl"
    title = "WFA-IRL"
    summary = "plan with a learned automaton and a learned cost"
    needs_task_model = True

    def task_model(self, request: TrainingRequest) -> TaskModel:
        if request.task_model is None:
            raise BadInputError(f"{self.name} plans with a task model: give the one that `wfairl learn-task` wrote")
        return request.task_model


class NoAutomaton(PlanningMethod):
    """The paper's ablation: the goal alone, whatever comes before it."""

    name = "no-automaton"
    title = "WFA-IRL without WFA"
    summary = "plan until the goal with a learned cost"

    def task_model(self, request: TrainingRequest) -> TaskModel:
        """See `PlanningMethod`; how well the goal alone explains the scores is part of the model's summary."""
        goal = goal_alone(rule_of(request.task), request.task.propositions)
        return TaskModel.of_automaton(goal, "goal alone", request.dataset.words, request.dataset.scores)


WFA_IRL, NO_AUTOMATON = WfaIrl(), NoAutomaton()


def policy_of(run: Run, task: Task, temperature: float | None, name: str) -> PlannedPolicy | CautiousPolicy:
    """The policy of a run that learned a cost, at the temperature of its demonstrations if none is given.

    It is cautious if the task model has a posterior.
    """
    if temperature is None:
        temperature = run.config.temperature
    acts_at = DEFAULT_TRAINING_TEMPERATURE if temperature is None else temperature
    if posterior_of(run.task_model) is not None:
        return CautiousPolicy(name, run.task_model, run.cost.as_cost(), acts_at, horizon=task.horizon)
    return PlannedPolicy(name, run.task_model.finite, run.cost.as_cost(), acts_at)


def describe(model: TaskModel, settings: CostSettings, training: TrainingResult, prepared: TrainingScenes) -> Trained:
    """The outcome of training a cost, as facts and lines."""
    history, chosen = training.history, training.epoch
    kind, last, left_out = settings.cost, len(history) - 1, prepared.left_out
    is_network = training.model.estimator is Estimator.ADAM
    before, after = history[0].held_out_loss, history[chosen].held_out_loss
    rank = "" if model.summary.rank is None else f"rank {model.summary.rank}, "
    lines = [("automaton", f"{rank}{model.finite.states} states"), ("rule", model.sentence)]
    if last == 0:
        lines.append(("cost", f"{kind}, 1 everywhere: not trained"))
    elif isinstance(training.model, SampledCost):
        sentences = cost_sentences(training.model, prepared.scenes[0].product.world)
        lines += [("cost" if i == 0 else "", text) for i, text in enumerate(sentences)]
    elif not is_network:
        lines.append(("cost", f"{kind}, the most likely of its kind"))
    elif chosen == 0:
        lines.append(("cost", f"{kind}, 1 everywhere: no other made held-out demonstrations more likely"))
        lines.append(("", "(right for an expert to whom all controls cost the same; docs/learning-the-cost.md)"))
    else:
        lines.append(("cost", f"{kind}, of epoch {chosen} of {last}"))
    if before is not None and after is not None:
        lines.append(("held-out loss per step", f"{after:.4f} (before training {before:.4f})"))
    elif last > 0 and not is_network:
        lines.append(("loss per step", f"{history[-1].train_loss:.4f} (at unit cost {history[0].train_loss:.4f})"))
    elif last > 0:
        lines.append(("held-out loss per step", "none: no demonstrations were held out, and the last epoch was kept"))
    lines += [("left out", f"demonstration {one.number} (scene {one.seed}): {one.reason}") for one in left_out]
    warnings = []
    if training.is_cut_short:
        warnings.append(
            f"the last of {last} epochs was the best and the held-out loss was still falling: train longer (--epochs)"
            f" or faster (--learning-rate, now {settings.learning_rate:g})"
        )
    facts: dict[str, Any] = {
        "rank": model.summary.rank,
        "rows": model.summary.rows,
        "cols": model.summary.cols,
        "states": model.finite.states,
        "epoch": chosen,
        "epochs": last,
        "held_out_loss": after,
        "held_out_loss_before": before,
        "left_out": [asdict(one) for one in left_out],
    }
    if isinstance(training.model, SampledCost):
        facts["no_preference"] = float(training.model.unit)
    return Trained(facts, lines, warnings)
