"""`python -m harness COMMAND`: what is not a sweep."""

from __future__ import annotations

import argparse
import sys


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m harness", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("doctor", help="what on this machine can be used, and what mends the rest")
    parser.parse_args()
    from harness.doctor import report

    return report()


if __name__ == "__main__":
    sys.exit(main())
