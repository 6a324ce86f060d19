"""The commands of `python -m analysis`, one module each: its name is the command's. A module has a docstring whose
first line is the help, `add_arguments(parser)` and `run(options) -> int`; what is heavy it imports in `run`."""
