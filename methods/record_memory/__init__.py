"""HiMe's store: what the robot was told and shown, as short texts with tags and, where it helps, a picture. A
planner changes it by Create, Update and Delete, and asks it by a tag or by words. It knows no wire format
(`methods.hime`) and nothing outlives it but what `save` has written: one memory is made for each episode,
unless a method says otherwise."""

from __future__ import annotations

from methods.record_memory.files import load, restore, save, written
from methods.record_memory.records import Picture, Record, normalise_tag
from methods.record_memory.retrieval import Found, Hit
from methods.record_memory.rules import MemoryRules
from methods.record_memory.store import Change, RecordMemory

__all__ = [
    "Change",
    "Found",
    "Hit",
    "MemoryRules",
    "Picture",
    "Record",
    "RecordMemory",
    "load",
    "normalise_tag",
    "restore",
    "save",
    "written",
]
