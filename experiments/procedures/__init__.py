"""Experiments on single procedures: learners of tasks and words, questions, hidden costs, plans; see ../README.md."""
