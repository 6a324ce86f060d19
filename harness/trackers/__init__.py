"""Mirrors of the results in an outside tool: one run a cell. The rows on disk are the record; a tracker that fails
costs one warning, a bounded delay and never a result.

A sweep does not call a tracker: `guarded` starts a second process which reads the rows from the files as they come
(`mirror`), so that a tracker may be slow, hang or crash. `python -m harness track` does the same afterwards."""

from harness.trackers.guarded import GuardedTracker
from harness.trackers.none import NoTracker
from harness.trackers.protocol import OpenTracker, Point, State, TrackedCell, Tracker

__all__ = ["GuardedTracker", "NoTracker", "OpenTracker", "Point", "State", "TrackedCell", "Tracker"]
