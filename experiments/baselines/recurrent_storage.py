"""A recurrent network of words in one safetensors file: weights, with the labels in the header. It runs no code."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
from annotated_types import Ge
from numpy.typing import NDArray

from experiments.baselines.recurrent import CROSS_ENTROPY, SQUARED, RecurrentLearner, RecurrentNetwork
from wfairl.core.automata.automaton import Label
from wfairl.core.automata.words import Word, as_read
from wfairl.core.support.documents import parse
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.safetensors_files import read_arrays, write_arrays

FORMAT = "wfairl-recurrent"
VERSION = 1


class BrokenNetworkError(BadInputError):
    """A file is not a network of words, or it is truncated or changed."""


@dataclass(frozen=True)
class _Header:
    """The header of a file."""

    alphabet: tuple[Label, ...]
    embedding: Annotated[int, Ge(1)]
    hidden: Annotated[int, Ge(1)]
    loss: str
    threshold: float
    keep_repeats: bool


@dataclass(frozen=True, eq=False)
class WordNetwork:
    """A network, and how it reads and accepts words.

    Attributes:
        learner: the network.
        threshold: words with this value or more are accepted.
        keep_repeats: whether a repeated label is read again.
    """

    learner: RecurrentLearner
    threshold: float
    keep_repeats: bool

    def values(self, words: list[Word]) -> NDArray[np.float64]:
        """The value of each word, shape [words]."""
        return self.learner.predict(as_read(words, self.keep_repeats))

    def save(self, path: Path) -> None:
        """Write the network, atomically."""
        learner = self.learner
        header = {
            "alphabet": [sorted(label) for label in learner.alphabet_],
            "embedding": learner.embedding,
            "hidden": learner.hidden,
            "loss": learner.loss_,
            "threshold": self.threshold,
            "keep_repeats": self.keep_repeats,
        }
        arrays = {name: tensor.detach().numpy() for name, tensor in learner.network_.state_dict().items()}
        write_arrays(path, FORMAT, VERSION, header, arrays)

    @classmethod
    def load(cls, path: Path) -> "WordNetwork":
        """Read a network.

        Raises:
            BrokenNetworkError: names the file and what is wrong with it.
        """
        header, arrays = read_arrays(path, FORMAT, VERSION, BrokenNetworkError)
        try:
            read: _Header = parse(_Header, header)
            learner = RecurrentLearner(hidden=read.hidden, embedding=read.embedding)
            learner.alphabet_, learner.loss_ = read.alphabet, read.loss
            if read.loss not in (CROSS_ENTROPY, SQUARED):
                raise ValueError(f"unknown loss {read.loss}")
            if arrays["initial"].shape != (read.hidden,) or max(map(np.size, arrays.values())) < read.embedding:
                raise ValueError("its weights do not have the sizes in its header")
            if not all(np.isfinite(array).all() for array in arrays.values()):
                raise ValueError("its weights are not finite")
            rng = np.random.default_rng(0)  # of initial weights, which are replaced
            learner.network_ = RecurrentNetwork(len(learner.alphabet_), learner.embedding, learner.hidden, rng)
            learner.network_.load_state_dict({name: torch.from_numpy(array) for name, array in arrays.items()})
            return cls(learner, read.threshold, read.keep_repeats)
        except (KeyError, ValueError, RuntimeError) as error:
            reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            raise BrokenNetworkError(f"{path}: a broken network of words ({reason}); learn it again") from None
