"""Turns what can go wrong at the command line into one clear message and an exit status: 0 complete,
1 incomplete, 2 a mistake in the command, 130 interrupted."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Quote, QuotedString
from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException

from harness.components import suggest
from harness.compose import dotted_keys
from harness.failures import UsageError
from harness.launcher import SweepIncompleteError
from harness.store import StorageError

FULL = "HYDRA_FULL_ERROR"
FULL_DISK = (errno.ENOSPC, errno.EDQUOT)
NO_FOLDER = (
    *(errno.ENAMETOOLONG, errno.EACCES, errno.EPERM, errno.EROFS),
    *(errno.ENOTDIR, errno.EEXIST),
)
"""Why a folder for results cannot be made."""
WANTS_TRACEBACK = os.environ.get(FULL) == "1"


@contextmanager
def messages() -> Iterator[None]:
    """Exit with a message instead of a traceback; the traceback too when HYDRA_FULL_ERROR=1 is set."""
    os.environ[FULL] = "1"  # else Hydra prints and exits by itself, without the hints below
    try:
        yield
    except SweepIncompleteError:
        sys.exit(1)
    except KeyboardInterrupt:
        print("Interrupted. Run the same command again to continue.", file=sys.stderr)
        sys.exit(130)
    except (UsageError, StorageError, HydraException, OmegaConfBaseException) as error:
        if WANTS_TRACEBACK:
            raise
        print(f"Error: {explain(error)}", file=sys.stderr)
        sys.exit(1 if isinstance(error, StorageError) else 2)
    except OSError as error:
        if not WANTS_TRACEBACK and isinstance(error.filename, str) and error.errno in NO_FOLDER:
            print(
                f"Error: {error.filename}: {error.strerror}. Name a folder for the results that can be made: name=..., "
                "or hydra.run.dir=... (with -m hydra.sweep.dir=...).",
                file=sys.stderr,
            )
            sys.exit(2)
        if WANTS_TRACEBACK or error.errno not in FULL_DISK:
            raise
        print(
            f"Error: Cannot write{f' to {error.filename}' if error.filename else ''}: {error.strerror}. Finished "
            "episodes are safe; free space and run the same command again.",
            file=sys.stderr,
        )
        sys.exit(1)


def with_files(arguments: Sequence[str]) -> list[str]:
    """`memory=PATH` as Hydra takes it: the option `file` and the path. A path ends in .jsonl or has a slash; several
    are separated by commas, as in any sweep; one with a comma in it is quoted."""
    expanded: list[str] = []
    for argument in arguments:
        key, _, value = argument.partition("=")
        alone = re.fullmatch(r"""(['"])(.+)\1""", value)
        paths = [alone[2]] if alone else value.split(",")
        if key == "memory" and all(path.endswith(".jsonl") or "/" in path for path in paths):
            expanded += ["memory=file", "memory.sources=" + ",".join(f"[{_quoted(path)}]" for path in paths)]
        else:
            expanded.append(argument)
    return expanded


def with_cells_keys(arguments: Sequence[str]) -> list[str]:
    """Of a sweep, hands a key that is typed with one value to each cell, through the sweeper. Hydra would look for it in
    the config of the default options, where a key of `method.planner` is none, though all methods of the sweep have it."""
    single = [argument for argument in arguments if _sets_one_value(argument)]
    if not single or not {"-m", "--multirun"} & set(arguments):
        return list(arguments)
    values = {key: value for key, _, value in (argument.partition("=") for argument in single)}
    pairs = ", ".join(f"{key}: {_quoted(value)}" for key, value in values.items())
    # In the place of the first one: Hydra wants what is typed in one row, before its flags or behind them.
    at = arguments.index(single[0])
    kept = [argument for argument in arguments[at:] if argument not in single]
    return [*arguments[:at], f"++hydra.sweeper.params={{{pairs}}}", *kept]


def _sets_one_value(argument: str) -> bool:
    """Whether it is a plain `key.key=value`, not of Hydra's own, and no sweep over values."""
    if not re.match(r"(?!hydra\.)\w+(\.\w+)+=", argument) or "${" in argument:
        return False
    try:
        return not OverridesParser.create().parse_override(argument).is_sweep_override()
    except HydraException:  # Hydra says so itself
        return False


def _quoted(text: str) -> str:
    """The text as a value of Hydra's grammar."""
    return QuotedString(text, Quote.single).with_quotes()


def explain(error: Exception, known_keys: Callable[[], Iterable[str]] | None = None) -> str:
    """The message of an error with what it was caused by and a hint where there is one, from the keys that there are: by
    default those of the config with the options that are typed. A `UsageError` says all by itself."""
    text = str(error).strip()
    if isinstance(error, UsageError):
        return text
    cause = error.__cause__
    if isinstance(cause, OmegaConfBaseException):
        text = f"{text} {str(cause).splitlines()[0]}".strip()
    text = text.replace("Error merging override ", "", 1)
    unknown = re.search(r"Could not override '([\w.@/]+)'", text)
    if unknown:
        key = unknown.group(1)
        return f"There is no key `{key}`. {suggest(key, (known_keys or _typed_keys)())}".strip()
    option = re.search(r"Could not find '([^']+)'", text)
    if option and "Available options" in text:
        group, _, name = option.group(1).rpartition("/")
        options = re.split(
            r"\s+", text.split("Available options in", 1)[1].split(":", 1)[1].split("Config search")[0]
        )
        return f"There is no {group}={name}. {suggest(name, [o for o in options if o])}".strip()
    if "parse error" in text.lower() or "mismatched input" in text or "LexerNoViableAlt" in text:
        text += (
            "\nA value with spaces, commas, quotes, brackets or non-ASCII letters has to be quoted twice, for the"
            " shell and for Hydra: 'key=\"put the lid on, then wait\"'. Better: put it into a YAML file."
        )
    return text


def _typed_keys() -> list[str]:
    """Dotted keys of the default config with the options that are typed."""
    from hydra import compose, initialize_config_module

    groups = [
        argument
        for argument in sys.argv[1:]
        if re.fullmatch(r"(method|env|llm|embedder|image_embedder|memory|retriever|tracker)=\w+", argument)
    ]
    with initialize_config_module("conf", version_base="1.3"):
        try:
            config = compose("config", overrides=groups)
        except HydraException:
            config = compose("config")
    return dotted_keys(config)
