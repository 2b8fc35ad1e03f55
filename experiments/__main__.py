"""`python -m experiments`."""

from wfairl.cli import main

if __name__ == "__main__":  # worker processes import this module under another name
    main("experiments.commands:app")
