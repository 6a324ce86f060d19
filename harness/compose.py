"""Composes the cells of a sweep. Hydra composes once per choice of config groups; plain `key=value`
overrides are then set on a copy, which gives the same config (a test compares) at a fraction of the time."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra.core.config_loader import ConfigLoader
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, OmegaConf

from harness.cells import Cell


class Composer:
    """Turns lists of overrides into cells."""

    def __init__(self, loader: ConfigLoader, master: DictConfig) -> None:
        self._loader, self._master = loader, master
        self._parser = OverridesParser.create(config_loader=loader)
        self._bases: dict[tuple[str, ...], tuple[DictConfig, Mapping[str, str]]] = {}
        self._groups: dict[str, bool] = {}

    def cell(self, overrides: Sequence[str]) -> Cell:
        """Compose one cell. Raises Hydra's `ConfigCompositionException` for what does not fit."""
        structure, values = self._parsed(overrides)
        base, choices = self._base(structure)
        config = copy.deepcopy(base)
        ConfigLoaderImpl._apply_overrides_to_config(values, config)
        return Cell(to_plain(config), choices, tuple(overrides))

    def keys(self, overrides: Sequence[str]) -> list[str]:
        """Dotted keys of a cell's config, before its values are set."""
        structure, _ = self._parsed(overrides)
        return dotted_keys(self._base(structure)[0])

    def _parsed(self, overrides: Sequence[str]) -> tuple[tuple[str, ...], list[Override]]:
        """Overrides that choose what is composed, and those that set a value in it."""
        parsed = self._parser.parse_overrides(list(overrides))
        values = [override for override in parsed if self._sets_a_value(override)]
        return tuple(str(o.input_line) for o in parsed if not self._sets_a_value(o)), values

    def _base(self, structure: tuple[str, ...]) -> tuple[DictConfig, Mapping[str, str]]:
        if structure not in self._bases:
            config = self._loader.load_sweep_config(self._master, list(structure))
            self._bases[structure] = split_hydra(config)
        return self._bases[structure]

    def _sets_a_value(self, override: Override) -> bool:
        """A plain `key=value` whose key is no config group, so that it cannot change what is composed."""
        plain = not (override.is_add() or override.is_force_add() or override.is_delete())
        key = override.key_or_group
        if override.package is not None or override.is_hydra_override() or not plain:
            return False
        if key not in self._groups:
            self._groups[key] = self._options(key.replace(".", "/")) != []
        return not self._groups[key]

    def _options(self, group: str) -> list[str]:
        """Options of a group, also of one that only an added search path holds."""
        hydra = self._master.hydra
        return self._loader.get_group_options(
            group, config_name=hydra.job.config_name, overrides=list(hydra.overrides.hydra)
        )


def split_hydra(config: DictConfig) -> tuple[DictConfig, Mapping[str, str]]:
    """The config without Hydra's node, and the chosen option of each config group."""
    choices = {str(group): str(option) for group, option in config.hydra.runtime.choices.items()}
    ours = copy.copy(config)
    OmegaConf.set_struct(ours, False)
    ours.pop("hydra")
    OmegaConf.set_struct(ours, True)
    return ours, choices


def to_plain(config: DictConfig) -> dict[str, Any]:
    """Resolved containers; raises OmegaConf's error for a missing mandatory value."""
    plain = OmegaConf.to_container(config, resolve=True, throw_on_missing=True, enum_to_str=True)
    assert isinstance(plain, dict)
    return {str(key): value for key, value in plain.items()}


def dotted_keys(config: DictConfig) -> list[str]:
    """All keys of a config as they are typed, at any depth."""
    return list(_flat(config, ""))


def _flat(node: Any, prefix: str) -> Iterator[str]:
    for key in node:
        name = f"{prefix}{key}"
        yield name
        value = node._get_node(key)
        if hasattr(value, "keys") and not value._is_none() and not value._is_missing():
            yield from _flat(value, f"{name}.")
