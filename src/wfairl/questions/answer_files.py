"""Files of answers: JSONL, one answer per line as `Answer.to_document` gives it.

Answers about the demonstrations of `demos.safetensors` are stored in `demos.answers.jsonl`.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from wfairl.core.demonstrations.answers import Answer, BrokenAnswersError
from wfairl.core.support.files import NotJsonError, parse_json, read_text, write_atomically


def place_of_answers(demonstrations: Path) -> Path:
    """The file beside demonstrations in which the answers about them are kept."""
    return demonstrations.with_suffix(".answers.jsonl")


def answers_beside(demonstrations: Path) -> tuple[Answer, ...]:
    """The answers that are kept beside demonstrations; none if there is no such file."""
    place = place_of_answers(demonstrations)
    return read_answers(place) if place.exists() else ()


def read_answers(path: Path) -> tuple[Answer, ...]:
    """The answers of a file. A `BrokenAnswersError` names the file, the line and the fault."""
    answers = []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if line.strip():
            try:
                answers.append(Answer.from_document(parse_json(line)))
            except (BrokenAnswersError, NotJsonError) as error:
                raise BrokenAnswersError(f"{path}: line {number}: {error}") from None
    return tuple(answers)


def write_answers(answers: Sequence[Answer], path: Path) -> None:
    """Write answers, atomically."""
    write_atomically(path, "".join(json.dumps(answer.to_document()) + "\n" for answer in answers))
