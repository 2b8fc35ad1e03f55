"""Answers of a person to the question whether a path through a scene "would have been right".

    {"seed": 7, "controls": [0, 0, 3], "labels": [[], ["coffee"], ["office"]], "right": true}

An answer that counts for several, as those of corrections do, also has a "weight". The answer to "which would you
rather?" is that one path would have been right, and better "than" another one, given by its controls.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from annotated_types import Ge, Gt, Lt

from wfairl.core.automata.automaton import Label
from wfairl.core.support.bounds import Seed
from wfairl.core.support.documents import parse
from wfairl.core.support.errors import BadInputError


class BrokenAnswersError(BadInputError):
    """A document is not an answer."""


@dataclass(frozen=True)
class Answer:
    """Whether a path fulfils the task, by a person's answer."""

    seed: int  # the scene
    controls: tuple[int, ...]  # u_0, ..., u_{T-1}, indices into the world's controls; at least one
    labels: tuple[Label, ...]  # sigma_0, ..., sigma_{T-1}, what held after each transition
    is_right: bool  # whether the task is fulfilled by the end of the path
    weight: float = 1.0  # how many answers it counts for
    # controls of another path through the same scene that the person likes less; empty without one
    than: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not self.controls or len(self.controls) != len(self.labels):
            raise BrokenAnswersError(f"{len(self.controls)} controls and {len(self.labels)} labels in an answer")

    def to_document(self) -> dict[str, Any]:
        """The answer as a JSON object."""
        return {
            "seed": self.seed,
            "controls": list(self.controls),
            "labels": [sorted(label) for label in self.labels],
            "right": self.is_right,
            **({} if self.weight == 1 else {"weight": self.weight}),
            **({"than": list(self.than)} if self.than else {}),
        }

    @classmethod
    def from_document(cls, document: Any) -> "Answer":
        """Read what `to_document` gave, or raise a `BrokenAnswersError`."""
        try:
            read: _Stored = parse(_Stored, document)
        except BadInputError as error:
            raise BrokenAnswersError(f"not an answer ({error})") from None
        return cls(read.seed, read.controls, read.labels, read.right, read.weight, read.than)


@dataclass(frozen=True)
class _Stored:
    """An answer on disk."""

    seed: Seed
    controls: tuple[Annotated[int, Ge(0), Lt(2**16)], ...]
    labels: tuple[Label, ...]
    right: bool
    weight: Annotated[float, Gt(0)] = 1.0
    than: tuple[Annotated[int, Ge(0), Lt(2**16)], ...] = ()
