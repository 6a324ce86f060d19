"""OpenAI's embedding models, or those of any server with the same API (vLLM, Ollama, llama.cpp), through the
`openai` client."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from harness.embedding.rows import unit_rows
from harness.failures import ProviderError, QuotaError
from harness.protocols import Problem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BATCH = 512
"""Texts in a request; the API takes 2048, and 300,000 tokens."""


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
        own = self.base_url or os.environ.get("OPENAI_BASE_URL")
        if not own and not os.environ.get(self.api_key_env):
            found.append(
                Problem(f"The variable {self.api_key_env} is not set", f"export {self.api_key_env}=...")
            )
        return found

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(N, dimensions) float32. Raises `ProviderError`, or `QuotaError` when the account is spent."""
        return unit_rows(texts, self.dimensions, self._asked)

    def _asked(self, texts: list[str]) -> NDArray[np.float32]:
        import numpy as np

        parts = [self._request(texts[i : i + _BATCH]) for i in range(0, len(texts), _BATCH)]
        return np.array([row for part in parts for row in part], dtype=np.float32)

    def _request(self, texts: list[str]) -> list[list[float]]:
        client = _client(self)
        from openai import OpenAIError

        try:
            reply = client.embeddings.create(
                model=self.model, input=texts, dimensions=self.dimensions, encoding_format="float"
            )
        except OpenAIError as error:
            kind = QuotaError if getattr(error, "code", None) == "insufficient_quota" else ProviderError
            raise kind(f"{self.model} embedded nothing: {type(error).__name__}: {error}") from error
        rows = {item.index: list(item.embedding) for item in reply.data}
        lengths = {len(row) for row in rows.values()}
        if set(rows) != set(range(len(texts))) or lengths != {self.dimensions}:
            raise ProviderError(
                f"{self.model} gave {len(rows)} vectors of length {', '.join(map(str, sorted(lengths)))}, "
                f"not {len(texts)} of length {self.dimensions}"
            )
        return [rows[i] for i in range(len(texts))]


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
        timeout=config.timeout,
        max_retries=config.retries,
    )
