"""A gated recurrent network of words, the paper's alternative to an automaton (section III-A, Fig. 2).

    alpha_{t+1} = g_1(sigma_t, alpha_t, W)    a gated recurrent unit on an embedding of the label
    h(sigma_0 .. sigma_T) = g_2(alpha_{T+1}, beta)    affine, and then a sigmoid

The initial state alpha_0 is learned, too; the loss is the cross-entropy of the scores. A batch of words is the tree of
their prefixes, whose nodes are evaluated one depth at a time: a shared prefix is read once, words of different lengths
need no padding, and equal words are one node with the weight of all of them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.word_corpus import Corpus, PrefixTree, build_prefix_tree, encode
from wfairl.core.automata.words import BadWordsError, Word
from wfairl.core.costs.adam import Adam
from wfairl.core.costs.checkpoint import Checkpoint, EpochMetrics
from wfairl.core.costs.epochs import DivergedError, one_torch_thread, run_epochs
from wfairl.core.spectral.spectral_learner import check_words
from wfairl.core.support.bounds import AtLeastOne, Fraction, Positive, Seed, check_bounds

WEIGHT_DECAY = 1e-4
PATIENCE = 100
"""Epochs without a lower held-out loss after which training stops."""

SUFFICIENT_LOSS = 1e-3
"""The training loss at which training stops."""

LARGEST_GRADIENT = 1.0
"""The norm to which longer gradients are clipped: they can explode over the many steps of long words."""

_SPLIT, _TRAINING = 0, 1
"""The random streams of a seed."""


@dataclass(frozen=True)
class RecurrentLearner:
    """Learns a recurrent network from scored words.

    Proper prefixes that are not among the words count as words of score 0: an execution that ended in success had not
    succeeded before. (A spectral automaton assumes this of all unseen words.) A first training holds out some words;
    the epoch with the lowest loss on them is the number of epochs of a second training on all words. With too few words
    to hold any out, training stops at `SUFFICIENT_LOSS`.

    Attributes:
        hidden: size of a state alpha.
        embedding: size of the embedding of a label.
        learning_rate: of Adam.
        max_epochs: largest number of passes over the words.
        held_out: fraction of the words, of successes and of failures, that choose the number of epochs.
        seed: of the initial weights and the held-out words.
    """

    hidden: AtLeastOne = 32
    embedding: AtLeastOne = 16
    learning_rate: Positive = 1e-2
    max_epochs: AtLeastOne = 1_000
    held_out: Fraction = 0.2
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_bounds(self)

    @one_torch_thread()
    def fit(self, words: Sequence[Word], scores: Sequence[float]) -> "WordNetwork":
        """Train a network.

        Raises:
            BadWordsError: no words, scores that do not fit or are not between 0 and 1, nothing but zeros.
            DivergedError: the loss is no longer a finite number.
        """
        corpus, alphabet = check_words(words, scores)
        if corpus.weights.min() < 0 or corpus.weights.max() > 1:
            raise BadWordsError("a recurrent network needs scores between 0 and 1")
        held_out = split(corpus.weights, self.held_out, np.random.default_rng([self.seed, _SPLIT]))
        training_words = TrainingWords.of(corpus)
        epochs = self.max_epochs
        if len(held_out):
            _, chosen = self._train(len(alphabet), *training_words.split(held_out), self.max_epochs)
            epochs = chosen.best_epoch
        network, _ = self._train(len(alphabet), training_words.whole, None, epochs)
        return WordNetwork(network, alphabet, self.seed)

    def _train(
        self, labels: int, corpus: Corpus, held_out: Corpus | None, max_epochs: int
    ) -> "tuple[RecurrentNetwork, Checkpoint]":
        """Train a network, and return it as of the best epoch for the held-out words, or of the last without any."""
        rng = np.random.default_rng([self.seed, _TRAINING])
        network = RecurrentNetwork(labels, self.embedding, self.hidden, rng)
        adam = Adam(network, WEIGHT_DECAY)
        batch, held_out_batch = Batch.of(corpus), None if held_out is None else Batch.of(held_out)

        def run_epoch(epoch: int) -> EpochMetrics:
            if epoch == 0:  # the initial network is not measured, and so it is never the best
                return EpochMetrics(0, 0.0, math.inf, None)
            loss = self._step(network, adam, batch)
            with torch.no_grad():
                held_out_loss = None if held_out_batch is None else float(batch_loss(network, held_out_batch))
            return EpochMetrics(epoch, self.learning_rate, loss, held_out_loss)

        for checkpoint in run_epochs(network, adam, run_epoch, max_epochs, PATIENCE):
            if checkpoint.history[-1].train_loss <= SUFFICIENT_LOSS:
                break
        network.load_state_dict(checkpoint.best)
        return network, checkpoint

    def _step(self, network: "RecurrentNetwork", adam: Adam, batch: "Batch") -> float:
        loss = batch_loss(network, batch)
        if not torch.isfinite(loss):
            raise DivergedError(
                f"the loss is {loss.item()} after {adam.steps} steps; lower the learning rate ({self.learning_rate:g})"
            )
        gradients = adam.gradients(loss)
        norm = torch.sqrt(torch.stack([gradient.square().sum() for gradient in gradients.values()]).sum())
        scale = torch.clamp(LARGEST_GRADIENT / norm, max=1.0)
        adam.step({name: gradient * scale for name, gradient in gradients.items()}, self.learning_rate)
        return float(loss.detach())


@dataclass(frozen=True, eq=False)
class WordNetwork:
    """A trained network.

    Attributes:
        network: its layers.
        alphabet: the labels that it reads.
        seed: of its training.
        threshold: words with this value or more are accepted.
        keep_repeats: whether a repeated label is read again.
    """

    network: "RecurrentNetwork"
    alphabet: tuple[Label, ...]
    seed: int
    threshold: float = 0.5
    keep_repeats: bool = False

    def values(self, words: Sequence[Word]) -> NDArray[np.float64]:
        """The value of each word, shape [words]; zero for a word with an unknown label."""
        alphabet = set(self.alphabet)
        is_known = np.array([alphabet.issuperset(word) for word in words], bool)
        known_words = [word if known else () for word, known in zip(words, is_known, strict=True)]
        return np.where(is_known, self.values_of_corpus(encode(known_words, self.alphabet)), 0.0)

    @one_torch_thread()
    def values_of_corpus(self, corpus: Corpus) -> NDArray[np.float64]:
        """The value of each word of a corpus in the symbols of `alphabet`, shape [words]."""
        return _values(self.network, corpus)


class RecurrentNetwork(nn.Module):
    """The layers; the parameters are alpha_0, W (embedding and unit) and beta."""

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
        weights = self.input_weights, self.state_weights, self.input_bias, self.state_bias
        for depth in range(1, len(tree.levels) - 1):
            here = slice(tree.levels[depth], tree.levels[depth + 1])
            above = torch.from_numpy(tree.parents[here] - tree.levels[depth - 1])
            labels = self.embedding[torch.from_numpy(tree.symbols[here])]
            levels.append(torch.gru_cell(labels, levels[-1][above], *weights))  # g_1
        return torch.cat(levels) @ self.final + self.final_bias


@dataclass(frozen=True, eq=False)
class TrainingWords:
    """The words to learn from, and their proper prefixes that count as words of score 0.

    Attributes:
        whole: the words followed by the prefixes, one for each word that begins so; the weights are scores.
        owners: the word to which each of `whole` belongs, shape [len(whole)].
    """

    whole: Corpus
    owners: NDArray[np.int64]

    @classmethod
    def of(cls, words: Corpus) -> "TrainingWords":
        """The words, and their prefixes that are not among them."""
        tree = build_prefix_tree(words)
        is_word = np.zeros(len(tree), bool)
        is_word[tree.ends] = True
        added = np.flatnonzero(~is_word[tree.visits])
        owners = np.append(np.arange(len(words)), np.repeat(np.arange(len(words)), words.lengths + 1)[added])
        lengths = np.append(words.lengths, tree.depths[tree.visits[added]])
        scores = np.append(words.weights, np.zeros(len(added)))
        return cls(words.factors(owners, np.zeros_like(owners), lengths, scores), owners)

    def split(self, held_out: NDArray[np.int64]) -> tuple[Corpus, Corpus]:
        """The part that belongs to the training words, and the part that belongs to the held-out words."""
        is_held_out = np.isin(self.owners, held_out)
        return _part(self.whole, np.flatnonzero(~is_held_out)), _part(self.whole, np.flatnonzero(is_held_out))


@dataclass(frozen=True, eq=False)
class Batch:
    """Words as the input of an Adam step, each step on all of them.

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
        nodes = np.flatnonzero(counts)
        scores = np.bincount(tree.ends, corpus.weights, len(tree))[nodes] / counts[nodes]
        tensors = (torch.from_numpy(nodes), torch.from_numpy(scores).float(), torch.from_numpy(counts[nodes]).float())
        return cls(tree, *tensors, float(counts.sum()))


