"""A chat model against a real server on loopback: what is sent, and what becomes of everything that can go wrong."""

from __future__ import annotations

import asyncio
import base64
import fcntl
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.chat.openai import OpenAIChat
from harness.chat.openai.shared import folder_of
from harness.failures import ProviderError, QuotaError
from harness.protocols import Message, Reply, Sampling
from harness.testing.conformance import check_chat_model
from tests.harness.chat.openai.conftest import HELLO, KEY, Clock
from tests.harness.chat.wire import (
    Answer,
    Exchange,
    WireServer,
    after,
    content,
    cut_short,
    drips,
    fails,
    hangs_up,
    out_of_quota,
    page,
    rate_limited,
    says,
    stalls,
    stalls_in_body,
)

Ask = Callable[..., Reply]
PROJECT = Path(__file__).resolve().parents[4]


def test_it_conforms(configured: Callable[..., OpenAIChat]) -> None:
    check_chat_model(configured(), HELLO)


def test_what_is_sent(server: WireServer, ask: Ask) -> None:
    ask(
        [Message("system", "Be brief."), Message("user", "hello"), Message("assistant", "yes?")],
        Sampling(temperature=0.5, max_tokens=7, stop=("a", "b"), seed=2**62 + 5),
        extra={"cache_prompt": False},
    )
    assert server.bodies == [
        {
            "model": "gpt-4.1-mini",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "hello"},
                {"role": "assistant", "content": "yes?"},
            ],
            "temperature": 0.5,
            "max_tokens": 7,
            "stop": ["a", "b"],
            "seed": 5,
            "cache_prompt": False,
        }
    ]
    assert server.paths == ["/v1/chat/completions"]
    assert server.keys == [f"Bearer {KEY}"]


def test_pictures_are_data_urls_behind_the_text(server: WireServer, ask: Ask) -> None:
    ask(
        [Message("user", "two", images=(b"\x89PNG1", b"\x89PNG2")), Message("user", "", images=(b"3",))],
        detail="low",
    )
    first, second = (message["content"] for message in server.bodies[0]["messages"])
    assert [part["type"] for part in first] == ["text", "image_url", "image_url"]
    assert first[0]["text"] == "two"
    assert first[2]["image_url"] == {
        "url": "data:image/png;base64," + base64.b64encode(b"\x89PNG2").decode(),
        "detail": "low",
    }
    assert [part["type"] for part in second] == ["image_url"]


def test_what_a_reply_says(server: WireServer, ask: Ask) -> None:
    usage = {
        "prompt_tokens": 1000,
        "completion_tokens": 300,
        "prompt_tokens_details": {"cached_tokens": 400},
        "completion_tokens_details": {"reasoning_tokens": 200},
    }
    server.script.append(
        says("x = 1", usage=usage, model="gpt-4.1-mini-2025-04-14", system_fingerprint="fp_1")
    )
    reply = ask()
    assert (reply.text, reply.finish_reason, reply.model) == ("x = 1", "stop", "gpt-4.1-mini-2025-04-14")
    assert (reply.prompt_tokens, reply.completion_tokens, reply.cached) == (1000, 300, False)
    assert reply.cost_usd == pytest.approx((600 * 0.4 + 400 * 0.1 + 300 * 1.6) / 1e6)
    details = dict(reply.details)
    assert details.pop("seconds") >= 0
    assert details == {"cached_prompt_tokens": 400, "reasoning_tokens": 200, "fingerprint": "fp_1"}


def test_a_missing_count_is_no_count_of_zero(server: WireServer, ask: Ask) -> None:
    for usage in (None, {}, {"prompt_tokens": 5}):
        server.script.append(says("x = 1", usage=usage))
        reply = ask()
        assert (reply.prompt_tokens, reply.completion_tokens) == (0, 0)
        assert reply.cost_usd is None
        assert reply.details["usage"] == "missing"


def test_a_model_without_a_price_has_no_cost(ask: Ask) -> None:
    assert ask(model="no-such-model").cost_usd is None
    assert ask(prices=None).cost_usd is None
    assert ask().cost_usd > 0


