"""The paper's ablation: plan in the world itself until its goal is reached, and learn the cost for that.

Nobody tells the agent what has to come before the goal. It is the same machinery with the smallest automaton there
is, which waits for one proposition: the last that the task's rule asks for. So the product has one node for each
state of the world, and planning and learning are those of the paper's method.
"""

from dataclasses import replace
from pathlib import Path

from wfairl.automata.rules import goal_alone
from wfairl.automata.task_model import TaskModel
from wfairl.demonstrations.demonstration import Dataset
from wfairl.learning.run_directory import NO_AUTOMATON, RunConfig, TrainedRun, train_run
from wfairl.worlds.task import Task


def train_without_automaton(
    task: Task, dataset: Dataset, config: RunConfig, directory: Path, resume: bool = False, n_jobs: int = 2
) -> TrainedRun:
    """Learn the cost under which demonstrators went for the goal; arguments and errors as in `train_run`."""
    config = replace(config, method=NO_AUTOMATON)
    return train_run(dataset, task.make_world, goal_model(task, dataset), config, directory, resume, n_jobs)


def goal_model(task: Task, dataset: Dataset) -> TaskModel:
    """The task of reaching the goal, whatever comes before it.

    Args:
        task: its goal is the last proposition that its rule visits.
        dataset: how well the goal alone explains its scores is part of the model's summary.
    """
    automaton = goal_alone(task.rule, task.propositions)
    return TaskModel.of_automaton(automaton, "goal alone", dataset.words, dataset.scores)
