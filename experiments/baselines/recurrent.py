"""A gated recurrent network of words, the paper's alternative to an automaton (section III-A, Fig. 2).

    alpha_{t+1} = g_1(sigma_t, alpha_t, W)    a gated recurrent unit on an embedding of the label
    h(sigma_0 .. sigma_T) = g_2(alpha_{T+1}, beta)    affine, with a sigmoid if scores lie in [0, 1]

The initial state alpha_0 is learned, too. A batch of words is the tree of their prefixes, whose nodes are evaluated one
depth at a time: a shared prefix is read once, words of different lengths need no padding, and equal words are one node
with the weight of all of them.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from wfairl.core.automata.word_corpus import Corpus, PrefixTree, build_prefix_tree, encode
from wfairl.core.automata.words import BadWordsError, Word
from wfairl.core.costs.adam import Adam
from wfairl.core.costs.checkpoint import Checkpoint, EpochMetrics
from wfairl.core.costs.epochs import DivergedError, one_torch_thread, run_epochs
from wfairl.core.spectral.spectral_learner import WordScores, check_words
from wfairl.core.support.errors import BadInputError

Track = Callable[[Iterable[Any], str, int], Iterable[Any]]
"""Wraps an iteration in a progress bar, such as `wfairl.core.support.progress.track`."""

CROSS_ENTROPY, SQUARED = "cross-entropy", "squared"

PREDICTED_AT_ONCE = 65_536
"""Words evaluated in one tree, which bounds the memory."""


class RecurrentLearner(RegressorMixin, BaseEstimator):
    """Learns a recurrent network from scored words, a scikit-learn estimator.

    A first training holds out some words; the epoch with the lowest loss on them is the number of epochs of a second
    training on all words. With too few words to hold any out, training stops when the loss is `enough`.

    Args:
        hidden: size of a state alpha.
        embedding: size of the embedding of a label.
        learning_rate: of Adam.
        weight_decay: of Adam.
        max_epochs: largest number of passes over the words.
        patience: stop after this many epochs without a lower held-out loss.
        enough: stop when the training loss is this low.
        held_out: fraction of the words, of successes and of failures, that choose the number of epochs.
        loss: `cross-entropy`, or `squared` as in eq. (2); None takes the former if all scores lie in [0, 1].
        prefixes_fail: proper prefixes that are not among the words count as words of score 0: an execution that ended
            in success had not succeeded before. (A spectral automaton assumes this of all unseen words.)
        batch_size: words per Adam step.
        seed: of the initial weights, the held-out words and the order of the batches.

    Attributes:
        network_: the `RecurrentNetwork`.
        alphabet_: its labels.
        loss_: the loss that was used.
        epochs_: number of passes over all words.
        choice_: the `EpochMetrics` of each pass of the first training; empty if no words were held out.
        history_: those of each pass over all words.
        held_out_: indices of the held-out words.
        held_out_predictions_: their values in the first training, at the chosen epoch.
    """

    def __init__(
        self,
        hidden: int = 32,
        embedding: int = 16,
        learning_rate: float = 1e-2,
        weight_decay: float = 1e-4,
        max_epochs: int = 1_000,
        patience: int = 100,
        enough: float = 1e-3,
        held_out: float = 0.2,
        loss: str | None = None,
        prefixes_fail: bool = True,
        batch_size: int = 1_024,
        seed: int = 0,
    ) -> None:
        self.hidden = hidden
        self.embedding = embedding
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.max_epochs = max_epochs
        self.patience = patience
        self.enough = enough
        self.held_out = held_out
        self.loss = loss
        self.prefixes_fail = prefixes_fail
        self.batch_size = batch_size
        self.seed = seed

    @one_torch_thread()
    def fit(self, words: Sequence[Word], scores: WordScores, track: Track | None = None) -> "RecurrentLearner":
        """Train the network; `track` shows progress.

        Raises:
            BadWordsError: no words, scores that do not fit or are not finite, nothing but zeros.
            DivergedError: the loss is no longer a finite number.
        """
        self._check_settings()
        if scores is None:
            raise BadWordsError("a recurrent network needs scored words; give a score for each word")
        corpus, self.alphabet_ = check_words(words, scores)
        self.loss_ = self._choose_loss(corpus.weights)
        self.held_out_ = split(corpus.weights, self.held_out, np.random.default_rng([self.seed, _SPLIT]))
        self.choice_: list[EpochMetrics] = []
        self.held_out_predictions_ = np.zeros(0)
        training_words = TrainingWords.of(corpus, self.prefixes_fail)
        epochs = self._choose_epochs(training_words, track) if len(self.held_out_) else self.max_epochs
        self.network_, trained = self._train(training_words.whole, None, epochs, track, "training")
        self.epochs_, self.history_ = trained.epoch, list(trained.history[1:])
        return self

    def predict(self, words: Sequence[Word]) -> NDArray[np.float64]:
        """The value of each word, shape [words]; zero for a word with an unknown label."""
        check_is_fitted(self, "network_")
        alphabet = set(self.alphabet_)
        is_known = np.array([alphabet.issuperset(word) for word in words], bool)
        known_words = [word if known else () for word, known in zip(words, is_known, strict=True)]
        return np.where(is_known, self.values_of_corpus(encode(known_words, self.alphabet_)), 0.0)

    @one_torch_thread()
    def values_of_corpus(self, corpus: Corpus) -> NDArray[np.float64]:
        """The value of each word of a corpus in the symbols of `alphabet_`, shape [words]."""
        check_is_fitted(self, "network_")
        places = np.arange(len(corpus))
        parts = [places[first : first + PREDICTED_AT_ONCE] for first in range(0, len(corpus), PREDICTED_AT_ONCE)]
        return np.concatenate([np.zeros(0), *(self._values(self.network_, _part(corpus, part)) for part in parts)])

    def score(self, words: Sequence[Word], scores: WordScores) -> float:
        """Minus the loss of eq. (2); higher is better, as scikit-learn has it."""
        return -float(np.mean((self.predict(words) - np.asarray(scores, np.float64)) ** 2))

    def _choose_epochs(self, training_words: "TrainingWords", track: Track | None) -> int:
        """The number of epochs with the lowest loss on held-out words."""
        training, held_out = training_words.split(self.held_out_)
        network, trained = self._train(training, held_out, self.max_epochs, track, "choosing the epochs")
        self.choice_ = list(trained.history[1:])
        self.held_out_predictions_ = self._values(network, _part(training_words.words, self.held_out_))
        return trained.best_epoch

    def _train(
        self, corpus: Corpus, held_out: Corpus | None, max_epochs: int, track: Track | None, description: str
    ) -> "tuple[RecurrentNetwork, Checkpoint]":
        """Train a network, and return it as of the best epoch for the held-out words, or of the last without any."""
        rng = np.random.default_rng([self.seed, _TRAINING])
        network = RecurrentNetwork(len(self.alphabet_), self.embedding, self.hidden, rng)
        adam = Adam(network, self.weight_decay)
        batches = deal_batches(corpus, self.batch_size, rng)
        held_out_batch = Batch.of(held_out) if held_out is not None else None

        def run_epoch(epoch: int) -> EpochMetrics:
            if epoch == 0:  # the initial network is not measured, and so it is never the best
                return EpochMetrics(0, 0.0, math.inf, None)
            total = 0.0
            for i in rng.permutation(len(batches)):
                total += self._step(network, adam, batches[i]) * batches[i].total
            with torch.no_grad():
                held_out_loss = None if held_out_batch is None else float(self._loss(network, held_out_batch))
            return EpochMetrics(epoch, self.learning_rate, total / sum(one.total for one in batches), held_out_loss)

        checkpoints = run_epochs(network, adam, run_epoch, max_epochs, self.patience)
        for checkpoint in track(checkpoints, description, max_epochs + 1) if track else checkpoints:
            if checkpoint.history[-1].train_loss <= self.enough:
                break
        network.load_state_dict(checkpoint.best)
        return network, checkpoint

    def _step(self, network: "RecurrentNetwork", adam: Adam, batch: "Batch") -> float:
        loss = self._loss(network, batch)
        if not torch.isfinite(loss):
            raise DivergedError(
                f"the loss is {loss.item()} after {adam.steps} steps; lower the learning rate ({self.learning_rate:g})"
            )
        gradients = adam.gradients(loss)
        norm = torch.sqrt(torch.stack([gradient.square().sum() for gradient in gradients.values()]).sum())
        scale = torch.clamp(LARGEST_GRADIENT / norm, max=1.0)
        adam.step({name: gradient * scale for name, gradient in gradients.items()}, self.learning_rate)
        return float(loss.detach())

    def _loss(self, network: "RecurrentNetwork", batch: "Batch") -> Tensor:
        """L = sum_n w_n l(h(sigma^n), s^n) / sum_n w_n, over the distinct words."""
        outputs = network(batch.tree)[batch.nodes]
        if self.loss_ == CROSS_ENTROPY:
            losses = nn.functional.binary_cross_entropy_with_logits(outputs, batch.scores, reduction="none")
        else:
            losses = (outputs - batch.scores) ** 2
        return (losses * batch.weights).sum() / batch.total

    def _values(self, network: "RecurrentNetwork", corpus: Corpus) -> NDArray[np.float64]:
        tree = build_prefix_tree(corpus)
        with torch.no_grad():
            outputs = network(tree)
            values = torch.sigmoid(outputs) if self.loss_ == CROSS_ENTROPY else outputs
        return values.numpy()[tree.ends].astype(np.float64)

    def _choose_loss(self, scores: NDArray[np.float64]) -> str:
        between = bool(((scores >= 0) & (scores <= 1)).all())
        if self.loss == CROSS_ENTROPY and not between:
            raise BadWordsError("cross-entropy needs scores between 0 and 1; use the squared loss")
        return self.loss or (CROSS_ENTROPY if between else SQUARED)

    def _check_settings(self) -> None:
        if self.loss not in (None, CROSS_ENTROPY, SQUARED):
            raise BadInputError(f"loss is {self.loss!r}; it must be {CROSS_ENTROPY}, {SQUARED} or None")
        for name in ("hidden", "embedding", "max_epochs", "patience", "batch_size"):
            if getattr(self, name) < 1:
                raise BadInputError(f"{name} is {getattr(self, name)}; give at least 1")
        if not 0 <= self.held_out < 1:
            raise BadInputError(f"held_out is {self.held_out:g}; it is a share of the words, at least 0 and below 1")
        if not self.learning_rate > 0:
            raise BadInputError(f"learning_rate is {self.learning_rate:g}; it must be above 0")
        if self.seed < 0:
            raise BadInputError(f"seed is {self.seed}; it must not be negative")

    def __sklearn_tags__(self) -> Any:
        """Words are sequences of labels, not rows of a matrix."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags


