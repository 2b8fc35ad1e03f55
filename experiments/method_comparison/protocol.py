"""The protocol of a comparison of methods: tasks x data sets x methods x training seeds.

Every combination is a cell that trains and tests, on demonstrations and an automaton that are cells too:

    demonstrations -> automaton -> training and test
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import experiments.baselines  # noqa: F401 - registers bc and gail
from experiments.harness.cell import Cell
from experiments.harness.experiment import Experiment, Options
from experiments.method_comparison.training import (
    collect_demonstrations,
    evaluate_reference,
    learn_automaton,
    train_and_test,
)
from wfairl.core.demonstrations.learners import find_learner
from wfairl.core.planning.policies import REFERENCES
from wfairl.core.support.errors import BadInputError
from wfairl.runs.methods import find_method


@dataclass(frozen=True)
class DataSet:
    """How demonstrations are collected: temperature of the expert, and random walks, the protocol's number if None."""

    temperature: float
    failures: int | None = None


@dataclass(frozen=True)
class Entry:
    """What is compared: a method and its settings."""

    method: str  # the name of the method
    title: str  # in tables
    learner: str = "spectral"  # of the automaton, for a method that needs one
    settings: Mapping[str, Any] = field(default_factory=dict)  # where they differ from the method's defaults
    data_sets: tuple[str, ...] | None = None  # the only data sets that it learns from; all of the protocol if None
    tasks: tuple[str, ...] | None = None  # the only tasks that it learns; all of the protocol if None
    # the name of the only acting temperature of its method that is tested; all are tested if None
    acts: str | None = None
    transferred: tuple[str, ...] = ()  # data sets for which it is tested on the transfers too

    def learns_from(self, data: str) -> bool:
        """Whether it learns from a data set."""
        return self.data_sets is None or data in self.data_sets

    def changed(self, **settings: Any) -> "Entry":
        """The same with other settings."""
        return replace(self, settings={**self.settings, **settings})


@dataclass(frozen=True)
class Curve:
    """What is learned from fewer demonstrations of one data set too: their numbers, and by which entries, on what."""

    successes: tuple[int, ...]
    tasks: tuple[str, ...]
    entries: tuple[str, ...]
    data: str


@dataclass(frozen=True)
class Protocol:
    """What to compute.

    Attributes:
        tasks: the names of the tasks.
        data_sets, entries: by name.
        seeds: training seeds, each with demonstrations of its own.
        successes, failures: demonstrations in a data set.
        test_scenes: scenes to test on.
        curve: what is learned from fewer demonstrations.
        transfers: for a task, other tasks on which its policies are tested too.
    """

    tasks: tuple[str, ...]
    data_sets: Mapping[str, DataSet]
    entries: Mapping[str, Entry]
    seeds: int = 3
    successes: int = 32
    failures: int = 128
    test_scenes: int = 64
    curve: Curve | None = None
    transfers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def tested_tasks(self) -> tuple[str, ...]:
        """All tasks that policies are tested on: those that they learn, and their transfers."""
        return tuple(dict.fromkeys(one for task in self.tasks for one in (task, *self.transfers.get(task, ()))))

    def failures_of(self, data: str) -> int:
        """The number of failed demonstrations in a data set."""
        failures = self.data_sets[data].failures
        return self.failures if failures is None else failures

    def cells(self) -> Iterator[Cell]:
        """All cells: of reference policies, then of the tables, then of the curve."""
        temperature = max(data.temperature for data in self.data_sets.values())
        for task, policy in product(self.tested_tasks, REFERENCES):
            settings = {"task": task, "method": policy, "temperature": temperature, "test_scenes": self.test_scenes}
            yield Cell(f"{task} {policy}", evaluate_reference, settings)
        for entry in self.entries.values():  # rather than in every cell
            find_method(entry.method).check_available()
            find_learner(entry.learner)
        seeds = range(self.seeds)
        for task, data, (name, entry), seed in product(self.tasks, self.data_sets, self.entries.items(), seeds):
            if entry.learns_from(data) and (entry.tasks is None or task in entry.tasks):
                yield self.training(task, data, name, seed, self.successes)
        if (curve := self.curve) is not None and curve.data in self.data_sets:
            tasks = [task for task in curve.tasks if task in self.tasks]
            entries = [name for name in curve.entries if name in self.entries]
            for task, name, successes, seed in product(tasks, entries, curve.successes, seeds):
                yield self.training(task, curve.data, name, seed, successes)

    def training(self, task: str, data: str, name: str, seed: int, successes: int) -> Cell:
        """The cell of one training and its test."""
        entry, method = self.entries[name], find_method(self.entries[name].method)
        temperature, label = self.data_sets[data].temperature, f"{task} {data}"
        demonstrations = Cell(
            f"{label} demonstrations, seed {seed}",
            collect_demonstrations,
            {
                "task": task,
                "successes": self.successes,
                "failures": self.failures_of(data),
                "temperature": temperature,
                "seed": seed,
            },
        )
        needs = {"demonstrations": demonstrations}
        ending = f"{successes} demonstrations, seed {seed}"
        if method.needs_task_model:
            settings = {"task": task, "learner": entry.learner, "successes": successes}
            name_of = f"{label} {entry.learner} automaton, {ending}"
            needs["automaton"] = Cell(name_of, learn_automaton, settings, dict(needs))
        transfers = self.transfers.get(task, ()) if data in entry.transferred and successes == self.successes else ()
        return Cell(
            f"{label} {name}, {ending}",
            train_and_test,
            {
                "task": task,
                "data": data,
                "method": name,
                "seed": seed,
                "successes": successes,
                "trained_by": entry.method,
                "settings": self._settings(entry, seed),
                "temperature": temperature,
                "acts": entry.acts,
                "test_scenes": self.test_scenes,
                "transfers": list(transfers),
            },
            needs,
        )

    def _settings(self, entry: Entry, seed: int) -> dict[str, Any]:
        """All settings of a training, including the method's defaults."""
        defaults = find_method(entry.method).default_settings()
        own_seed = {"seed": seed} if "seed" in defaults else {}  # a method without randomness has none
        known = {name: value for name, value in defaults.items() if value is not None}
        return {**known, **entry.settings, **own_seed}