def batch_loss(network: RecurrentNetwork, batch: Batch) -> Tensor:
    """L = sum_n w_n l(h(sigma^n), s^n) / sum_n w_n, over the distinct words."""
    outputs = network(batch.tree)[batch.nodes]
    losses = functional.binary_cross_entropy_with_logits(outputs, batch.scores, reduction="none")
    return (losses * batch.weights).sum() / batch.total


def split(scores: NDArray[np.float64], share: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Sorted indices of the words to hold out: a share of those with score 0 and of the others, but never all of them.

    Fewer than two words are too few to choose by: then none is held out.
    """
    order = rng.permutation(len(scores))
    groups = [order[scores[order] == 0], order[scores[order] != 0]]
    chosen = [group[: min(round(share * len(group)), len(group) - 1)] for group in groups if len(group)]
    held_out = np.sort(np.concatenate(chosen))
    return held_out if len(held_out) >= 2 else held_out[:0]


@torch.no_grad()
def _values(network: RecurrentNetwork, corpus: Corpus) -> NDArray[np.float64]:
    tree = build_prefix_tree(corpus)
    return torch.sigmoid(network(tree)).numpy()[tree.ends].astype(np.float64)


def _part(corpus: Corpus, indices: NDArray[np.int64]) -> Corpus:
    return corpus.take(indices, corpus.weights[indices])