LARGEST_GRADIENT = 1.0
"""The norm to which longer gradients are clipped: they can explode over the many steps of long words."""

_SPLIT, _TRAINING = 0, 1
"""The random streams of a seed."""


class RecurrentNetwork(nn.Module):
    """The network; its parameters are alpha_0, W (embedding and unit) and beta."""

    def __init__(self, labels: int, embedding: int, hidden: int, rng: np.random.Generator) -> None:
        super().__init__()
        bound = 1 / math.sqrt(hidden)

        def uniform(*shape: int) -> nn.Parameter:
            return nn.Parameter(torch.from_numpy(rng.uniform(-bound, bound, shape)).float())

        self.initial = uniform(hidden)
        self.embedding = nn.Parameter(torch.from_numpy(rng.normal(size=(labels, embedding))).float())
        self.input_weights, self.input_bias = uniform(3 * hidden, embedding), uniform(3 * hidden)
        self.state_weights, self.state_bias = uniform(3 * hidden, hidden), uniform(3 * hidden)
        self.final, self.final_bias = uniform(hidden), uniform(1)

    def forward(self, tree: PrefixTree) -> Tensor:
        """The output g_2 for each prefix of a tree, before the sigmoid; shape [nodes]."""
        levels = [self.initial[None, :]]
        for depth in range(1, len(tree.levels) - 1):
            here = slice(tree.levels[depth], tree.levels[depth + 1])
            above = torch.from_numpy(tree.parents[here] - tree.levels[depth - 1])
            levels.append(self.read(levels[-1][above], torch.from_numpy(tree.symbols[here])))
        return torch.cat(levels) @ self.final + self.final_bias

    def read(self, states: Tensor, symbols: Tensor) -> Tensor:
        """g_1: read one label in each of n states; shapes [n, hidden] and [n] to [n, hidden]."""
        weights = self.input_weights, self.state_weights, self.input_bias, self.state_bias
        return torch.gru_cell(self.embedding[symbols], states, *weights)


