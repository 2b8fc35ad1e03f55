"""The library MiniGrid without networkx; to be imported before any of its modules.

Only MiniGrid's WFC levels need networkx, which takes twice as long to import as MiniGrid itself. The wheel of MiniGrid
lacks the images that these levels are made from.
"""

from wfairl.core.support.imports import import_without

import_without("networkx", "minigrid")
