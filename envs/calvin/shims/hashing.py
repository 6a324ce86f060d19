"""The hash by which the official evaluation seeds an initial condition.

It comes from pyhash, which no longer builds. There it is called fnv1_32 and starts from 0, not from the usual offset,
and it sees a string as the bytes of UTF-16."""

from __future__ import annotations

_PRIME = 0x01000193


def fnv1_32(text: str) -> int:
    """32 bits: multiplied, then combined, byte by byte."""
    value = 0
    for byte in text.encode("utf-16-le"):
        value = (value * _PRIME & 0xFFFFFFFF) ^ byte
    return value
