"""Experiments: suites, public data and baselines. Not part of the package."""
