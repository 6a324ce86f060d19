"""`python -m harness doctor`: what on this machine can be used, and the command that mends what cannot."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from hydra import initialize_config_module
from hydra.core.global_hydra import GlobalHydra
from omegaconf import OmegaConf

from harness import __version__
from harness.chat import roles
from harness.components import build
from harness.failures import UsageError
from harness.protocols import Problem
from harness.sweep import cores

GROUPS = {
    "env": "environments",
    "llm": "models",
    "embedder": "embedders",
    "image_embedder": "image embedders",
    "tracker": "trackers",
}
DEFAULTS = {
    "env": "tabletop",
    "llm": "rules",
    "embedder": "lexical",
    "image_embedder": "colour_layout",
    "tracker": "none",
}
"""The choices of `conf/config.yaml`."""


@runtime_checkable
class HasParts(Protocol):
    """A component with parts that may be there or not, such as an environment's renderers."""

    def parts(self) -> Mapping[str, list[Problem]]:
        """Name of a part, for example "renderer egl", to what keeps it from being used."""
        ...


@dataclass(frozen=True)
class Finding:
    """One thing that a config can name."""

    kind: str
    name: str
    problems: tuple[Problem, ...] = ()


def examine() -> Iterator[Finding]:
    """Every option of every group, checked with its default settings."""
    yield Finding("python", f"{platform.python_version()} on {platform.system()}, {cores()} cores")
    with initialize_config_module("conf", version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
        for group, kind in GROUPS.items():
            for option in loader.get_group_options(group):
                yield from _examine_option(group, option, kind)
        for option in loader.get_group_options("hydra/launcher"):
            yield Finding("launchers", option)


def _examine_option(group: str, option: str, kind: str) -> Iterator[Finding]:
    from hydra import compose

    node = OmegaConf.to_container(compose("config", overrides=[f"{group}={option}"])[group], resolve=True)
    assert isinstance(node, dict)
    try:
        values = {str(key): value for key, value in node.items()}
        component = build(roles.base(values) if group == "llm" else values, group)
    except UsageError as error:
        yield Finding(kind, option, (Problem(str(error), "Mend its YAML or install its package."),))
        return
    yield Finding(kind, option, tuple(component.problems()))
    if isinstance(component, HasParts):
        for name, problems in component.parts().items():
            yield Finding(kind, f"{option}: {name}", tuple(problems))


def report() -> int:
    """Print what was found. Returns 0 when the default configuration can run, else 1."""
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    console.print(f"engram {__version__}", markup=False)
    heading, unusable = "", set()
    for finding in examine():
        if finding.kind != heading:
            heading = finding.kind
            console.print(f"\n[bold]{heading}[/bold]")
        mark = "[red]no [/red]" if finding.problems else "[green]yes[/green]"
        console.print(f"  {mark}  {finding.name}")
        if finding.problems:
            unusable.add((finding.kind, finding.name))
        for problem in finding.problems:
            console.print(f"         {problem.what}\n         -> {problem.fix}", markup=False)
    console.print()
    broken = [f"{group}={name}" for group, name in DEFAULTS.items() if (GROUPS[group], name) in unusable]
    if broken:
        console.print(f"`python run.py` cannot run here: see {', '.join(broken)}.", markup=False)
        return 1
    console.print("`python run.py` can run here.", markup=False)
    return 0
