"""The chat models that a process has open, by role: built from the `llm` node of a cell, behind the cache where it is
on. Cells and roles with the same config share one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from harness.chat import roles
from harness.chat.cache import CachedModel, ReplyCache
from harness.chat.keys import digest
from harness.components import build
from harness.protocols import ChatModel

if TYPE_CHECKING:
    from harness.cells import Cell
    from harness.records import EpisodeKey


@runtime_checkable
class AnswersEpisodes(Protocol):
    """An open model whose answers hang on the episode that asks, such as a replay."""

    def episode(self, cell: Cell, key: EpisodeKey) -> Callable[[str], ChatModel]:
        """Role to the model that plays it in that episode."""
        ...


class OpenModels:
    """Opens a model with its first use."""

    def __init__(self) -> None:
        self._models: dict[str, ChatModel] = {}
        self._caches: dict[Path, ReplyCache] = {}

    def of(self, cell: Cell, key: EpisodeKey) -> Callable[[str], ChatModel]:
        """Role to the model that plays it in an episode."""
        found: dict[str, ChatModel] = {}
        episodes: dict[str, Callable[[str], ChatModel]] = {}

        def model(role: str) -> ChatModel:
            if role not in found:
                node, where = roles.of_role(cell.config["llm"], role)
                name = digest([node, cell.config["cache"]])
                if name not in self._models:
                    self._models[name] = self._opened(node, where, cell.config["cache"]["path"])
                opened = self._models[name]
                if isinstance(opened, AnswersEpisodes):
                    if name not in episodes:
                        episodes[name] = opened.episode(cell, key)
                    opened = episodes[name](role)
                found[role] = opened
            return found[role]

        return model

    def close(self) -> None:
        for model in self._models.values():
            model.close()
        for cache in self._caches.values():
            cache.close()
        self._models.clear()
        self._caches.clear()

    def _opened(self, node: roles.Node, where: str, cache_path: str | None) -> ChatModel:
        config = build(node, where)
        if cache_path is None or not roles.is_cached(config):
            model: ChatModel = config.open()
            return model
        return CachedModel(where, roles.settings(node, where), self._cache(Path(cache_path)), config.open)

    def _cache(self, path: Path) -> ReplyCache:
        path = path.resolve()
        if path not in self._caches:
            self._caches[path] = ReplyCache(path)
        return self._caches[path]
