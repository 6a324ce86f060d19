from __future__ import annotations

import json
import time
from email.utils import formatdate

import pytest

from harness.chat.openai.faults import of_response, shown

NOW = 1_760_000_000


def error(**said: object) -> str:
    return json.dumps({"error": said})


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "20"}, 20.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": formatdate(NOW + 7, usegmt=True), "date": formatdate(NOW, usegmt=True)}, 7.0),
        ({"retry-after": formatdate(NOW - 7, usegmt=True), "date": formatdate(NOW, usegmt=True)}, 0.0),
    ],
)
def test_how_long_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    """A date counts from the server's clock: it may differ from ours."""
    assert of_response(429, headers, "").retry_after == seconds


def test_a_date_counts_from_our_clock_where_the_server_tells_none() -> None:
    headers = {"retry-after": formatdate(time.time() + 1000, usegmt=True)}
    assert of_response(429, headers, "").retry_after == pytest.approx(1000, abs=100)


@pytest.mark.parametrize(
    ("status", "text", "kind"),
    [
        (429, error(message="slow down", code="rate_limit_exceeded"), "rate"),
        (429, error(message="no money", code="insufficient_quota"), "quota"),
        (429, error(message="no money", code=None, type="insufficient_quota"), "quota"),
        (403, error(message="no money", code="billing_not_active"), "quota"),
        (402, error(message="Insufficient Balance"), "quota"),
        (429, "<html>", "rate"),
        (429, "", "rate"),
        (500, error(message="oops"), "outage"),
        (529, error(message="overloaded"), "outage"),
        (500, error(message="audio input is not supported - hint: you may need another file"), "request"),
        (400, error(message="bad"), "request"),
        (400, error(message="filtered", code="content_filter"), "reply"),
        (418, "[]", "request"),
    ],
)
def test_what_helps(status: int, text: str, kind: str) -> None:
    fault = of_response(status, {}, text)
    assert fault.kind == kind
    assert fault.passes == (kind in ("rate", "outage"))


def test_what_is_shown_of_an_answer() -> None:
    assert shown("<HTML><title>\n502 Bad\n</title>") == "a page of HTML, '502 Bad'"
    assert shown("  <p>no title</p>") == "a page of HTML"
    assert shown("two\n words") == "two words"
    assert len(shown("word " * 1000)) == 300
    assert str(of_response(503, {}, "")) == "503: no reason was given"
