"""What can go wrong with a request, told apart by what helps against it. It decides no pause and raises nothing
to the outside."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Literal

QUOTA_CODES = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance"}
)
REFUSED_CODES = frozenset({"content_filter", "content_policy_violation"})
_OUT_OF_TOKENS = "max_tokens or model output limit was reached"
"""What OpenAI says, with status 400, when a model has spent its tokens on thinking."""
_PASSING = frozenset({408, 409, 425})
_SHOWN = 300


@dataclass(eq=False)
class Fault(Exception):
    """Why a request has no reply."""

    kind: Literal["rate", "outage", "quota", "request", "reply"]
    """`rate`, `outage`: wait and send it again. `quota`, `request`: do not. `reply`: the provider's answer stands for a
    reply with `finish_reason`."""
    message: str
    status: int | None = None
    retry_after: float | None = None
    """Seconds that the server asks to wait."""
    code: str = ""
    param: str = ""
    finish_reason: str = ""

    def __str__(self) -> str:
        return f"{self.status}: {self.message}" if self.status else self.message

    @property
    def passes(self) -> bool:
        return self.kind in ("rate", "outage")


def of_exception(error: Exception) -> Fault:
    """The fault behind an exception of the `openai` client."""
    import openai

    if isinstance(error, openai.APIStatusError):
        return of_response(error.status_code, error.response.headers, error.response.text)
    if isinstance(error, openai.APIConnectionError):
        return Fault("outage", f"the connection failed: {error.__cause__ or error}")
    return Fault("request", f"{type(error).__name__}: {error}")


def of_response(status: int, headers: Mapping[str, str], text: str) -> Fault:
    """The fault that a provider's error says."""
    error = _error(text)
    code = str(error.get("code") or error.get("type") or "")
    message = str(error.get("message") or error.get("detail") or shown(text) or "no reason was given")
    fault = Fault(
        "request", message, status, _retry_after(headers), code=code, param=str(error.get("param") or "")
    )
    if status == 402 or QUOTA_CODES & {str(error.get("code")), str(error.get("type"))}:
        fault.kind = "quota"
    elif code in REFUSED_CODES:
        fault.kind, fault.finish_reason = "reply", "content_filter"
    elif _OUT_OF_TOKENS in message:
        fault.kind, fault.finish_reason = "reply", "length"
    elif status == 429:
        fault.kind = "rate"
    elif (status >= 500 or status in _PASSING) and not _is_final(headers, message):
        fault.kind = "outage"
    return fault


def _is_final(headers: Mapping[str, str], message: str) -> bool:
    """Whether a server's own error stays: llama.cpp answers pictures that its model cannot see with 500."""
    return headers.get("x-should-retry") == "false" or "not supported" in message.lower()


def shown(text: str) -> str:
    """The beginning of an answer that is not what was expected; of a page of HTML its title."""
    title = re.search(r"<title>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
    if title or text.lstrip()[:1] == "<":
        return f"a page of HTML{f', {title[1].strip()!r}' if title else ''}"
    return " ".join(text.split())[:_SHOWN]


def _error(text: str) -> Mapping[str, Any]:
    """The object in which providers say what is wrong; they do not agree on where it stands."""
    try:
        body = json.loads(text)
    except ValueError:
        return {}
    error = body.get("error", body) if isinstance(body, Mapping) else body
    if isinstance(error, Mapping):
        return error
    return {"message": shown(error if isinstance(error, str) else json.dumps(error))}


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds from now. A date is taken against the server's own clock where it tells it."""
    value = headers.get("retry-after", "")
    try:
        seconds = float(value)
    except ValueError:
        until = _timestamp(value)
        if until is None:
            return None
        seconds = until - (_timestamp(headers.get("date", "")) or time.time())
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _timestamp(date: str) -> float | None:
    try:
        return parsedate_to_datetime(date).timestamp()
    except ValueError:
        return None
