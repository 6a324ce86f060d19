from __future__ import annotations

import pytest

from harness.addresses import is_local


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:8000/v1", True),
        ("ws://127.8.0.1:8000", True),
        ("http://localhost/v1", True),
        ("wss://LOCALHOST", True),
        ("http://[::1]:8000/v1", True),
        ("https://api.openai.com/v1", False),
        ("http://10.0.0.1/v1", False),
        ("ws://0.0.0.0:8000", False),
        ("ws://127.0.0.1.example.org", False),
        ("", False),
    ],
)
def test_which_servers_are_on_this_machine(url: str, local: bool) -> None:
    assert is_local(url) == local
