"""OpenAI's embedding models, or those of any server with the same API (vLLM, Ollama, llama.cpp), through the
`openai` client."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from harness.addresses import is_local
from harness.embedding.rows import unit_rows
from harness.failures import ProviderError, QuotaError
from harness.protocols import Problem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BATCH = 512
"""Texts in a request; the API takes 2048, and 300,000 tokens."""
_KEPT = 20_000
"""Texts whose vectors a process keeps, the oldest goes first: 120 MB at 1536 components."""


@dataclass
class EmbeddingUsage:
    """What a process has asked of a model. What it had asked before costs nothing again."""

    requests: int = 0
    texts: int = 0
    tokens: int = 0
    """As the server counts them."""


@dataclass
class _Known:
    """The vectors that a process has of one model on one server, by text."""

    vectors: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    usage: EmbeddingUsage = field(default_factory=EmbeddingUsage)

    def keep(self, fresh: Mapping[str, NDArray[np.float32]]) -> None:
        self.vectors |= fresh
        for text in list(self.vectors)[: max(0, len(self.vectors) - _KEPT)]:
            del self.vectors[text]


@dataclass(frozen=True)
class OpenAIEmbedder:
    """The config behind `conf/embedder/openai.yaml`."""

    model: str = "text-embedding-3-small"
    dimensions: int = 1536
    """Components that are asked for."""
    base_url: str | None = None
    """Of another server; null: OPENAI_BASE_URL or OpenAI's own."""
    api_key_env: str = "OPENAI_API_KEY"
    """Environment variable that holds the key. A server of your own may need none."""
    timeout: float = 60.0
    """Seconds for a request."""
    retries: int = 4
    """How often a request is sent again after a rate limit, a time-out or a server's error."""

    def problems(self) -> list[Problem]:
        found = []
        if find_spec("openai") is None:
            found.append(Problem("embedder=openai needs the package openai", "pip install 'engram[openai]'"))
        own = self._server()
        if not own and not os.environ.get(self.api_key_env):
            found.append(
                Problem(f"The variable {self.api_key_env} is not set", f"export {self.api_key_env}=...")
            )
        return found

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(N, dimensions) float32. A text is sent once a process. Raises `ProviderError`, or `QuotaError` when the
        account is spent."""
        return unit_rows(texts, self.dimensions, self._vectors)

    def usage(self) -> EmbeddingUsage:
        """What this process has spent on the model so far."""
        return replace(self._known().usage)

    def _vectors(self, texts: list[str]) -> NDArray[np.float32]:
        import numpy as np

        known = self._known()
        missing = [text for text in dict.fromkeys(texts) if text not in known.vectors]
        found = {text: known.vectors[text] for text in texts if text in known.vectors}
        for start in range(0, len(missing), _BATCH):
            part = missing[start : start + _BATCH]
            rows = np.array(self._request(part, known.usage), dtype=np.float32)
            fresh = dict(zip(part, rows, strict=True))
            known.keep(fresh)  # at once: a later part may fail
            found |= fresh
        return np.array([found[text] for text in texts])

    def _known(self) -> _Known:
        return _known(self.model, self._server(), self.dimensions)

    def _server(self) -> str:
        """Empty for OpenAI's own."""
        return self.base_url or os.environ.get("OPENAI_BASE_URL") or ""

    def _request(self, texts: list[str], usage: EmbeddingUsage) -> list[list[float]]:
        client = _client(self)
        from openai import OpenAIError

        try:
            reply = client.embeddings.create(
                model=self.model, input=texts, dimensions=self.dimensions, encoding_format="float"
            )
        except OpenAIError as error:
            kind = QuotaError if getattr(error, "code", None) == "insufficient_quota" else ProviderError
            raise kind(f"{self.model} embedded nothing: {type(error).__name__}: {error}") from error
        usage.requests += 1
        usage.texts += len(texts)
        usage.tokens += reply.usage.total_tokens if reply.usage else 0
        rows = {item.index: list(item.embedding) for item in reply.data}
        lengths = {len(row) for row in rows.values()}
        if set(rows) != set(range(len(texts))) or lengths != {self.dimensions}:
            raise ProviderError(
                f"{self.model} gave {len(rows)} vectors of length {', '.join(map(str, sorted(lengths)))}, "
                f"not {len(texts)} of length {self.dimensions}"
            )
        return [rows[i] for i in range(len(texts))]


@cache
def _known(model: str, server: str, dimensions: int) -> _Known:
    """One a process."""
    return _Known()


@cache
def _client(config: OpenAIEmbedder) -> Any:
    """One a process, so that connections are kept."""
    try:
        import openai
    except ImportError as error:
        raise ProviderError(f"embedder=openai needs the package openai: {error}") from error
    return openai.OpenAI(
        api_key=os.environ.get(config.api_key_env) or "none",
        base_url=config.base_url,
        http_client=openai.DefaultHttpxClient(trust_env=not is_local(config._server())),
        timeout=config.timeout,
        max_retries=config.retries,
    )