@dataclass(frozen=True, eq=False)
class TrainingWords:
    """The words to learn from, and their proper prefixes that count as words of score 0.

    Attributes:
        words: the given words; their weights are their scores.
        whole: the words followed by the prefixes, one for each word that begins so.
        owners: the word to which each of `whole` belongs, shape [len(whole)].
    """

    words: Corpus
    whole: Corpus
    owners: NDArray[np.int64]

    @classmethod
    def of(cls, words: Corpus, prefixes_fail: bool) -> "TrainingWords":
        """The words and, if `prefixes_fail`, their prefixes that are not among the words."""
        if not prefixes_fail:
            return cls(words, words, np.arange(len(words)))
        tree = build_prefix_tree(words)
        is_word = np.zeros(len(tree), bool)
        is_word[tree.ends] = True
        added = np.flatnonzero(~is_word[tree.visits])
        owners = np.append(np.arange(len(words)), np.repeat(np.arange(len(words)), words.lengths + 1)[added])
        lengths = np.append(words.lengths, tree.depths[tree.visits[added]])
        scores = np.append(words.weights, np.zeros(len(added)))
        return cls(words, words.factors(owners, np.zeros_like(owners), lengths, scores), owners)

    def split(self, held_out: NDArray[np.int64]) -> tuple[Corpus, Corpus]:
        """The part that belongs to the training words, and the part that belongs to the held-out words."""
        is_held_out = np.isin(self.owners, held_out)
        return _part(self.whole, np.flatnonzero(~is_held_out)), _part(self.whole, np.flatnonzero(is_held_out))


