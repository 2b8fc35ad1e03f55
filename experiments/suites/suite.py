"""The contract of a suite: tasks x data sets x methods, what is measured, and published figures.

A suite is a value; `wfairl reproduce --suite NAME` computes it. Its protocol is a list of cells, each of which is one
training and its test.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import experiments.baselines  # noqa: F401 - registers the methods that suites compare with
from wfairl.core.costs.storage import find_cost_model
from wfairl.core.demonstrations.collection import FIRST_TEST_SEED
from wfairl.core.runs.methods import find_method
from wfairl.core.support.documents import Count
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.registry import Registry

if TYPE_CHECKING:
    from experiments.suites.data_suite import DataSuite

SUITES: "Registry[Suite | DataSuite]" = Registry(
    "suite",
    {
        "paper": "experiments.suites.paper:PAPER",
        "logic-and-cost": "experiments.suites.logic_and_cost:LOGIC_AND_COST",
        "labyrinth": "experiments.suites.labyrinth:LABYRINTH_SUITE",
        "borlange": "experiments.suites.borlange:BORLANGE_SUITE",
        "shanghai": "experiments.suites.shanghai:SHANGHAI_SUITE",
    },
)
"""Both kinds of suites; a new one is one more line."""

OPTIMAL = "optimal"

REFERENCES = (OPTIMAL, "expert", "random")
"""Policies that learn nothing, which every suite includes for comparison."""

Published = Callable[[str, str, str], float | None]
"""From an entry or a reference policy, a task and a data set (empty for a reference) to a published figure."""


@dataclass(frozen=True)
class DataSet:
    """How demonstrations are collected.

    Attributes:
        temperature: of the expert.
        failures: random walks beside the successes; the protocol's number if None.
    """

    temperature: float
    failures: int | None = None


@dataclass(frozen=True)
class Entry:
    """What is compared: a method and its settings.

    Attributes:
        method: the name of the method.
        title: in tables.
        learner: of the automaton, for a method that needs one.
        settings: those that differ from the method's defaults.
        variants: settings of variants by name. All are computed and shown; the one that does best on validation scenes
            represents the entry.
        data_sets: the only data sets that it learns from; all of the protocol if None.
        acts: the name of the only acting temperature that is tested, of those of its method; all of them if None.
        transferred: data sets for which it is tested on the suite's transfers too.
    """

    method: str
    title: str
    learner: str = "spectral"
    settings: Mapping[str, Any] = field(default_factory=dict)
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: {"": {}})
    data_sets: tuple[str, ...] | None = None
    acts: str | None = None
    transferred: tuple[str, ...] = ()

    def learns_from(self, data: str) -> bool:
        """Whether it learns from a data set."""
        return self.data_sets is None or data in self.data_sets


@dataclass(frozen=True)
class Cell:
    """One training, and its test.

    Attributes:
        task: the name of the task.
        data: the data set; empty for a reference policy.
        method: the name of the suite's entry, or of a reference policy.
        seed: of the collection and of the training.
        successes: demonstrations of the expert to learn from.
        variant: which of the entry's variants; empty for one without any.
    """

    task: str
    data: str
    method: str
    seed: int
    successes: int
    variant: str = ""

    @property
    def name(self) -> str:
        """For the display and messages."""
        if self.method in REFERENCES:
            return f"{self.task} {self.method}"
        variant = f" ({self.variant})" if self.variant else ""
        return f"{self.task} {self.data} {self.method}{variant}, {self.successes} demonstrations, seed {self.seed}"


@dataclass(frozen=True)
class Protocol:
    """What to compute of a suite.

    Attributes:
        suite: the name of the suite.
        tasks, data_sets, methods: what to combine; methods are entries of the suite.
        seeds: training seeds, each with demonstrations of its own.
        successes, failures: demonstrations in a data set.
        test_scenes: scenes to test on, from `FIRST_TEST_SEED` on.
        fewer: smaller numbers of successes, for the curve of return against demonstrations.
        fewer_tasks, fewer_methods, fewer_data: what the curve shows.
        settings: for an entry, settings that differ from the suite's.
    """

    suite: str
    tasks: tuple[str, ...]
    data_sets: tuple[str, ...]
    methods: tuple[str, ...]
    seeds: Count = 3
    successes: Count = 32
    failures: Count = 128
    test_scenes: Count = 64
    fewer: tuple[Count, ...] = ()
    fewer_tasks: tuple[str, ...] = ()
    fewer_methods: tuple[str, ...] = ()
    fewer_data: str = ""
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def test_seeds(self) -> range:
        """The scenes to test on."""
        return range(FIRST_TEST_SEED, FIRST_TEST_SEED + self.test_scenes)


def _nothing(*_: str) -> None:
    """No figure was published."""


@dataclass(frozen=True)
class Suite:
    """Tasks x data sets x methods.

    Attributes:
        name: on the command line.
        title: of its page.
        summary: one line about it.
        tasks: the names of its tasks.
        data_sets: by name.
        entries: what is compared, by name.
        full: the whole protocol.
        quick: a protocol that takes minutes.
        source: of the published figures, such as "the paper"; empty if there are none.
        published: the figures.
        published_automaton: rank, rows and cols by task and data set; None where nothing was published.
        metrics: in place of the return in tables: names of `metrics.METRICS`.
        automaton_metrics: likewise for the table of learned rules.
        transfers: for a task, other tasks on which its policies are tested too.
        played: tasks whose episodes the page plays; all if None.
    """

    name: str
    title: str
    summary: str
    tasks: tuple[str, ...]
    data_sets: Mapping[str, DataSet]
    entries: Mapping[str, Entry]
    full: Protocol
    quick: Protocol
    source: str = ""
    published: Published = _nothing
    published_automaton: Callable[[str, str], tuple[int, int, int] | None] = _nothing
    metrics: tuple[str, ...] = ()
    automaton_metrics: tuple[str, ...] = ()
    transfers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    played: tuple[str, ...] | None = None

    def tested_tasks(self, protocol: Protocol) -> tuple[str, ...]:
        """All tasks that policies are tested on: those of the protocol, and their transfers."""
        return tuple(dict.fromkeys(one for task in protocol.tasks for one in (task, *self.transfers.get(task, ()))))

    def transfers_of(self, cell: Cell, protocol: Protocol) -> tuple[str, ...]:
        """The other tasks that a cell of the tables is tested on."""
        if cell.method in REFERENCES or cell.successes != protocol.successes:
            return ()
        return self.transfers.get(cell.task, ()) if cell.data in self.entries[cell.method].transferred else ()

    def check(self, protocol: Protocol) -> Protocol:
        """Refuse a protocol with tasks, data sets or entries that the suite lacks.

        Raises:
            BadInputError: names the first, and what there is.
        """
        for noun, names, ours in (
            ("task", (*protocol.tasks, *protocol.fewer_tasks), self.tasks),
            ("data set", protocol.data_sets, tuple(self.data_sets)),
            ("method", (*protocol.methods, *protocol.fewer_methods), tuple(self.entries)),
        ):
            unknown = [name for name in names if name not in ours]
            if unknown:
                raise BadInputError(f"the suite {self.name} has no {noun} {unknown[0]!r}; it has {', '.join(ours)}")
        return protocol

    def cells(self, protocol: Protocol) -> Iterator[Cell]:
        """All cells: reference policies, then those of the tables, then those of the curve that are not among them."""
        seeds = range(protocol.seeds)
        for task, method in product(self.tested_tasks(protocol), REFERENCES):
            yield Cell(task, "", method, 0, 0)
        for task, data, method, seed in product(protocol.tasks, protocol.data_sets, protocol.methods, seeds):
            if self.entries[method].learns_from(data):
                for variant in self.entries[method].variants:
                    yield Cell(task, data, method, seed, protocol.successes, variant)
        if protocol.fewer_data in protocol.data_sets:
            methods = [method for method in protocol.fewer_methods if method in protocol.methods]
            tasks = [task for task in protocol.fewer_tasks if task in protocol.tasks]
            for task, method, successes, seed in product(tasks, methods, protocol.fewer, seeds):
                variant = next(iter(self.entries[method].variants))
                yield Cell(task, protocol.fewer_data, method, seed, successes, variant)

    def settings_of(self, cell: Cell, protocol: Protocol) -> dict[str, Any]:
        """All settings of the training of a cell, including the method's defaults."""
        if cell.method in REFERENCES:
            return {}
        entry = self.entries[cell.method]
        defaults = find_method(entry.method).default_settings()
        seed = {"seed": cell.seed} if "seed" in defaults else {}  # a method without randomness has none
        changed = {**entry.settings, **protocol.settings.get(cell.method, {}), **entry.variants[cell.variant], **seed}
        chosen = {**{name: value for name, value in defaults.items() if value is not None}, **changed}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in chosen.items()}

    def failures_of(self, data: str, protocol: Protocol) -> int:
        """The number of failed demonstrations in a data set."""
        failures = self.data_sets[data].failures
        return protocol.failures if failures is None else failures

    def key(self, cell: Cell, protocol: Protocol) -> dict[str, Any]:
        """Everything that a cell's result follows from: another key means another result."""
        learned = cell.method not in REFERENCES
        return {
            **asdict(cell),
            "learner": self.entries[cell.method].learner if learned else "",
            "failures": self.failures_of(cell.data, protocol) if learned else 0,
            "test_scenes": protocol.test_scenes,
            "settings": self.settings_of(cell, protocol),
            "transfers": list(self.transfers_of(cell, protocol)),
            "version": RESULT_VERSION,
        }


