"""Tells Hydra of this project's launcher, sweeper and config schema. Hydra looks for plugins in a package
of this name and accepts no other place. Entry points of other packages are added here as well:
group `engram.env`, `engram.method`, `engram.llm`, `engram.embedder`, `engram.image_embedder`, `engram.memory`,
`engram.retriever`, `engram.executor` or `engram.tracker`, name = the option."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from importlib.metadata import entry_points
from typing import Any

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.config_store import ConfigStore

from harness import launcher
from harness.cluster import launchers
from harness.components import key_of
from harness.schema import Config

GROUPS = ("env", "method", "llm", "embedder", "image_embedder", "memory", "retriever", "executor", "tracker")


class PoolLauncher(launcher.PoolLauncher):
    """See `harness.launcher`."""


class SlurmLauncher(launchers.SlurmLauncher):
    """See `harness.cluster.launchers`."""


class RayLauncher(launchers.RayLauncher):
    """See `harness.cluster.launchers`."""


class CellSweeper(BasicSweeper):
    """Hydra's grid. What is typed replaces what an experiment sweeps over. It leaves the check of each job to
    `PoolLauncher`, which composes all before it plays any."""

    def sweep(self, arguments: list[str]) -> Any:
        typed = {argument.partition("=")[0].lstrip("+~") for argument in arguments}
        self.params = {key: value for key, value in (self.params or {}).items() if key not in typed}
        return super().sweep(arguments)

    def validate_batch_is_legal(self, batch: Sequence[Sequence[str]]) -> None:
        if not isinstance(self.launcher, launcher.PoolLauncher):
            super().validate_batch_is_legal(batch)


def register() -> None:
    store = ConfigStore.instance()
    store.store(name="engram", node=Config, provider="engram")
    store.store(
        group="hydra/launcher", name="pool", node={"_target_": f"{__name__}.PoolLauncher"}, provider="engram"
    )
    store.store(
        group="hydra/sweeper",
        name="cells",
        node={"_target_": f"{__name__}.CellSweeper", "max_batch_size": None, "params": None},
        provider="engram",
    )
    for group in GROUPS:
        for entry in entry_points(group=f"engram.{group}"):
            cls = entry.load()
            node = {"_target_": entry.value.replace(":", "."), **defaults(cls)}
            store.store(
                group=group,
                name=entry.name,
                node=node,
                provider=entry.dist.name if entry.dist else entry.name,
            )


def defaults(cls: type) -> dict[str, object]:
    """Keys and defaults of a config dataclass; a key without a default has to be given."""
    found: dict[str, object] = {}
    for field in dataclasses.fields(cls):
        if field.default is not dataclasses.MISSING:
            found[key_of(field)] = field.default
        elif field.default_factory is not dataclasses.MISSING:
            found[key_of(field)] = field.default_factory()
        else:
            found[key_of(field)] = "???"
    return found


register()
