"""The two ways in which a call can end badly, each with its exit code on the command line.

Every named error of the package derives from one of them, says what happened in one sentence,
and where there is something to do about it, says that in a second one.
"""


class WfairlError(Exception):
    """Anything that this package reports to its user; never raised itself."""

    exit_code = 1


class BadInputError(WfairlError, ValueError):
    """What was given cannot be used: a file, a setting, a name, a world."""

    exit_code = 2


class MissingExtraError(BadInputError):
    """An optional dependency is not installed."""

    def __init__(self, what: str, extra: str):
        super().__init__(f"{what} is not installed: pip install 'wfairl[{extra}]'")


class FailedRunError(WfairlError, RuntimeError):
    """The input was fine and the computation could not reach its end."""

    exit_code = 1


def check_minimum(settings: object, least: float, *names: str) -> None:
    """Refuse settings with a named attribute below its minimum.

    Raises:
        BadInputError: names the attribute.
    """
    for name in names:
        if getattr(settings, name) < least:
            raise BadInputError(f"{name} is {getattr(settings, name)}; give at least {least}")


NO_MEMORY = "out of memory; take fewer jobs at once (--jobs 1), fewer demonstrations or a smaller world"


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that there is no memory left; torch has no class of its own for that."""
    return isinstance(error, MemoryError) or "allocate memory" in str(error)
