"""Which addresses are this machine's own."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit


def is_local(url: str) -> bool:
    """Whether a URL's host is this machine by its loopback address: no proxy of the environment stands before it."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
