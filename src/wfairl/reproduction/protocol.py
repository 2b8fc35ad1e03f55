"""What is computed: a protocol is a list of cells, each of which is one training and its test."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from wfairl.errors import BadInputError
from wfairl.experiment import FIRST_TEST_SEED
from wfairl.reproduction.paper import DATA_SETS, METHODS, REFERENCES, TASKS


@dataclass(frozen=True)
class Cell:
    """One training, and its test.

    Attributes:
        task: the name of the task.
        data: D1 or D2; nothing for a reference policy, which learns nothing.
        method: what learns, or which reference policy.
        seed: of the collection and of the training.
        successes: demonstrations of the expert to learn from.
    """

    task: str
    data: str
    method: str
    seed: int
    successes: int

    @property
    def name(self) -> str:
        """What people call it."""
        if self.method in REFERENCES:
            return f"{self.task} {self.method}"
        return f"{self.task} {self.data} {self.method}, {self.successes} demonstrations, seed {self.seed}"


@dataclass(frozen=True)
class Protocol:
    """What to compute; the defaults are the paper's protocol with three training seeds.

    Attributes:
        tasks, data_sets, methods: what to combine.
        seeds: training seeds, each with demonstrations of its own.
        successes, failures: demonstrations in a data set.
        test_scenes: scenes to test on, from `FIRST_TEST_SEED` on.
        fewer: smaller numbers of successes, for the curve of return against demonstrations.
        fewer_methods: what to learn from fewer demonstrations.
        fewer_data: the data set of the curve.
        settings: for a method, what to set otherwise than its defaults.
    """

    tasks: tuple[str, ...] = tuple(TASKS)
    data_sets: tuple[str, ...] = tuple(DATA_SETS)
    methods: tuple[str, ...] = tuple(METHODS)
    seeds: int = 3
    successes: int = 32
    failures: int = 128
    test_scenes: int = 64
    fewer: tuple[int, ...] = (1, 2, 4, 8, 16)
    fewer_methods: tuple[str, ...] = ("wfa-irl", "bc")
    fewer_data: str = "D2"
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for what, given, known in (
            ("task", self.tasks, TASKS),
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
        for task in self.tasks:
            for data in self.data_sets:
                for method in self.methods:
                    for seed in range(self.seeds):
                        yield Cell(task, data, method, seed, self.successes)
        for task in self.tasks:
            for method in self.fewer_methods:
                if method in self.methods and self.fewer_data in self.data_sets:
                    for successes in self.fewer:
                        for seed in range(self.seeds):
                            yield Cell(task, self.fewer_data, method, seed, successes)

    def settings_of(self, method: str) -> dict[str, Any]:
        """What is set for a method otherwise than its defaults."""
        return dict(self.settings.get(method, {}))

    def key(self, cell: Cell) -> dict[str, Any]:
        """Everything that a cell's result follows from: another key means another result."""
        return {
            **asdict(cell),
            "failures": self.failures,
            "test_scenes": self.test_scenes,
            "settings": self.settings_of(cell.method),
        }


def digest(key: Mapping[str, Any]) -> str:
    """A short name for a key, another one for another key."""
    return hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:8]
