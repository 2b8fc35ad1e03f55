"""The methods that learn a cost and plan with it: with a learned automaton, and until the goal alone."""

from abc import abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from wfairl.core.automata.automaton import Automaton
from wfairl.core.automata.guarded import Edge, GuardedAutomaton
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.costs.cost_model import CostModel, save_cost
from wfairl.core.costs.feature_costs import PricesCost, SampledCost
from wfairl.core.costs.scene import LeftOut
from wfairl.core.costs.settings import DEFAULT_TRAINING_TEMPERATURE, CostSettings
from wfairl.core.costs.training import TrainingResult
from wfairl.core.planning.cost import Cost
from wfairl.core.planning.policies import PlannedPolicy
from wfairl.core.rational.caution import CautiousPolicy
from wfairl.core.rational.logic_with_cost import prepare_training
from wfairl.core.rational.task_posterior import posterior_of
from wfairl.core.support.documents import plain_fields
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.task import Task, rule_of
from wfairl.core.worlds.world import World
from wfairl.runs.cost_words import term_costs
from wfairl.runs.methods import Method, Trained, TrainingRequest, acting_mode
from wfairl.runs.run_directory import (
    COST,
    TASK_MODEL,
    RunConfig,
    check_fits,
    check_free,
    load_run,
    seen_tests,
    write_config,
)


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
            settings=plain_fields(settings),
            seen=seen_tests(dataset),
            origin=dict(request.origin),
        )
        check_free(directory, config, request.resume)
        task = self.task_model(request)
        training, left_out = prepare_training(
            dataset, request.task, task, settings, request.n_jobs, directory, request.resume
        )
        # Nothing is written before here, so that a refused request leaves the directory as it was.
        write_config(directory, config)
        task.save(directory / TASK_MODEL)
        result = training.model.learn(training)
        save_cost(result.model, directory / COST)
        return describe_training(task, result, left_out, training.scenes[0].product.world)

    def load(self, directory: Path, task: Task, temperature: float | None) -> PlannedPolicy | CautiousPolicy:
        """See `Method`; the policy is cautious if the task model has a posterior."""
        run = load_run(directory)
        check_fits(directory, run.task_model, task)
        if temperature is None:
            temperature = run.config.temperature
        acts_at = DEFAULT_TRAINING_TEMPERATURE if temperature is None else temperature
        if posterior_of(run.task_model) is not None:
            return CautiousPolicy(str(directory), run.task_model, run.cost, acts_at, horizon=task.horizon)
        return PlannedPolicy(str(directory), run.task_model.finite, run.cost, acts_at)

    def acting_temperatures(self, temperature: float) -> dict[str, float | None]:
        """Greedy where the demonstrator was, as in the paper; else at its temperature, and greedy for comparison."""
        return {acting_mode(one): one for one in dict.fromkeys((temperature, 0.0))}

    def learned_cost(self, directory: Path) -> Cost | None:
        return load_run(directory).cost


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


def goal_alone(rule: Automaton, propositions: Collection[str]) -> GuardedAutomaton:
    """The end of a rule without what comes before it: any label by which the rule can come to accept."""
    guards = {guard for _, guard, target in rule.guarded_edges(propositions) if rule.accepting[target]}
    weakest = [
        guard
        for guard in sorted(guards, key=lambda guard: (len(guard.literals), str(guard)))
        if not any(one != guard and one.covers(guard) for one in guards)
    ]
    return GuardedAutomaton((tuple(Edge(guard, 1) for guard in weakest), ()), np.array([False, True]))


def cost_by_name(cost: CostModel, world: World[Any]) -> dict[str, Any]:
    """The learned costs of a world's features and controls, by name; empty for a network."""
    if isinstance(cost, SampledCost):
        terms = term_costs(cost, world)
        return {"plain_steps": {one.name: {"cost": one.cost, "low": one.low, "high": one.high} for one in terms}}
    if isinstance(cost, PricesCost):
        return {"prices": dict(zip(cost.names_of(world), cost.prices.tolist(), strict=True))}
    return {}


def describe_training(
    model: TaskModel, training: TrainingResult, left_out: Sequence[LeftOut], world: World[Any]
) -> Trained:
    """The outcome of training a cost, as facts and lines; its features and controls are those of a world."""
    summary, history = model.summary, training.history
    rank = "" if summary.rank is None else f"rank {summary.rank}, "
    lines = [
        ("automaton", f"{rank}{model.finite.states} states"),
        ("rule", model.sentence),
        *training.lines,
        *(("left out", f"demonstration {one.number} (scene {one.seed}): {one.reason}") for one in left_out),
    ]
    facts: dict[str, Any] = {
        "rank": summary.rank,
        "rows": summary.rows,
        "cols": summary.cols,
        "states": model.finite.states,
        "epoch": training.epoch,
        "epochs": len(history) - 1,
        "held_out_loss": history[training.epoch].held_out_loss,
        "held_out_loss_before": history[0].held_out_loss,
        "left_out": [asdict(one) for one in left_out],
        **cost_by_name(training.model, world),
    }
    if isinstance(training.model, SampledCost):
        facts["no_preference"] = float(training.model.unit[0])
    return Trained(facts, lines, training.warnings)
