"""`python -m wfairl`: the command line without its script."""

from wfairl.cli import main

if __name__ == "__main__":  # workers of MPI import this module under another name
    main()
