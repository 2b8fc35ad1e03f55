"""Experiments with wfairl, which are not part of the package; see README.md."""
