"""Tests run in parallel, a process a core: threads within each would only get in each other's way."""

import torch

torch.set_num_threads(1)
