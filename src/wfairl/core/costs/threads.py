"""One thread of torch at a time: scenes run in parallel, each on one core.

Threads within a scene would compete with those of other scenes, and a sum that is split between two threads is rounded
differently: with one thread, a run gives the same bits on any number of cores.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Let torch use one thread, in this thread and those started within, and then as many as before."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