@pytest.mark.parametrize(
    ("answer", "text", "finish_reason", "details"),
    [
        (says(None, "length", {"reasoning_content": "so"}), "", "length", {"thinking": "so"}),
        (says("", "stop"), "", "stop", {}),
        (says("x = np.zer", "length"), "x = np.zer", "length", {}),
        (says("<think>still thinking", "length"), "", "length", {"thinking": "still thinking"}),
        (says("<think>a</think>code"), "code", "stop", {"thinking": "a"}),
        (says("x", message={"reasoning": "b"}), "x", "stop", {"thinking": "b"}),
        (says(None, "stop", {"refusal": "I cannot."}), "", "refusal", {"refusal": "I cannot."}),
        (says("", "content_filter"), "", "content_filter", {}),
        (says("x", None), "x", "unknown", {}),
        (
            fails(400, "The prompt was filtered", "content_filter"),
            "",
            "content_filter",
            {"refusal": "The prompt was filtered"},
        ),
        (
            fails(400, "Could not finish the message because max_tokens or model output limit was reached."),
            "",
            "length",
            {"refusal": "Could not finish the message because max_tokens or model output limit was reached."},
        ),
    ],
)
def test_refused_empty_and_cut_off_replies_are_replies(
    server: WireServer, ask: Ask, answer: Answer, text: str, finish_reason: str, details: dict[str, str]
) -> None:
    """It is the method's to call them a failure of the model."""
    server.script.append(answer)
    reply = ask()
    assert (reply.text, reply.finish_reason) == (text, finish_reason)
    assert {key: value for key, value in reply.details.items() if key != "seconds"} == details
    assert len(server.bodies) == 1


PASSING: dict[str, Answer] = {
    "429": rate_limited(),
    "408": fails(408),
    "409": fails(409),
    "500": fails(500),
    "502 with a page": page(502),
    "503": fails(503, headers={"Retry-After": "0"}),
    "429 in 200": content(b'{"error": {"message": "upstream is busy", "code": 429}}'),
    "half an answer": cut_short(),
    "half a JSON": content(b'{"choices": [{"mess'),
    "nothing": content(b""),
    "closed": hangs_up,
}
SAID: dict[str, str] = {
    "429": "429: Rate limit reached for requests",
    "408": "408: it does not work",
    "409": "409: it does not work",
    "500": "500: it does not work",
    "502 with a page": "502: a page of HTML, 'Bad gateway'",
    "503": "503: it does not work",
    "429 in 200": "429: upstream is busy",
    "half an answer": "the connection failed: ",
    "half a JSON": 'the answer breaks off: {"choices": [{"mess',
    "nothing": "the answer breaks off: it is empty",
    "closed": "the connection failed: ",
}


@pytest.mark.parametrize("fault", PASSING)
def test_what_passes_is_sent_again(server: WireServer, ask: Ask, fault: str) -> None:
    server.script += [PASSING[fault], PASSING[fault]]
    reply = ask()
    assert reply.text == "x = 1"
    assert reply.details["retries"] == len(reply.details["retried"]) == 2
    assert len(server.bodies) == 3
    assert server.bodies[0] == server.bodies[2]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (fails(401, f"Incorrect API key provided: {KEY}."), r"401: Incorrect API key provided: \*\*\*\."),
        (fails(403, "Country not supported"), "403: Country not supported"),
        (fails(404, "The model `x` does not exist", "model_not_found"), "404: The model `x` does not exist"),
        (fails(400, "This model's maximum context length is 8192 tokens."), "400: .* maximum context length"),
        (
            fails(400, "max_tokens is too large: 9. This model supports at most 5", param="max_tokens"),
            "400: max_tokens",
        ),
        (fails(500, "image input is not supported"), "500: image input is not supported"),
        (fails(503, "overloaded", headers={"x-should-retry": "false"}), "503: overloaded"),
        (content(b'{"detail": "Not Found"}', status=404), "404: Not Found"),
        (content(b'{"error": "model not loaded"}', status=400), "400: model not loaded"),
        (content(b"plain words", "text/plain", 418), "418: plain words"),
        (page(200), "the answer is no JSON but a page of HTML, 'Bad gateway'"),
        (content(b'{"choices": []}'), "the answer has no reply in it"),
        (content(b'{"choices": [{"message": null}]}'), "the answer has no reply in it"),
        (content(b"[1]"), "the answer has no reply in it"),
        (content(b'{"error": {"message": "no such provider", "code": 400}}'), "400: no such provider"),
    ],
)
def test_what_stays_is_not_sent_again(server: WireServer, ask: Ask, answer: Answer, message: str) -> None:
    server.script.append(answer)
    with pytest.raises(ProviderError, match=message) as caught:
        ask()
    assert caught.value.kind == "provider"
    assert f"gpt-4.1-mini at {server.url}" in str(caught.value)
    assert KEY not in str(caught.value)
    assert len(server.bodies) == 1


