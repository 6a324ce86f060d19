"""`python -m harness COMMAND`: what is not a sweep."""

from __future__ import annotations

import sys

from harness import commands
from harness.commandline import main

if __name__ == "__main__":
    sys.exit(main(commands, "What is not a sweep."))
