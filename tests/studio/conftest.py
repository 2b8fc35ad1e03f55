"""A studio that listens."""

import threading

import pytest


@pytest.fixture(scope="session")
def studio(tmp_path_factory):
    """A studio that listens, in a thread: its address with the token, and where it keeps its sessions."""
    pytest.importorskip("nicegui", reason="the studio is not installed: pip install -e '.[studio]'")
    from wfairl.studio.server import find_port, serve

    directory = tmp_path_factory.mktemp("studio")
    announced, address = threading.Event(), []

    def announce(text):
        address.append(text)
        announced.set()

    threading.Thread(target=serve, args=(directory, find_port(None), announce), daemon=True).start()
    assert announced.wait(60)
    return address[0], directory
