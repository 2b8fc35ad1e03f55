"""The tiles of a frame, put together again, are the image that the world renders."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

from wfairl.core.worlds.task_registry import find_task
from wfairl.studio.frames import FrameEncoder


def image_of(frame, tiles):
    images = [
        np.asarray(Image.open(io.BytesIO(base64.b64decode(one.partition(",")[2]))).convert("RGB")) for one in tiles
    ]
    cells = np.array(frame["cells"]).reshape(frame["rows"], frame["columns"])
    return np.vstack([np.hstack([images[number] for number in row]) for row in cells])


@pytest.mark.parametrize("name", ["doorkey", "blocked-unlock-pickup", "errand", "terrain", "random-office-coffee"])
def test_tiles_put_together_are_the_image(name):
    world = find_task(name).make_world(3)
    rng, encoder, state = np.random.default_rng(0), FrameEncoder(), world.initial_state
    for _ in range(40):
        frame = encoder.encode(world, state)
        rendered = world.rendering.render(state)
        image = image_of(frame, encoder.tiles)[: rendered.shape[0], : rendered.shape[1]]
        assert np.array_equal(image, rendered)
        state = world.step(state, int(rng.integers(len(world.controls))))
    assert len(set(encoder.tiles)) == len(encoder.tiles)
