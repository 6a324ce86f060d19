"""Reads a server's answer into a `Reply`. An answer that is not in OpenAI's format is a `Fault`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from harness.chat.openai.faults import Fault, of_response, shown
from harness.chat.openai.prices import Prices
from harness.chat.openai.thinking import without_thinking
from harness.protocols import Reply


def read_answer(text: str, content_type: str, asked_model: str, prices: Prices) -> Reply:
    """The reply in an answer with status 200."""
    body = _parsed(text, content_type)
    if body.get("error") and not body.get("choices"):
        error = body["error"]
        code = error.get("code") if isinstance(error, Mapping) else None
        raise of_response(code if isinstance(code, int) else 400, {}, text)
    try:
        choice = body["choices"][0]
        message = choice["message"] if "message" in choice else {"content": choice["text"]}
        content = message.get("content")
    except (KeyError, IndexError, TypeError, AttributeError):
        raise Fault("request", f"the answer has no reply in it: {shown(text)}") from None
    answer, thinking = without_thinking(_text(content))
    beside = message.get("reasoning_content") or message.get("reasoning")
    details: dict[str, Any] = {}
    finish_reason = str(choice.get("finish_reason") or "unknown")
    if message.get("refusal"):
        answer, finish_reason, details["refusal"] = "", "refusal", str(message["refusal"])
    if thoughts := "\n".join(part for part in (_text(beside).strip(), thinking) if part):
        details["thinking"] = thoughts
    if body.get("system_fingerprint"):
        details["fingerprint"] = str(body["system_fingerprint"])
    model = str(body.get("model") or asked_model)
    return Reply(answer, finish_reason, model, details=details, **_usage(body, details, prices, asked_model))


def cut_at_stops(text: str, stops: Sequence[str]) -> str:
    """What stands before the first stop string, for models that do not take them."""
    for stop in stops:
        text = text.split(stop, 1)[0]
    return text


def _parsed(text: str, content_type: str) -> Mapping[str, Any]:
    try:
        body = json.loads(text)
    except ValueError:
        if "json" in content_type:
            raise Fault("outage", f"the answer breaks off: {shown(text) or 'it is empty'}") from None
        raise Fault("request", f"the answer is no JSON but {shown(text) or 'empty'}") from None
    if not isinstance(body, Mapping):
        raise Fault("request", f"the answer has no reply in it: {shown(text)}")
    return body


def _text(content: object) -> str:
    """A message's content: text, nothing, or a list of parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def _usage(
    body: Mapping[str, Any], details: dict[str, Any], prices: Prices, asked_model: str
) -> dict[str, Any]:
    usage = body.get("usage") or {}
    prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not isinstance(prompt, int) or not isinstance(completion, int):
        details["usage"] = "missing"
        return {"cost_usd": None}
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens")
    reasoning = (usage.get("completion_tokens_details") or {}).get("reasoning_tokens")
    if cached is not None:
        details["cached_prompt_tokens"] = cached
    if reasoning is not None:
        details["reasoning_tokens"] = reasoning
    price = prices.of(str(body.get("model") or ""), asked_model)
    cost = price.cost(prompt, cached or 0, completion) if price else None
    return {"prompt_tokens": prompt, "completion_tokens": completion, "cost_usd": cost}
