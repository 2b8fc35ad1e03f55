"""What the names of steps tell about their order: "Chop-Chop 1 strawberry" comes before "Serve with strawberries".

The log prior that a step follows directly on another is linear in three features of their names (`FEATURES`), and is
normalised over the steps that might follow. The weights are those of a conditional logit on the task graphs of 16
recipes of CaptainCook4D; `experiments captaincook` fits them without the recipe that it measures. Names of one word,
such as "pay", have no features.
"""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FEATURES = ("whether they share a word", "shared words, rare ones count more", "whether they begin with the same word")
WEIGHTS = (1.67, 0.82, -2.38)

NO_CONTENT = frozenset(
    re.findall(
        r"\w+",
        "the into with for and from until them then you your this that over around all let while other out its top"
        " about each onto one two tsp tbsp teaspoon tablespoon cup inch minut second",
    )
)
"""Words that say nothing about what a step works on: function words and units, without their endings."""


def log_affinity(names: Sequence[str], weights: Sequence[float] = WEIGHTS) -> NDArray[np.float64]:
    """Log prior that the step of a column follows directly on that of a row, relative to a step at random."""
    utility = name_features(names) @ np.asarray(weights)
    others = ~np.eye(len(names), dtype=bool)
    if len(names) < 2:
        return np.zeros((len(names), len(names)))
    mean = np.log(np.mean(np.exp(utility), axis=1, where=others))
    return np.where(others, utility - mean[:, None], 0.0)


def name_features(names: Sequence[str]) -> NDArray[np.float64]:
    """The features of each pair of names, shape [names, names, features]."""
    words = [[_stem(word) for word in re.findall(r"[a-z]+", name.lower())] for name in names]
    heads = [one[0] if len(one) > 1 else None for one in words]
    contents = [
        {word for word in one if len(word) > 2} - NO_CONTENT - {head} for one, head in zip(words, heads, strict=True)
    ]
    uses = Counter(word for content in contents for word in content)
    features = np.zeros((len(names), len(names), len(FEATURES)))
    for i in range(len(names)):
        for j in range(len(names)):
            if i != j and heads[i] and heads[j]:
                shared = contents[i] & contents[j]
                features[i, j] = bool(shared), sum(1 / (uses[word] - 1) for word in shared), heads[i] == heads[j]
    return features


def _stem(word: str) -> str:
    """The word without the ending of its form: chopped, chops, chopping, chop."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word.removesuffix(ending)
            break
    if len(word) > 3 and (word[-1] == "e" or word[-1] == word[-2]):
        word = word[:-1]
    return f"{word[:-1]}i" if len(word) > 3 and word[-1] == "y" else word
