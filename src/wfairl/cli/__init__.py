"""The command line: arguments become one call into the package, and its result becomes text."""

from wfairl.cli.app import main

__all__ = ["main"]
