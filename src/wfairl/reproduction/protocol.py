"""What is computed: a protocol is a list of cells, each of which is one training and its test."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from typing import Any

from wfairl.errors import BadInputError
from wfairl.experiment import FIRST_TEST_SEED
from wfairl.learning.run_directory import PLANNERS
from wfairl.learning.storage import find_cost_model
from wfairl.methods import find_method
from wfairl.reproduction.paper import DATA_SETS, METHODS, REFERENCES, TASKS

VARIANTS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "gail": {"log D": {"rewards": ["log-d"]}, "-log(1 - D)": {"rewards": ["minus-log-1-d"]}},
}
"""Ways to train a method, by their settings. All are computed and shown; the one that does best on scenes for
validation stands for the method."""


@dataclass(frozen=True)
class Cell:
    """One training, and its test.

    Attributes:
        task: the name of the task.
        data: D1 or D2; nothing for a reference policy, which learns nothing.
        method: what learns, or which reference policy.
        seed: of the collection and of the training.
        successes: demonstrations of the expert to learn from.
        variant: which of the method's `VARIANTS`; nothing for a method without any.
    """

    task: str
    data: str
    method: str
    seed: int
    successes: int
    variant: str = ""

    @property
    def name(self) -> str:
        """What people call it."""
        if self.method in REFERENCES:
            return f"{self.task} {self.method}"
        variant = f" ({self.variant})" if self.variant else ""
        return f"{self.task} {self.data} {self.method}{variant}, {self.successes} demonstrations, seed {self.seed}"


@dataclass(frozen=True)
class Protocol:
    """What to compute; the defaults are the paper's protocol with three training seeds.

    Attributes:
        tasks, data_sets, methods: what to combine.
        seeds: training seeds, each with demonstrations of its own.
        successes, failures: demonstrations in a data set.
        test_scenes: scenes to test on, from `FIRST_TEST_SEED` on.
        fewer: smaller numbers of successes, for the curve of return against demonstrations.
        fewer_tasks, fewer_methods, fewer_data: what the curve is of.
        settings: for a method, what to set otherwise than its defaults.
    """

    tasks: tuple[str, ...] = tuple(TASKS)
    data_sets: tuple[str, ...] = tuple(DATA_SETS)
    methods: tuple[str, ...] = tuple(METHODS)
    seeds: int = 3
    successes: int = 32
    failures: int = 128
    test_scenes: int = 64
    fewer: tuple[int, ...] = (2, 4, 8, 16)
    fewer_tasks: tuple[str, ...] = ("doorkey",)
    fewer_methods: tuple[str, ...] = ("wfa-irl", "bc")
    fewer_data: str = "D2"
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for what, given, known in (
            ("task", (*self.tasks, *self.fewer_tasks), TASKS),
            ("data set", self.data_sets, DATA_SETS),
            ("method", (*self.methods, *self.fewer_methods), METHODS),
        ):
            unknown = [name for name in given if name not in known]
            if unknown:
                raise BadInputError(f"the paper has no {what} {unknown[0]!r}; it has {', '.join(known)}")

    @property
    def test_seeds(self) -> range:
        """The scenes to test on."""
        return range(FIRST_TEST_SEED, FIRST_TEST_SEED + self.test_scenes)

    def cells(self) -> Iterator[Cell]:
        """All cells: reference policies, then those of the tables, then those of the curve that are not among them."""
        for task in self.tasks:
            for method in REFERENCES:
                yield Cell(task, "", method, 0, 0)
        for task, data, method, seed in product(self.tasks, self.data_sets, self.methods, range(self.seeds)):
            for variant in VARIANTS.get(method, {"": {}}):
                yield Cell(task, data, method, seed, self.successes, variant)
        if self.fewer_data in self.data_sets:
            methods = [method for method in self.fewer_methods if method in self.methods]
            tasks = [task for task in self.fewer_tasks if task in self.tasks]
            for task, method, successes, seed in product(tasks, methods, self.fewer, range(self.seeds)):
                variant = next(iter(VARIANTS.get(method, {"": {}})))
                yield Cell(task, self.fewer_data, method, seed, successes, variant)

    def settings_of(self, cell: Cell) -> dict[str, Any]:
        """All settings of the training of a cell, those that are left at the method's defaults too."""
        if cell.method in REFERENCES:
            return {}
        defaults = {name: value for name, value in find_method(cell.method).settings().items() if value is not None}
        variant = VARIANTS.get(cell.method, {}).get(cell.variant, {})
        chosen = {**defaults, **self.settings.get(cell.method, {}), **variant, "seed": cell.seed}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in chosen.items()}

    def key(self, cell: Cell) -> dict[str, Any]:
        """Everything that a cell's result follows from: another key means another result."""
        return {
            **asdict(cell),
            "failures": self.failures,
            "test_scenes": self.test_scenes,
            "settings": self.settings_of(cell),
        }


DIGITS = 8
"""Of a digest."""


def digest(key: Mapping[str, Any]) -> str:
    """A short name for a key, another one for another key."""
    return hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:DIGITS]


def narrowed(
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
        find_cost_model(cost)  # refused now rather than in every cell
        learners = {method: {**protocol.settings.get(method, {}), "cost": cost} for method in PLANNERS}
        changes["settings"] = {**protocol.settings, **learners}
    return replace(protocol, **changes)