@pytest.mark.parametrize(
    "answer",
    [
        out_of_quota(),
        fails(402, "Insufficient Balance"),
        fails(403, "Hard limit", "billing_hard_limit_reached"),
    ],
)
def test_a_spent_quota_is_no_rate_limit(server: WireServer, ask: Ask, answer: Answer) -> None:
    server.always = answer
    with pytest.raises(QuotaError) as caught:
        ask()
    assert caught.value.kind == "quota"
    assert len(server.bodies) == 1


def test_the_key_is_in_no_traceback(server: WireServer, ask: Ask) -> None:
    import traceback

    server.always = fails(401, f"No such key: Bearer {KEY}")
    try:
        ask()
    except ProviderError:
        assert KEY not in traceback.format_exc()
    server.script.append(fails(429, f"Slow down, {KEY}"))
    server.always = says("x = 1")
    assert KEY not in repr(ask())


def test_the_server_says_how_long_to_wait(server: WireServer, ask: Ask) -> None:
    """The pauses of the test are of 10 ms, so that it is Retry-After that makes the waiting."""
    arrivals = []

    def arrives(then: Answer) -> Answer:
        def answer(exchange: Exchange) -> None:
            arrivals.append(time.monotonic())
            then(exchange)

        return answer

    server.script += [
        arrives(rate_limited("1")),
        arrives(fails(503, headers={"Retry-After": "0.5"})),
        arrives(says("x = 1")),
    ]
    reply = ask(deadline=60.0)
    waits = [later - earlier for earlier, later in itertools.pairwise(arrivals)]
    assert waits[0] >= 1.0
    assert waits[1] >= 0.5
    assert reply.details["retries"] == 2


def test_a_wait_beyond_the_deadline_is_not_begun(server: WireServer, ask: Ask) -> None:
    server.always = rate_limited("3600")
    with pytest.raises(ProviderError, match=r"429: Rate limit .*asks to wait 3600 s; llm\.deadline=300"):
        ask()
    assert len(server.bodies) == 1


def test_a_rate_limit_that_stays_ends_at_the_deadline(server: WireServer, ask: Ask, clock: Clock) -> None:
    """Pauses of up to 0.01, 0.02, ... s, at least half of that: the seventh or eighth would be over too late."""
    server.always = rate_limited()
    with pytest.raises(
        ProviderError, match=r"429: Rate limit .* \([78] attempts; llm\.deadline=1\)"
    ) as caught:
        ask(deadline=1.0)
    assert caught.value.kind == "provider"
    assert len(server.bodies) in (7, 8)
    assert clock.now < 1.0


@pytest.mark.parametrize("fault", PASSING)
def test_a_deadline_that_cuts_an_attempt_leaves_what_was_said_before(
    server: WireServer, ask: Ask, clock: Clock, fault: str
) -> None:
    server.script += [PASSING[fault], PASSING[fault]]
    server.always = clock.takes(1000.0, stalls)
    with pytest.raises(ProviderError) as caught:
        ask()
    told = str(caught.value)
    assert SAID[fault] in told
    assert told.endswith("(2 attempts, then there was no answer; llm.deadline=300)")
    assert len(server.bodies) == 3


