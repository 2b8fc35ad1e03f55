"""The paper's experiments, made again: every task, data set, method and training seed, in one directory."""
