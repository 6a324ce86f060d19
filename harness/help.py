"""`python run.py --help`. Hydra's own composes everything to list it, which takes longer than a small sweep."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from importlib.metadata import entry_points
from itertools import pairwise
from pathlib import Path

from harness import schema

CONF = Path(__file__).resolve().parent.parent / "conf"
TEXT = """\
Plays cells (method x environment x models x seed) and prints their table. Rerunning a command continues it.

  python run.py                                                  a small default
  python run.py method=retry env=tabletop env.scenes=2           one cell
  python run.py -m method=voxposer,retry env=tabletop seed=0,1,2 a sweep over a grid
  python run.py -m ... name=mine                                 into outputs/mine

Options, as in `method=retry`:
{groups}

Other keys, as in `run.workers=4`:
{keys}

Keys of an option: `python run.py method=retry --cfg job`. Hydra's flags: `--hydra-help`.
What this machine can run: `python -m harness doctor`.
"""


def text() -> str:
    """The page: config groups with their options, and the keys of the schema with their defaults."""
    groups = "\n".join(f"  {group:<16}{', '.join(options)}" for group, options in options_by_group().items())
    return TEXT.format(groups=groups, keys="\n".join(_keys(schema.Config, "")))


def options_by_group() -> dict[str, list[str]]:
    """Options of the config groups, those of other packages' entry points included."""
    found: dict[str, list[str]] = {}
    for folder in sorted(path for path in CONF.iterdir() if path.is_dir() and not path.name.startswith("_")):
        options = {path.stem for path in folder.glob("*.yaml")}
        options |= {entry.name for entry in entry_points(group=f"engram.{folder.name}")}
        if options:
            found[folder.name] = sorted(options)
    found["hydra/launcher"] = ["pool", "basic"]
    return found


def _keys(config: type, prefix: str) -> list[str]:
    described = _descriptions(config)
    lines = []
    for field in fields(config):
        name = f"{prefix}{field.name}"
        default = field.default_factory() if field.default_factory is not MISSING else field.default
        if is_dataclass(default):
            lines += _keys(type(default), f"{name}.")
        elif isinstance(default, Mapping):
            lines += [
                f"  {f'{name}.{key}={value}':<29} {described.get(field.name, '')}"
                for key, value in default.items()
            ]
        elif default != schema.MISSING:
            line = f"  {f'{name}={_shown(default)}':<29} {described.get(field.name, '')}"
            lines.append(line.rstrip())
    return lines


def _shown(default: object) -> str:
    """A default as it is typed."""
    return "null" if default is None else str(default).lower() if isinstance(default, bool) else str(default)


def _descriptions(config: type) -> dict[str, str]:
    """The strings below a dataclass's fields: Python drops them, so they are read from the source."""
    body = next(
        node.body
        for node in ast.parse(Path(schema.__file__).read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and node.name == config.__name__
    )
    found = {}
    for field, text in pairwise(body):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(text, ast.Expr)
        ):
            found[field.target.id] = " ".join(ast.literal_eval(text.value).split())
    return found