def test_a_deadline_without_a_place_leaves_what_was_said_before(
    server: WireServer, ask: Ask, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process takes the only place in the pause after the first attempt."""
    folder, pause, held = folder_of(server.url, "gpt-4.1-mini"), asyncio.sleep, []

    async def sleep(seconds: float) -> None:
        if not held:
            held.append(open(folder / "place-0", "a"))  # noqa: SIM115
            fcntl.flock(held[0], fcntl.LOCK_EX)
        await pause(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    server.always = fails(503, "overloaded")
    with pytest.raises(
        ProviderError,
        match=r"503: overloaded \(1 attempt, then none of 1 places came free; llm\.deadline=300\)",
    ):
        ask(concurrency=1)
    held[0].close()
    assert len(server.bodies) == 1


@pytest.mark.parametrize("answer", [stalls, stalls_in_body, drips(0.02)], ids=["stalls", "in body", "drips"])
def test_attempts_that_hang_end_and_so_does_the_call(
    server: WireServer, ask: Ask, clock: Clock, answer: Answer
) -> None:
    server.always = clock.takes(121.0, answer)
    with pytest.raises(ProviderError) as caught:
        ask(timeout=120.0, deadline=300.0)
    told = "there was no answer within 120 s (2 attempts, then there was no answer; llm.deadline=300)"
    assert str(caught.value).endswith(told)
    assert len(server.bodies) == 3


def test_a_deadline_in_the_first_attempt(server: WireServer, ask: Ask, clock: Clock) -> None:
    server.always = clock.takes(31.0, stalls)
    with pytest.raises(ProviderError, match=r": there was no answer \(1 attempt; llm\.deadline=30\)"):
        ask(deadline=30.0)


@pytest.mark.parametrize("answer", [stalls, drips(0.2)], ids=["stalls", "drips"])
def test_the_wall_clock_bounds_a_server_that_hangs(server: WireServer, ask: Ask, answer: Answer) -> None:
    """With the machine's own clock. It would take until the end of the test run, or the 12 s of the drip."""
    server.always = answer
    with pytest.raises(ProviderError, match=r"there was no answer.*llm\.deadline=0\.7"):
        ask(timeout=0.3, deadline=0.7)


def test_one_attempt_that_hangs_costs_its_own_time_only(server: WireServer, ask: Ask, clock: Clock) -> None:
    server.script.append(clock.takes(121.0, stalls))
    reply = ask()
    assert reply.details["retried"] == ["there was no answer within 120 s"]


def test_nobody_there(server: WireServer, ask: Ask, clock: Clock) -> None:
    ask()
    server.stop()
    with pytest.raises(ProviderError, match="the connection failed: "):
        ask()
    assert 270.0 < clock.now < 300.0


def test_a_server_that_comes_back_is_asked_again(server: WireServer, ask: Ask) -> None:
    """An outage in the middle of a call is waited for."""
    started: list[WireServer] = []

    def dies(exchange: Exchange) -> None:
        exchange.close_connection = True
        threading.Thread(target=restart).start()

    def restart() -> None:
        server.stop()
        started.append(WireServer(says("back"), server.port))

    server.script.append(dies)
    reply = ask(deadline=60.0)
    started[0].stop()
    assert reply.text == "back"
    assert reply.details["retries"] >= 1


def test_no_proxy_stands_before_loopback(
    server: WireServer, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    assert ask(deadline=60.0).text == "x = 1"


def test_threads_share_a_model(server: WireServer, ask: Ask) -> None:
    ask()
    server.always = after(0.05, says("x = 1"))
    replies: list[Reply] = []
    threads = [threading.Thread(target=lambda: replies.append(ask())) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [reply.text for reply in replies] == ["x = 1"] * 12
    assert 1 < server.most_in_flight <= 8


STALLED = """
import signal, sys
from harness.chat.openai import OpenAIChat
from harness.protocols import Message, Sampling
signal.signal(signal.SIGINT, signal.default_int_handler)
model = OpenAIChat(model="m", base_url=sys.argv[1], timeout=900.0, deadline=900.0).open()
try:
    model.complete([Message("user", "hello")], Sampling())
except KeyboardInterrupt:
    model.close()
    print("interrupted")
"""


@pytest.mark.slow
def test_ctrl_c_ends_a_call_at_once(server: WireServer) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", STALLED, server.url], cwd=PROJECT, stdout=subprocess.PIPE, text=True
    )
    asked = threading.Event()

    def answer(exchange: Exchange) -> None:
        asked.set()
        stalls(exchange)

    server.always = answer
    assert asked.wait(300)
    os.kill(child.pid, signal.SIGINT)
    printed, _ = child.communicate(timeout=300)
    assert printed == "interrupted\n"


def test_what_it_is_not_given_it_does_not_say(configured: Callable[..., Any]) -> None:
    config = configured()
    model = config.open()
    try:
        assert KEY not in repr(config) + repr(model) + repr(vars(config))
    finally:
        model.close()
