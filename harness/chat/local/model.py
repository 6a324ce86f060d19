"""The chat model of `llm=local`: sends a request to the process that has the model in memory, which is `server`."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.chat.local import RUNTIME, Local
from harness.chat.local.grammar import grammar_of
from harness.chat.local.server import Settings, Use
from harness.chat.local.weights import obtained
from harness.chat.openai.answer import read_answer
from harness.chat.openai.faults import Fault, of_response
from harness.chat.openai.layout import as_messages, as_text
from harness.chat.openai.prices import Price, Prices
from harness.failures import ProviderError
from harness.protocols import Message, Reply, Sampling

_FREE = Prices({"*": Price(0.0, 0.0, 0.0)})
_ATTEMPTS = 2


class LocalModel:
    """`Reply.details` has what llama.cpp says: how many tokens of the prompt were evaluated before."""

    def __init__(self, config: Local) -> None:
        """Raises `ProviderError` when the file cannot be had."""
        self.name = config.served
        self._config = config
        file = obtained(config.weights, config.path).resolve()
        runtime = config.fingerprint().split(" ", 1)[1]
        self._use = Use(Settings(str(file), config.threads, config.context, config.slots, runtime))

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        """Raises `ProviderError` for a request that is refused, and when there is no answer in time."""
        path, body = self._request(messages, sampling)
        for attempt in range(1, _ATTEMPTS + 1):
            started = time.monotonic()
            try:
                reply = self._answer(path, body)
                break
            except Fault as fault:
                raise ProviderError(f"{self.name}: {fault}") from None
            except TimeoutError:
                raise ProviderError(
                    f"{self.name}: no answer within {self._config.timeout:g} s (llm.timeout)"
                ) from None
            except (
                OSError,
                http.client.HTTPException,
            ) as error:  # its process has died; the next attempt starts it
                if attempt == _ATTEMPTS:
                    raise ProviderError(
                        f"{self.name}: its process ended {attempt} times at this request ({error!r}); it had printed: "
                        f"{self._use.log()}"
                    ) from None
        details = {"seconds": round(time.monotonic() - started, 4), **reply.details}
        return replace(reply, model=self.name, details=details)

    def close(self) -> None:
        self._use.close()

    def _request(self, messages: Sequence[Message], sampling: Sampling) -> tuple[str, Mapping[str, Any]]:
        """Where a request goes and what it says. Seeds are cut to the 31 bits that are taken."""
        stop = sampling.stop
        if self._config.layout == "chat":
            path, form = "/v1/chat/completions", {"messages": as_messages(messages, "auto")}
        else:
            text, stops = as_text(messages)
            path, form, stop = "/v1/completions", {"prompt": text}, (*stop, *stops)  # type: ignore[dict-item]
        drawn = {"temperature": sampling.temperature, "seed": sampling.seed & 0x7FFFFFFF}
        limits = {"max_tokens": sampling.max_tokens, "stop": list(stop)}
        grammar = grammar_of(self._config.grammar, messages)
        held = {} if grammar is None else {"grammar": grammar}
        return path, {**form, **drawn, **limits, **held, "cache_prompt": self._config.prompt_cache}

    def _answer(self, path: str, body: Mapping[str, Any]) -> Reply:
        address = self._use.address()
        connection = http.client.HTTPConnection("127.0.0.1", address.port, timeout=self._config.timeout)
        try:
            headers = {"Content-Type": "application/json", "Authorization": f"Bearer {address.key}"}
            connection.request("POST", path, json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read().decode(errors="replace")
        finally:
            connection.close()
        if answer.status != 200:
            raise of_response(answer.status, {}, text)
        return read_answer(text, answer.headers.get("Content-Type", ""), RUNTIME, _FREE)
