"""Files of the PAutomaC competition: samples of words, and the true probabilities of test words."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Label
from wfairl.core.support.files import read_text
from wfairl.events.scored_words import MalformedWordsError, ScoredWords


def read_pautomac(path: Path) -> ScoredWords:
    """Read a PAutomaC file: a header `words labels`, then one word per line, `length a1 .. an`.

    Label i becomes the set with the one proposition `str(i)`.
    """
    header, *lines = _integer_lines(path)
    if len(header) != 2:
        raise MalformedWordsError(f"{path}: line 1: the header must be two numbers, words and labels")
    if len(lines) != header[0]:
        raise MalformedWordsError(f"{path}: the header promises {header[0]} words, and there are {len(lines)}")
    labels: dict[int, Label] = {}  # only those that occur: the header may promise any number
    words = []
    for number, (length, *symbols) in enumerate((line or [-1] for line in lines), start=2):
        if length != len(symbols):
            raise MalformedWordsError(f"{path}: line {number}: {len(symbols)} labels where {length} are promised")
        if symbols and not 0 <= min(symbols) <= max(symbols) < header[1]:
            raise MalformedWordsError(f"{path}: line {number}: a label outside 0 .. {header[1] - 1}")
        words.append(tuple(labels.setdefault(symbol, frozenset({str(symbol)})) for symbol in symbols))
    return ScoredWords(tuple(words), None)


def read_pautomac_solution(path: Path) -> NDArray[np.float64]:
    """Read the true probability of each test word of a PAutomaC problem, shape [words]."""
    try:
        count, *values = (float(line) for line in read_text(path).split())
    except ValueError as error:
        raise MalformedWordsError(f"{path}: not a list of probabilities ({error})") from None
    if count != len(values):
        raise MalformedWordsError(f"{path}: {len(values)} probabilities where {count:g} are promised")
    if not all(0 <= value <= 1 for value in values):
        raise MalformedWordsError(f"{path}: a probability lies between 0 and 1")
    return np.array(values)


def _integer_lines(path: Path) -> list[list[int]]:
    lines = []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        try:
            lines.append([int(field) for field in line.split()])
        except ValueError:
            raise MalformedWordsError(f"{path}: line {number}: not a list of whole numbers") from None
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise MalformedWordsError(f"{path}: the file is empty")
    return lines
