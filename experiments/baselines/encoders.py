"""The choice of an encoder for a world: the map for grids, features for all others."""

from dataclasses import asdict
from typing import Any

from experiments.baselines.encoder import Encoder
from experiments.baselines.feature_encoder import FeatureEncoder
from experiments.baselines.grid_encoder import AgentEncoder, MapEncoder, grid_encoder, is_grid
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.world import World

VIEWS = (AgentEncoder.kind, MapEncoder.kind)
"""The views of a grid."""

LARGEST_SIZE = 1000


def find_encoder(world: World[Any], view: str, radius: int) -> Encoder:
    """The encoder of worlds like this one.

    Args:
        world: one of the scenes.
        view: of a grid, `agent` or `map`; other worlds are encoded by their features.
        radius: how far the agent sees, in cells or steps.

    Raises:
        BadInputError: there is no such view.
    """
    if view not in VIEWS:
        raise BadInputError(f"unknown view {view!r}; known are {', '.join(VIEWS)}")
    return grid_encoder(view, world, radius) if is_grid(world) else FeatureEncoder.of(world, radius)


def encoder_to_document(encoder: Encoder) -> dict[str, Any]:
    """An encoder as JSON."""
    return {"kind": encoder.kind, **asdict(encoder)}  # type: ignore[call-overload]


def encoder_from_document(document: dict[str, Any]) -> Encoder:
    """The encoder of a JSON document.

    Raises:
        ValueError, KeyError, TypeError: there is none.
    """
    settings = dict(document)
    kind = {one.kind: one for one in (MapEncoder, AgentEncoder, FeatureEncoder)}.get(settings.pop("kind"))
    if kind is None or not all(_is_sane(name, setting) for name, setting in settings.items()):
        raise ValueError(f"unknown encoder {document}")
    return kind(**settings)


def _is_sane(name: str, setting: Any) -> bool:
    """Whether a setting is a list of names, or a number that a network can have as its size."""
    if isinstance(setting, list):
        return all(isinstance(one, str) for one in setting)
    return isinstance(setting, int) and (0 if name == "features" else 1) <= setting < LARGEST_SIZE
