"""What the paper's method is compared with: behavioural cloning, GAIL, no automaton, a recurrent task model."""
