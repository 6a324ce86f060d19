"""Chat models behind a server that speaks OpenAI's wire format, through the `openai` client: OpenAI itself, vLLM,
Ollama, llama.cpp. This module is the config; it imports no client and sends nothing.

What `Reply.details` says, where there is something to say:

| key | |
|---|---|
| `seconds` | that the served request took, without waiting for a place, pauses and failed attempts |
| `retries`, `retried` | how many attempts failed before, and why each did |
| `cached_prompt_tokens`, `reasoning_tokens` | parts of the two token counts, as the server counts them |
| `usage` | `missing`: the server did not count; tokens are 0 and the cost is unknown |
| `thinking` | what was taken out of the text: a `<think>` block, or what the server sent beside it |
| `refusal` | the model's words, with the finish reason `refusal` and an empty text |
| `dropped`, `renamed` | parameters of this request that the model refuses, left out or sent by another name |
| `fingerprint` | the server's name for its own configuration |

Finish reasons are the server's own (`stop`, `length`, `content_filter`, ...), and beside them `refusal`, and
`unknown` where it gave none. A reply that was cut off is not asked for again with a larger budget.
"""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Literal
from urllib.parse import SplitResult, urlsplit

from harness.addresses import is_local
from harness.failures import UsageError

if TYPE_CHECKING:
    from harness.protocols import ChatModel, Problem, Sampling

OURS = frozenset(
    {"model", "messages", "prompt", "stream", "n", "temperature", "max_tokens", "max_completion_tokens"}
    | {"stop", "seed"}
)
"""Request parameters that have their own place: `sampling`, `llm.model`, or none."""


@dataclass(frozen=True)
class OpenAIChat:
    """The config behind `conf/llm/{openai,vllm,ollama,llamacpp}.yaml`."""

    model: str
    base_url: str = "https://api.openai.com/v1"
    api_key_env: str | None = "OPENAI_API_KEY"
    """Environment variable that holds the key; null for a server that wants none. The key itself is in no config."""
    layout: Literal["chat", "completion"] = "chat"
    """Messages, or one text that the model continues: few-shot programs as the code that they are, see `layout`."""
    detail: Literal["auto", "low", "high"] = "auto"
    """Resolution at which the model looks at pictures."""
    extra: dict[str, Any] = field(default_factory=dict)
    """More request parameters, sent as they stand, such as `reasoning_effort` or llama.cpp's `grammar`."""
    timeout: float = 120.0
    """Wall-clock seconds for one attempt."""
    deadline: float = 300.0
    """Wall-clock seconds for a call, with its waiting, pauses and all attempts."""
    concurrency: int = 8
    """Most requests in flight to this model, of all processes of this machine; fewer while it limits the rate."""
    prices: str | None = None
    """USD per million tokens: `shipped`, a YAML file of your own, or null, so that the cost is unknown."""

    incidental: ClassVar[tuple[str, ...]] = ("api_key_env", "timeout", "deadline", "concurrency", "prices")
    """Keys that cannot change an answer, and so are no part of a cell's identity."""

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"base_url is {self.base_url!r}; it looks like http://127.0.0.1:8000/v1")
        if parts.username or parts.password:
            raise ValueError("base_url holds a password; put it in the variable that api_key_env names")
        if taken := OURS & set(self.extra):
            raise ValueError(f"extra cannot set {', '.join(sorted(taken))}; sampling.* and llm.model can")
        if not (self.timeout > 0 and self.deadline > 0 and self.concurrency >= 1):
            raise ValueError("timeout and deadline have to be above 0, and concurrency at least 1")

    def problems(self) -> list[Problem]:
        """What this machine lacks. It asks no provider; a server on this machine has to be up."""
        from harness.chat.openai.prices import read_prices
        from harness.protocols import Problem

        found = []
        if find_spec("openai") is None:
            found.append(Problem("The package openai is missing", "pip install 'engram[openai]'"))
        if self.api_key_env is not None and not self.key():
            found.append(
                Problem(f"The variable {self.api_key_env} is not set", f"export {self.api_key_env}=...")
            )
        if not self.key().isascii() or len(self.key().split()) > 1:
            found.append(
                Problem(
                    f"The variable {self.api_key_env} holds spaces or letters that no key has",
                    "Copy the key again",
                )
            )
        try:
            read_prices(self.prices)
        except UsageError as error:
            found.append(Problem(f"llm.prices: {error}", "Mend it, or set llm.prices=shipped"))
        if is_local(self.base_url) and not _is_up(urlsplit(self.base_url)):
            found.append(
                Problem(f"Nothing answers at {self.base_url}", "Start the server, or set llm.base_url=...")
            )
        return found

    def is_priced(self) -> bool:
        """Whether the cost of its replies is known."""
        from harness.chat.openai.prices import read_prices

        return read_prices(self.prices).of(self.model) is not None

    def probe(self, sampling: Sampling) -> list[Problem]:
        """Ask the model one question: whether it is there, and which parameters it refuses."""
        from harness.chat.openai.model import OpenAIModel

        model = OpenAIModel(self)
        try:
            return model.probe(sampling)
        finally:
            model.close()

    def open(self) -> ChatModel:
        from harness.chat.openai.model import OpenAIModel

        return OpenAIModel(self)

    def key(self) -> str:
        """The key, or nothing. Never put it where it is kept."""
        return os.environ.get(self.api_key_env, "").strip() if self.api_key_env else ""


def _is_up(parts: SplitResult) -> bool:
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        socket.create_connection((parts.hostname or "", port), timeout=2.0).close()
    except OSError:
        return False
    return True
