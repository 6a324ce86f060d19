"""The commands of `python -m analysis`, one module each; see `harness.commandline`."""
