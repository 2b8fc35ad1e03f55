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


class XesReader:
    """Handles the tags of an XES file.

    An attribute counts if it stands directly in a trace or an event, and is the event itself or one of `keys`. `add`
    takes the attributes of each trace, those of its events, and the line where the trace ends.
    """

    def __init__(
        self,
        path: Path,
        event_key: str,
        keys: Collection[str],
        add: Callable[[dict[str, str], list[dict[str, str]], str], None],
    ) -> None:
        self.path, self.event_key, self.keys, self.add = path, event_key, {event_key, *keys}, add
        self.stack: list[str] = []
        self.events: list[dict[str, str]] = []
        self.trace: dict[str, str] = {}
        self.event: dict[str, str] = {}
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._open
        self.parser.EndElementHandler = self._close
        self.parser.StartDoctypeDeclHandler = self._refuse

    def read(self) -> None:
        """Read the file; a `BadInputError` names the line and what is wrong there."""
        try:
            check_ends(self.path)
            with gzip.open(self.path) if self.path.suffix.lower() == ".gz" else self.path.open("rb") as file:
                self.parser.ParseFile(file)
        except expat.ExpatError as error:
            message = expat.errors.messages[error.code]
            raise BadInputError(f"{self.path}: line {error.lineno}: not XML ({message})") from None
        except FileNotFoundError:
            raise BadInputError(f"{self.path}: no such file") from None
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise BadInputError(f"{self.path}: not packed with gzip, or cut ({error})") from None
        except OSError as error:
            raise BadInputError(f"{self.path}: cannot be read ({error.strerror})") from None
        except (LookupError, ValueError) as error:  # of a text that Python cannot decode
            if isinstance(error, BadInputError):
                raise
            raise BadInputError(f"{self.path}: not XML ({error})") from None

    def _where(self) -> str:
        return f"{self.path}: line {self.parser.CurrentLineNumber}"

    def _refuse(self, *_: object) -> None:
        raise BadInputError(
            f"{self._where()}: a document type, which XES does not have and which is not read; remove it"
        )

    def _open(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(":")[2]
        parent = self.stack[-1] if self.stack else None
        if parent is None and tag != "log":
            raise BadInputError(f"{self._where()}: the file begins with <{tag}> where XES begins with <log>")
        self.stack.append(tag)
        if tag == "trace":
            self.events, self.trace = [], {}
        elif tag == "event":
            self.event = {}
        elif parent in ("trace", "event") and attributes.get("key") in self.keys:
            into = self.trace if parent == "trace" else self.event
            into[attributes["key"]] = attributes.get("value", "")

    def _close(self, name: str) -> None:
        tag = name.rpartition(":")[2]
        self.stack.pop()
        if tag == "event" and self.stack[-1] == "trace":
            if not self.event.get(self.event_key, "").strip():
                raise BadInputError(f"{self._where()}: the event that ends here has no {self.event_key}")
            self.events.append(self.event)
        elif tag == "trace":
            self.add(self.trace, self.events, self._where())
