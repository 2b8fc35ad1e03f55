"""What an automaton asks for, in plain English."""
