"""Keeps a program's memory bounded: an address-space limit while its own code runs, so that one huge
allocation fails at once, and the growth of resident memory. Both need Linux; elsewhere only the size
guards of `harness.sandbox.arithmetic` hold. The limit is the process's, so other threads share it."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import cache

PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


@dataclass(frozen=True)
class Use:
    """Bytes."""

    address_space: int
    resident: int


def used() -> Use | None:
    """What the process uses now; None where the system does not say."""
    if sys.platform != "linux":
        return None
    descriptor = os.open("/proc/self/statm", os.O_RDONLY)
    try:
        total, resident, *_ = os.read(descriptor, 128).split()
    finally:
        os.close(descriptor)
    return Use(int(total) * PAGE, int(resident) * PAGE)


def allow(more: int) -> Use | None:
    """Let the address space grow by `more` bytes from now on, and return what is used now."""
    now = used()
    if now is not None:
        import resource

        soft, hard = _original()
        limit = now.address_space + more
        resource.setrlimit(resource.RLIMIT_AS, (limit if soft < 0 else min(limit, soft), hard))
    return now


def lift() -> None:
    """Back to the limit that the process started with."""
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, _original())


@cache
def _original() -> tuple[int, int]:
    import resource

    return resource.getrlimit(resource.RLIMIT_AS)
