"""Methods that learn from demonstrations, compared on tasks: the paper's experiment, and logic-and-cost."""
