"""Your own method: trained, stored, loaded and evaluated like the others.

    wfairl --tasks examples/own_method.py train demos.safetensors --method small-rule -o runs/rule

This one plans with a small automaton of the demonstrations' words, and with cost 1 for every control.
"""

from dataclasses import asdict, dataclass
from pathlib import Path

from own_world import TASK

from wfairl import PlannedPolicy, TaskModel, find_learner, unit_cost
from wfairl.runs import Method, RunConfig, Trained, check_free, register_method, seen_tests, write_config


@dataclass(frozen=True)
class SmallRuleSettings:
    """They become options of `wfairl train`, with these defaults.

    Attributes:
        learner: of the automaton.
    """

    learner: str = "merging"


class SmallRule(Method):
    """The contract: the dataclass of its settings, `train` into a directory, `load` a policy from it."""

    name, title, summary = "small-rule", "small rule", "plan with a small automaton, every control costing 1"

    def settings_type(self):
        return SmallRuleSettings

    def train(self, request):
        settings, dataset = self.make_settings(request.settings), request.dataset
        config = RunConfig(self.name, dataset.task, dataset.temperature, asdict(settings), seen_tests(dataset))
        check_free(request.directory, config, request.resume)
        model = find_learner(settings.learner).fit(dataset.words, dataset.scores).model
        write_config(request.directory, config)
        model.save(request.directory / "task.json")
        return Trained({"states": model.finite.states}, [("automaton", f"{model.finite.states} states")])

    def load(self, directory, task, temperature):
        automaton = TaskModel.load(directory / "task.json").finite
        return PlannedPolicy(self.name, automaton, unit_cost, temperature or 0.0)


register_method(SmallRule())

if __name__ == "__main__":
    from wfairl import collect, evaluate, load_policy, register_task, train

    task, directory = register_task(TASK), Path("runs/small-rule")
    train("small-rule", collect(task, successes=8, failures=16, temperature=0.5, seed=0), directory)
    print(f"success in {evaluate(task, load_policy(directory, task), range(8)).success_rate:.0%} of 8 new scenes")
