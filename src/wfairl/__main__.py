"""`python -m wfairl`: the command line without its script."""

from wfairl.cli import main

main()
