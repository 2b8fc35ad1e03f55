"""JSON documents of this package, each with a format, a version and a digest:

    {"format": "wfairl-run", "version": 3, ..., "digest": "5f70..."}

A schema is a frozen dataclass, most often the record itself. A document is checked strictly against its annotations
before it is used: `true` and `"1"` are no numbers, no field is missing or unknown, numbers are finite. The digest is
the SHA-256 of format, version and all other fields as canonical JSON (sorted keys, no spaces), so that it depends on
values but not on line breaks.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import numpy as np
from numpy.typing import DTypeLike

from wfairl.core.support.errors import BadInputError
from wfairl.core.support.files import NotJsonError, parse_json, read_text, seems, write_atomically, write_json

if TYPE_CHECKING:
    from pydantic import TypeAdapter

DIGEST = "digest"

CHANGED = "its contents do not match its digest: it was edited by hand, or is damaged"

Content = TypeVar("Content")


class OtherKindError(BadInputError):
    """A document of an unexpected kind."""


@dataclass(frozen=True)
class Form(Generic[Content]):
    """A format of documents."""

    name: str  # in the documents
    what: str  # in messages, such as "a task model"
    version: int  # of the documents that are written
    schema: type[Content]  # a dataclass of their fields
    error: type[BadInputError]  # for a file that is not such a document
    advice: str  # for such a file

    def write(self, path: Path, fields: Mapping[str, Any]) -> None:
        """Write a document, atomically."""
        plain = json.loads(json.dumps(fields, allow_nan=False))
        digest = self._digest(canonical(plain))
        write_json(path, {"format": self.name, "version": self.version, **plain, DIGEST: digest})

    def read(self, path: Path) -> Content:
        """The content of a document; raises `error` with the file and the problem."""
        try:
            text = read_text(path)
        except BadInputError as problem:
            raise self.error(f"{problem}; {self.advice}{seems(path)}") from None
        try:
            return self._parse(parse_json(text))
        except BadInputError as problem:
            is_another = isinstance(problem, NotJsonError | OtherKindError)
            raise self.error(f"{path}: {problem}; {self.advice}{seems(path) if is_another else ''}") from None

    def _parse(self, document: Any) -> Content:
        if not isinstance(document, dict) or document.get("format") != self.name:
            raise OtherKindError(f"not {self.what}")
        version = document.get("version")
        if version is True or version != self.version:
            raise BadInputError(f"version {version!r} of {self.what}; this wfairl reads version {self.version}")
        fields = {key: value for key, value in document.items() if key not in ("format", "version", DIGEST)}
        if document.get(DIGEST) != self._digest(canonical(fields)):
            raise BadInputError(CHANGED)
        try:
            return cast(Content, parse(self.schema, fields))
        except BadInputError as problem:
            raise BadInputError(f"not a readable document of the format {self.name} ({problem})") from None

    def _digest(self, text: str) -> str:
        return _sha256(f"{self.name}\n{self.version}\n{text}")


def parse(schema: Any, content: Any, *, finite: bool = True) -> Any:
    """Plain JSON as a value of a type, composed of dataclasses and plain types; `finite` refuses infinite numbers.

    Raises:
        BadInputError: names the place where the content is not of that type.
    """
    from pydantic import ValidationError  # here, because its import takes a tenth of a second

    try:
        return _adapter(schema, finite).validate_json(f"[{_text(content, finite)}]")[0]
    except ValidationError as problem:
        first = problem.errors(include_url=False, include_input=False, include_context=False)[0]
        place = " ".join(".".join(str(part) for part in first["loc"][1:]).split())  # a key may hold a line break
        raise BadInputError(f"{place}: {first['msg']}" if place else first["msg"]) from None


def parse_fields(record: type[Content], document: Mapping[str, Any]) -> Content:
    """A record from what `plain_fields` gave, perhaps with its `kind` beside; every field must be there."""
    given = {name: value for name, value in document.items() if name != "kind"}
    missing = [one.name for one in fields(cast(Any, record)) if one.init and one.name not in given]
    if missing:
        raise BadInputError(f"{missing[0]}: Field required")
    return cast(Content, parse(record, given))


class Listed:
    """In the annotation of an array in a record: how a document lists its numbers, and their type in the array."""

    def __init__(self, lists: Any, dtype: DTypeLike) -> None:
        self.lists, self.dtype = lists, dtype

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core.core_schema import no_info_after_validator_function

        return no_info_after_validator_function(lambda lists: np.array(lists, self.dtype), handler(self.lists))


@cache
def _adapter(schema: Any, finite: bool) -> "TypeAdapter[tuple[Any]]":
    from pydantic import ConfigDict, TypeAdapter

    # In a tuple, because pydantic accepts no settings for a dataclass itself.
    config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=not finite)
    return TypeAdapter(tuple[schema], config=config)


def plain_fields(record: Any) -> dict[str, Any]:
    """The fields of a record as plain JSON, which `parse_fields` reads back."""
    return {one.name: plain(getattr(record, one.name)) for one in fields(record) if one.init}


def plain(value: Any) -> Any:
    """A value as plain JSON; sets, such as labels, are sorted."""
    if hasattr(value, "to_document"):
        return value.to_document()
    if is_dataclass(value):
        return plain_fields(value)
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {name: plain(one) for name, one in value.items()}
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, frozenset | tuple | list):
        return [plain(one) for one in (sorted(value) if isinstance(value, frozenset) else value)]
    return value


def canonical(content: Any, *, finite: bool = True) -> str:
    """The canonical text of a JSON document, independent of the order of its keys."""
    return _text(content, finite, sort_keys=True)


def _text(content: Any, finite: bool, sort_keys: bool = False) -> str:
    try:
        return json.dumps(content, sort_keys=sort_keys, separators=(",", ":"), allow_nan=not finite)
    except ValueError:
        raise BadInputError("a number that is not finite") from None
    except RecursionError:
        raise BadInputError("nested too deeply") from None


def write_lines(path: Path, entries: Sequence[Mapping[str, Any]]) -> None:
    """Write one JSON object per line, atomically; each holds the digest of all, which detects lost or changed lines."""
    digest = _sha256(canonical(json.loads(json.dumps(entries)), finite=False))
    write_atomically(path, "".join(json.dumps({**entry, DIGEST: digest}) + "\n" for entry in entries))


def read_lines(path: Path, schema: Any, error: type[BadInputError]) -> tuple[Any, ...]:
    """The objects that `write_lines` wrote; an `error` names the file and the problem."""
    entries, digests, parsed = [], [], []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        try:
            entry = parse_json(line)
            if not isinstance(entry, dict):
                raise BadInputError("not an object")
            digests.append(entry.pop(DIGEST, None))
            entries.append(entry)
            parsed.append(parse(schema, entry, finite=False))
        except BadInputError as problem:
            raise error(f"{path}: line {number}: {problem}") from None
    if digests != [_sha256(canonical(entries, finite=False))] * len(entries):
        raise error(f"{path}: {CHANGED}")
    return tuple(parsed)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