@dataclass(frozen=True)
class MethodComparison:
    """An experiment on methods.

    Attributes:
        name, title, summary: see `Experiment`.
        full: the whole protocol.
        quick: a protocol that takes minutes.
        quick_note: what the quick one leaves out.
        published_by: of the published figures, such as "the paper"; empty if there are none.
        published_returns: by entry or reference policy, task and data set, which is empty for a reference.
        published_automata: rank, rows and cols by task and data set.
        measures: in place of the return in tables: names of `measures.MEASURES`.
    """

    name: str
    title: str
    summary: str
    full: Protocol
    quick: Protocol
    quick_note: str = "one training seed and few test scenes"
    published_by: str = ""
    published_returns: Mapping[tuple[str, str, str], float] = field(default_factory=dict)
    published_automata: Mapping[tuple[str, str], tuple[int, int, int]] = field(default_factory=dict)
    measures: tuple[str, ...] = ()

    def protocol(self, options: Options) -> Protocol:
        """What to compute: the options may ask for less."""
        base, full = self.quick if options.quick else self.full, self.full
        tasks = self._chosen("task", options.tasks, dict.fromkeys(base.tasks), dict.fromkeys(full.tasks))
        data_sets = self._chosen("data set", options.data_sets, base.data_sets, full.data_sets)
        entries = self._chosen("method", options.methods, base.entries, full.entries)
        seeds = base.seeds if options.seeds is None else options.seeds
        return replace(base, tasks=tuple(tasks), data_sets=data_sets, entries=entries, seeds=seeds)

    def _chosen(
        self, noun: str, names: tuple[str, ...] | None, ours: Mapping[str, Any], full: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Those of the names, ours if None; one that is not in the full protocol is a `BadInputError`."""
        unknown = [name for name in names or () if name not in full]
        if unknown:
            raise BadInputError(f"the experiment {self.name} has no {noun} {unknown[0]!r}; it has {', '.join(full)}")
        return dict(ours) if names is None else {name: {**full, **ours}[name] for name in names}

    @property
    def experiment(self) -> Experiment:
        """The same for the harness."""
        from experiments.method_comparison.tables import ComparisonTables  # which cells do not need

        return Experiment(
            self.name,
            self.title,
            self.summary,
            cells=lambda options: list(self.protocol(options).cells()),
            sections=lambda results: ComparisonTables(self, results).sections(),
            quick=self.quick_note,
            options=("tasks", "data_sets", "methods", "seeds"),
        )
