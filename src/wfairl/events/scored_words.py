"""Scored words, and files of them: one JSON object per line, in which a bare string is a label with one proposition.

{"word": [["key"], ["key", "door"], "goal"], "score": 1.0}
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.words import EMPTY_LABEL_TEXT, Word
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.files import parse_json, read_text, seems

LARGEST_SCORE = 1e9
"""Learning adds up squares of scores, and compares them with thresholds near 1."""

NO_SCORE = f"not a finite number of at most {LARGEST_SCORE:.0e}"


@dataclass(frozen=True)
class ScoredWords:
    """Words as they were observed (not compressed), and their scores, or None for words without scores."""

    words: tuple[Word, ...]
    scores: tuple[float, ...] | None
    cases: tuple[str, ...] = ()  # the names of the words, if they have any

    def __post_init__(self) -> None:
        if self.scores is None:
            return
        if len(self.scores) != len(self.words):
            raise BadInputError(f"{len(self.words)} words with {len(self.scores)} scores")
        for number, score in enumerate(self.scores, start=1):
            if not abs(score) <= LARGEST_SCORE:
                raise BadInputError(f"word {number}: the score is {score}, which is {NO_SCORE}")

    def __len__(self) -> int:
        return len(self.words)


def parse_word(text: str) -> Word:
    """The word in a text as `format_word` writes it, `-, key, door & key`, or in JSON, `[[], "key", ["a", "b"]]`."""
    if text.lstrip().startswith("["):
        return _parse_line(f'{{"word": {text}}}', {})[0]
    word = []
    for part in text.split(",") if text.strip() else []:
        names = [name.strip() for name in part.split("&")]
        if names == [EMPTY_LABEL_TEXT]:
            names = []
        if "" in names:
            raise BadInputError(f"'{text}': write a word as '-, key, door & key', or as a JSON list of labels")
        word.append(frozenset(names))
    return tuple(word)


def read_jsonl(path: Path) -> ScoredWords:
    """Read words, and their scores if every line has one; a `BadInputError` names the line and what is wrong."""
    words: list[Word] = []
    scores: list[float | None] = []
    labels, distinct = dict[Label, Label](), dict[Word, Word]()  # each is stored once: a million words have few
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            word, score = _parse_line(line, labels)
        except BadInputError as error:
            raise BadInputError(f"{path}: line {number}: {error}{'' if words else seems(path)}") from None
        if scores and (score is None) != (scores[0] is None):
            raise BadInputError(f"{path}: line {number}: some lines have a score and others have none")
        words.append(distinct.setdefault(word, word))
        scores.append(score)
    if not words:
        raise BadInputError(f'{path}: no words; give one object per line, such as {{"word": ["a"], "score": 1}}')
    return ScoredWords(tuple(words), tuple(score for score in scores if score is not None) or None)


def _parse_line(line: str, labels: dict[Label, Label]) -> tuple[Word, float | None]:
    document = parse_json(line)
    if not isinstance(document, dict) or "word" not in document:
        raise BadInputError('no object with the field "word"')
    if not isinstance(document["word"], list):
        raise BadInputError('"word" is not a list of labels')
    word = tuple([_parse_label(label, labels) for label in document["word"]])
    if "score" not in document:
        return word, None
    score = document["score"]
    if isinstance(score, bool) or not isinstance(score, int | float) or not abs(score) <= LARGEST_SCORE:
        raise BadInputError(f'"score" is {json.dumps(score)}, which is {NO_SCORE}')
    return word, float(score)


def _parse_label(written: Any, labels: dict[Label, Label]) -> Label:
    names = written if isinstance(written, list) else [written]
    if not all(isinstance(name, str) for name in names):
        raise BadInputError(f"label {json.dumps(written)} is neither a string nor a list of strings")
    label = frozenset(names)
    return labels.setdefault(label, label)
