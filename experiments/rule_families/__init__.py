"""Random rules in random worlds, by family, with a judge that shares no code with the package."""
