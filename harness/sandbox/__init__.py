"""Runs Python that a chat model wrote: `extract_code` finds the program in a reply, `Sandbox` checks and
runs it. See `docs/sandbox.md` for what this guarantees and what it does not."""

from harness.sandbox.extract import Extracted, extract_code
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program, Sandbox

__all__ = ["Extracted", "Limits", "Program", "Sandbox", "extract_code"]