@dataclass(frozen=True, eq=False)
class Batch:
    """The words of one Adam step.

    Attributes:
        tree: their prefixes.
        nodes: the nodes with a score, shape [scored].
        scores: mean score of each, shape [scored].
        weights: the number of words at each, shape [scored].
        total: the sum of the weights.
    """

    tree: PrefixTree
    nodes: Tensor
    scores: Tensor
    weights: Tensor
    total: float

    @classmethod
    def of(cls, corpus: Corpus) -> "Batch":
        """The batch of all words of a corpus, whose weights are their scores."""
        tree = build_prefix_tree(corpus)
        counts = np.bincount(tree.ends, minlength=len(tree))
        sums = np.bincount(tree.ends, corpus.weights, len(tree))
        nodes = np.flatnonzero(counts)
        return cls(
            tree,
            torch.from_numpy(nodes),
            torch.from_numpy(sums[nodes] / counts[nodes]).float(),
            torch.from_numpy(counts[nodes]).float(),
            float(counts.sum()),
        )


def deal_batches(corpus: Corpus, batch_size: int, rng: np.random.Generator) -> list[Batch]:
    """Divide the words into batches of about equal size, with equal words in the same batch."""
    tree = build_prefix_tree(corpus)
    words, word_of = np.unique(tree.ends, return_inverse=True)
    count = math.ceil(len(words) / batch_size)
    batch_of = rng.permutation(len(words))[word_of] % count
    return [Batch.of(_part(corpus, np.flatnonzero(batch_of == i))) for i in range(count)]


def split(scores: NDArray[np.float64], share: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Sorted indices of the words to hold out: a share of those with score 0 and of the others, but never all of them.

    Fewer than two words are too few to choose by: then none is held out.
    """
    order = rng.permutation(len(scores))
    groups = [order[scores[order] == 0], order[scores[order] != 0]]
    chosen = [group[: min(round(share * len(group)), len(group) - 1)] for group in groups if len(group)]
    held_out = np.sort(np.concatenate(chosen))
    return held_out if len(held_out) >= 2 else held_out[:0]


def _part(corpus: Corpus, indices: NDArray[np.int64]) -> Corpus:
    return corpus.take(indices, corpus.weights[indices])
