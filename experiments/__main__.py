"""`python -m experiments`."""

import signal

if __name__ == "__main__":  # worker processes import this module under another name
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # until `main`: see `wfairl/__init__.py`
    from wfairl.cli import main

    main("experiments.commands:app")
