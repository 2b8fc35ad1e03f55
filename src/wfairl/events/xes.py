"""XES, the exchange format of process mining (IEEE 1849), read without document types and entities.

So a file cannot make the reader expand or fetch anything. The file is read piece by piece, packed or not.
"""

import gzip
import zlib
from collections.abc import Callable, Collection
from pathlib import Path
from xml.parsers import expat

from wfairl.core.support.errors import BadInputError
from wfairl.core.support.files import check_ends

XES_NAME, XES_TIME, XES_LIFECYCLE = "concept:name", "time:timestamp", "lifecycle:transition"


def read_traces(
    path: Path,
    event_key: str,
    keys: Collection[str],
    add: Callable[[dict[str, str], list[dict[str, str]], str], None],
) -> None:
    """Read a file; `add` takes the attributes of each trace, those of its events, and the line where the trace ends.

    An attribute counts if it stands directly in a trace or an event, and is the event itself or one of `keys`.
    """
    parser, events = expat.ParserCreate(), list[dict[str, str]]()
    stack, wanted = list[tuple[str, dict[str, str]]](), {event_key, *keys}  # the open tags and their attributes

    def where() -> str:
        return f"{path}: line {parser.CurrentLineNumber}"

    def refuse(*_: object) -> None:
        raise BadInputError(f"{where()}: a document type, which XES does not have and which is not read; remove it")

    def begin(name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(":")[2]
        if not stack and tag != "log":
            raise BadInputError(f"{where()}: the file begins with <{tag}> where XES begins with <log>")
        if tag == "trace":
            events.clear()
        elif stack and stack[-1][0] in ("trace", "event") and attributes.get("key") in wanted:
            stack[-1][1][attributes["key"]] = attributes.get("value", "")
        stack.append((tag, {}))

    def end(_: str) -> None:
        tag, found = stack.pop()
        if tag == "event" and stack[-1][0] == "trace":
            if not found.get(event_key, "").strip():
                raise BadInputError(f"{where()}: the event that ends here has no {event_key}")
            events.append(found)
        elif tag == "trace":
            add(found, events, where())

    parser.StartElementHandler, parser.EndElementHandler, parser.StartDoctypeDeclHandler = begin, end, refuse
    try:
        check_ends(path)
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
            parser.ParseFile(file)
    except expat.ExpatError as error:
        raise BadInputError(f"{path}: line {error.lineno}: not XML ({expat.errors.messages[error.code]})") from None
    except FileNotFoundError:
        raise BadInputError(f"{path}: no such file") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BadInputError(f"{path}: not packed with gzip, or cut ({error})") from None
    except OSError as error:
        raise BadInputError(f"{path}: cannot be read ({error.strerror})") from None
    except BadInputError:
        raise
    except (LookupError, ValueError) as error:  # of a text that Python cannot decode
        raise BadInputError(f"{path}: not XML ({error})") from None
