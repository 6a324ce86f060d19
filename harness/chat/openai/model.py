"""The chat model: sends a request, waits where waiting helps, and gives up at the deadline. What a request looks like
is `layout`, what an answer means `answer` and `faults`, how many may be in flight `places`.

Requests run on an event loop in a thread of its own: there a wall clock can end any of them, also one of which a byte
comes now and then, and the caller's thread only waits, so that Ctrl-C ends it at once."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import openai
from harness.addresses import is_local
from harness.chat.openai import OpenAIChat
from harness.chat.openai.answer import cut_at_stops, read_answer
from harness.chat.openai.faults import Fault, of_exception
from harness.chat.openai.layout import as_messages, as_text
from harness.chat.openai.parameters import Adapted, Parameters
from harness.chat.openai.places import Places
from harness.chat.openai.prices import read_prices
from harness.chat.openai.shared import folder_of
from harness.failures import ProviderError, QuotaError
from harness.protocols import Message, Problem, Reply, Sampling

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 20.0
"""Seconds between two attempts; each pause is up to twice the one before."""
_PROBE = (Message("user", "Answer with the word OK."),)
_PROBE_ATTEMPTS = 3
_T = TypeVar("_T")


class _Cut(Exception):
    """The deadline came in the middle of an attempt; says what was waited for."""


class OpenAIModel:
    """Calls may come from several threads."""

    def __init__(self, config: OpenAIChat) -> None:
        self.name = config.model
        self._config = config
        self._key = config.key()
        folder = folder_of(config.base_url, config.model)
        self._places = Places(folder, config.concurrency)
        self._parameters = Parameters(folder, config.layout)
        self._prices = read_prices(config.prices)
        self._client = openai.AsyncOpenAI(
            api_key=self._key or "none",
            base_url=config.base_url,
            max_retries=0,
            timeout=None,  # the wall clock below bounds all of a request; this would bound a read
            http_client=openai.DefaultAsyncHttpxClient(trust_env=not is_local(config.base_url)),
        )
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="chat", daemon=True)
        self._thread.start()

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        """Raises `ProviderError` when there is no reply by the deadline or the request is refused, and `QuotaError`
        when the account is spent."""
        try:
            return self._run(self._complete(messages, sampling))
        except Fault as fault:
            raise self._error(fault) from None  # the cause may hold the key

    def probe(self, sampling: Sampling) -> list[Problem]:
        """Ask one short question with every parameter that calls may have. A rate limit is no problem."""
        self._parameters.forget()
        try:
            self._run(self._complete(_PROBE, replace(sampling, stop=("\n#",)), _PROBE_ATTEMPTS))
        except Fault as fault:
            return [] if fault.kind == "rate" else [Problem(str(self._error(fault)), self._advice(fault))]
        return []

    def close(self) -> None:
        self._run(self._client.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, task: Coroutine[Any, Any, _T]) -> _T:
        future = asyncio.run_coroutine_threadsafe(task, self._loop)
        try:
            return future.result()
        except BaseException:  # Ctrl-C, or the end of a program that asked
            future.cancel()
            raise

    async def _complete(
        self, messages: Sequence[Message], sampling: Sampling, attempts: float = float("inf")
    ) -> Reply:
        form, stops = self._form(messages)
        sampling = replace(sampling, stop=(*sampling.stop, *stops))
        retried: list[str] = []
        reason: Fault | None = None
        end = self._loop.time() + self._config.deadline
        while True:
            adapted = self._parameters.adapt(sampling)
            try:
                reply = await self._attempt(form, adapted.values, end)
                return _finished(reply, adapted, sampling, retried)
            except _Cut as cut:
                if reason is None:
                    raise self._given_up(Fault("outage", str(cut)), _attempts(len(retried) + 1)) from None
                # The last thing that was said, and not only that time ran out while it was asked once more.
                raise self._given_up(reason, f"{_attempts(len(retried))}, then {cut}") from None
            except Fault as fault:
                if fault.kind == "reply":
                    said = {"refusal": self._clean(fault.message)}
                    reply = Reply("", fault.finish_reason, self.name, details=said)
                    return _finished(reply, adapted, sampling, retried)
                if not self._parameters.learn(fault, adapted.values):
                    await self._pause(fault, len(retried) + 1, attempts, end)
                    reason = fault
                retried.append(self._clean(str(fault)))

    def _form(self, messages: Sequence[Message]) -> tuple[Mapping[str, Any], tuple[str, ...]]:
        """What the request says, and stop strings that its layout needs."""
        if self._config.layout == "chat":
            return {"messages": as_messages(messages, self._config.detail)}, ()
        prompt, stops = as_text(messages)
        return {"prompt": prompt}, stops

    async def _attempt(self, form: Mapping[str, Any], parameters: Mapping[str, Any], end: float) -> Reply:
        """One request, once there is a place for it. Raises `Fault`, and `_Cut` at the deadline."""
        waits = True
        try:
            async with asyncio.timeout_at(end), self._places.place():
                waits = False
                return await self._request(form, parameters)
        except TimeoutError:
            what = f"none of {self._places.allowed()} places came free" if waits else "there was no answer"
            raise _Cut(what) from None

    async def _request(self, form: Mapping[str, Any], parameters: Mapping[str, Any]) -> Reply:
        endpoint: Any = self._client.chat.completions if "messages" in form else self._client.completions
        sent, clock = time.time(), self._loop.time()
        try:
            async with asyncio.timeout(self._config.timeout):
                answer = await endpoint.with_raw_response.create(
                    model=self.name, **form, extra_body={**parameters, **self._config.extra}
                )
            served = answer.headers.get("content-type", "")
            reply = read_answer(answer.text, served, self.name, self._prices)
        except TimeoutError:
            raise Fault("outage", f"there was no answer within {self._config.timeout:g} s") from None
        except (openai.OpenAIError, Fault) as error:
            fault = error if isinstance(error, Fault) else of_exception(error)
            if fault.kind == "rate":
                self._places.limited(sent, min(fault.retry_after or 0.0, self._config.deadline))
            raise fault from None
        self._places.answered()
        return replace(reply, details={"seconds": round(self._loop.time() - clock, 4), **reply.details})

    async def _pause(self, fault: Fault, failed: int, attempts: float, end: float) -> None:
        """Wait before the next attempt, or raise the fault where waiting does not help or takes too long."""
        if not fault.passes:
            raise fault
        pause = min(FIRST_PAUSE * 2.0 ** (failed - 1), LONGEST_PAUSE) * random.uniform(0.5, 1.0)
        pause += fault.retry_after or 0.0
        if failed >= attempts or self._loop.time() + pause >= end:
            asked = f", the server asks to wait {fault.retry_after:g} s" if fault.retry_after else ""
            raise self._given_up(fault, f"{_attempts(failed)}{asked}")
        await asyncio.sleep(pause)

    def _given_up(self, fault: Fault, after: str) -> Fault:
        """The fault, with what was done against it."""
        return replace(fault, message=f"{fault.message} ({after}; llm.deadline={self._config.deadline:g})")

    def _error(self, fault: Fault) -> ProviderError:
        kind = QuotaError if fault.kind == "quota" else ProviderError
        return kind(self._clean(f"{self.name} at {self._config.base_url}: {fault}"))

    def _advice(self, fault: Fault) -> str:
        if fault.kind == "quota":
            return "Fill up the account, or use the key of another"
        if fault.kind == "outage":
            return "Start the server, or set llm.base_url=..."
        if fault.status in (401, 403):
            return f"Check the key in {self._config.api_key_env} (llm.api_key_env)"
        return "Check llm.model and llm.base_url" if fault.status == 404 else "Mend what the server names"

    def _clean(self, text: str) -> str:
        """Servers repeat the key that they do not know."""
        return text.replace(self._key, "***") if self._key else text


def _attempts(count: int) -> str:
    return f"{count} attempt{'s' * (count != 1)}"


def _finished(reply: Reply, adapted: Adapted, sampling: Sampling, retried: Sequence[str]) -> Reply:
    """The reply with what its request met."""
    details = dict(reply.details)
    if retried:
        details |= {"retries": len(retried), "retried": list(retried)}
    if adapted.renamed:
        details["renamed"] = dict(adapted.renamed)
    if not adapted.dropped:
        return replace(reply, details=details)
    details["dropped"] = list(adapted.dropped)
    text = cut_at_stops(reply.text, sampling.stop) if "stop" in adapted.dropped else reply.text
    finish_reason = "stop" if text != reply.text else reply.finish_reason
    return replace(reply, text=text, finish_reason=finish_reason, details=details)
