"""From scored words to an automaton."""
