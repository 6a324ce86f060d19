"""Closes the environment once.

Its `close` disconnects the physics client by number and runs again when the object is collected, by which time the
number can belong to the environment that was opened next; it raises when the client has ended by itself; and it
prints."""

from __future__ import annotations

from typing import Any

from envs.calvin.shims.chatter import silenced


def close_once(play_table_env: Any) -> None:
    """Close it; whatever closes it later does nothing."""
    if play_table_env.p.isConnected():
        with silenced():
            play_table_env.close()
    play_table_env.ownsPhysicsClient = False
    play_table_env.close = lambda: None
