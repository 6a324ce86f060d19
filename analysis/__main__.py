"""`python -m analysis COMMAND`: from rows to the papers' tables, and what the numbers can bear."""

from __future__ import annotations

import sys

from analysis import commands
from harness.commandline import main

if __name__ == "__main__":
    sys.exit(main(commands, "From rows to the papers' tables, and what the numbers can bear."))
