"""wfairl: learn what a demonstrator was doing and what it cared about, and plan with both."""

__version__ = "0.1.0"