DIGITS = 8
"""Of a digest."""

RESULT_VERSION = 3
"""A result of another version is computed again."""


def digest(key: Mapping[str, Any]) -> str:
    """A short name for a key."""
    return hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:DIGITS]


def find_suite(name: str) -> Suite:
    """The suite of experiments of a name; an unknown name is a `BadInputError`."""
    suite = SUITES.find(name)
    if not isinstance(suite, Suite):
        raise BadInputError(f"the suite {name} measures on recorded data, and has no experiments")
    return suite


def register_suite(suite: Suite) -> Suite:
    """Register a suite of your own, in a file that `--tasks` names or in the program that runs it.

    Raises:
        BadInputError: the name is taken, a metric is unknown, or a protocol has what the suite lacks.
    """
    from experiments.suites.metrics import METRICS  # with all that evaluates, which a list of the suites does not need

    for metric in (*suite.metrics, *suite.automaton_metrics):
        METRICS.find(metric)
    for protocol in (suite.full, suite.quick):
        suite.check(protocol)
    SUITES.register(suite.name, suite)
    return suite


def narrowed(
    suite: Suite,
    protocol: Protocol,
    *,
    tasks: tuple[str, ...] | None = None,
    data_sets: tuple[str, ...] | None = None,
    methods: tuple[str, ...] | None = None,
    seeds: int | None = None,
    cost: str | None = None,
) -> Protocol:
    """The same protocol with less in it, or with another cost model for the methods that learn a cost."""
    chosen = {"tasks": tasks, "data_sets": data_sets, "methods": methods, "seeds": seeds}
    changes: dict[str, Any] = {name: value for name, value in chosen.items() if value is not None}
    if cost is not None:
        find_cost_model(cost)  # an unknown one is refused now rather than in every cell
        learners = {
            name: {**protocol.settings.get(name, {}), "cost": cost}
            for name, entry in suite.entries.items()
            if find_method(entry.method).learns_cost
        }
        changes["settings"] = {**protocol.settings, **learners}
    return suite.check(replace(protocol, **changes))
