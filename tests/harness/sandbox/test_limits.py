"""Each limit ends a program with its own message, and the process is as usable afterwards as before."""

from __future__ import annotations

import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from harness.failures import CodeFailure, UsageError
from harness.sandbox import Limits, Sandbox
from harness.sandbox.limits import MAX_NESTED

resource = pytest.importorskip("resource")
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux only")

SHORT = Limits(seconds=0.2)
LONG = 60.0
"""Seconds that no program here needs, on any machine."""


def process_state() -> tuple[object, ...]:
    return (
        resource.getrlimit(resource.RLIMIT_AS),
        signal.getsignal(signal.SIGALRM),
        signal.getitimer(signal.ITIMER_REAL),
        signal.getitimer(signal.ITIMER_PROF),
        threading.active_count(),
        sys.getrecursionlimit(),
    )


@pytest.fixture(autouse=True)
def usable_afterwards() -> Iterator[None]:
    """The process has its limits, handlers, timers and threads back, and a program runs as usual."""
    before = process_state()
    yield
    assert process_state() == before
    program = Sandbox(Limits(seconds=LONG)).compile(
        "print('ok')\nret_val = float(np.ones(1000).sum()) + len(words())", {"words": lambda: ["a"] * 3}
    )
    assert program.run() == {"ret_val": 1003.0}
    assert program.output == "ok\n"


def failure(code: str, limits: Limits, **api: object) -> str:
    with pytest.raises(CodeFailure) as caught:
        Sandbox(limits).compile(code, api).run()
    assert caught.value.kind == "code"
    return str(caught.value)


# Time

ENDLESS = {
    "loop": "x = 1\nwhile x:\n    x += 1",
    "in a function": "def f():\n    while True:\n        pass\nf()",
    "in a handler": "while True:\n    try:\n        while True:\n            pass\n    except:\n        pass",
    "in finally": "try:\n    while True:\n        pass\nfinally:\n    while True:\n        pass",
    "in a generator": "def f():\n    while True:\n        yield 1\nsum(f())",
    "in a key function": "def key(x):\n    while True:\n        pass\nsorted([2, 1], key=key)",
    "in NumPy's hands": "def f(x):\n    while True:\n        pass\nnp.vectorize(f)(np.arange(3))",
}
OVER_TIME = re.compile(r"line \d: ran longer than 0\.2 s of its own time \(`.+`\)")


@pytest.mark.parametrize("code", ENDLESS.values(), ids=ENDLESS.keys())
def test_time(code: str) -> None:
    assert OVER_TIME.fullmatch(failure(code, SHORT))


@pytest.mark.parametrize("code", ENDLESS.values(), ids=ENDLESS.keys())
def test_time_off_the_main_thread(code: str) -> None:
    with ThreadPoolExecutor(1) as pool:
        assert OVER_TIME.fullmatch(pool.submit(failure, code, SHORT).result())
        assert pool.submit(Sandbox().compile("ret_val = 1", {}).run).result() == {"ret_val": 1}


def test_two_threads_have_a_clock_each() -> None:
    with ThreadPoolExecutor(2) as pool:
        endless = pool.submit(failure, "while True:\n    pass", SHORT)
        other = pool.submit(Sandbox(Limits(seconds=LONG)).compile("ret_val = sum(range(1000))", {}).run)
        assert OVER_TIME.fullmatch(endless.result())
        assert other.result() == {"ret_val": 499500}


def test_time_in_the_api_is_not_the_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    passed = [0.0]
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + passed[0])
    monkeypatch.setattr("harness.sandbox.running.time", clock)

    def wait() -> None:
        passed[0] += 1000.0
        time.sleep(0.02)  # so that somebody looks at the clock

    code = "for i in range(30):\n    wait()\nret_val = i"
    assert Sandbox(Limits(seconds=LONG)).compile(code, {"wait": wait}).run()["ret_val"] == 29


def test_time_adds_up_between_calls_of_the_api() -> None:
    code = "while True:\n    wait()\n    for i in range(1000):\n        pass"
    limits = Limits(seconds=0.2, api_calls=10**9)
    assert OVER_TIME.fullmatch(failure(code, limits, wait=lambda: None))


def test_programs_inside_programs_have_a_clock_each() -> None:
    inner = Sandbox(SHORT).compile("while True:\n    pass", {})
    outer = Sandbox(Limits(seconds=LONG))
    caught: list[str] = []

    def run() -> None:
        try:
            inner.run()
        except CodeFailure as error:
            caught.append(str(error))

    assert outer.compile("run()\nrun()\nret_val = 1", {"run": run}).run() == {"ret_val": 1}
    assert len(caught) == 2
    assert all(map(OVER_TIME.fullmatch, caught))


def test_a_program_can_run_again_after_its_limit() -> None:
    endless = [True]
    code = "while endless():\n    while endless():\n        pass\nret_val = 1"
    program = Sandbox(Limits(seconds=LONG, api_calls=100)).compile(code, {"endless": lambda: endless[0]})
    with pytest.raises(CodeFailure, match="more than 100 times"):
        program.run()
    endless[0] = False
    assert program.run() == {"ret_val": 1}


# Memory

SMALL = Limits(seconds=LONG, memory_mb=64)
MEGABYTE_OF_FLOATS = 2**17
LARGE = {
    "one array": ("x = 1\nx = np.ones(10**9)", 2),
    "many arrays": ("x = []\nwhile True: x.append(np.ones(10**5))", 2),
    "a text that doubles": ("x = 'a' * 1000\nwhile True: x += x", 2),
    "a list that grows": ("x = []\nwhile True: x.append('a' * 10**5)", 2),
    "caught": ("try:\n    x = np.ones(10**9)\nexcept BaseException:\n    pass", 2),
    "a function's": ("def f():\n    return np.ones(10**9)\n\nf()", 2),
}


@linux_only
@pytest.mark.parametrize(("code", "line"), LARGE.values(), ids=LARGE.keys())
def test_memory(code: str, line: int) -> None:
    quoted = code.splitlines()[line - 1].strip()
    assert failure(code, SMALL) == f"line {line}: needs more than 64 MB of memory (`{quoted}`)"
    assert np.ones(100 * MEGABYTE_OF_FLOATS)[-1] == 1  # the process is not limited


@linux_only
def test_memory_below_the_limit() -> None:
    code = f"x = np.ones(32 * {MEGABYTE_OF_FLOATS})\nret_val = x.nbytes"
    assert Sandbox(SMALL).compile(code, {}).run()["ret_val"] == 32 * 2**20


@linux_only
def test_memory_that_was_let_go_does_not_count() -> None:
    code = f"for i in range(20):\n    x = np.ones(16 * {MEGABYTE_OF_FLOATS})\nret_val = i"
    assert Sandbox(SMALL).compile(code, {}).run()["ret_val"] == 19


@linux_only
def test_memory_that_the_api_takes_and_gives_back_does_not_count() -> None:
    def work() -> float:
        return float(np.ones(200 * MEGABYTE_OF_FLOATS)[-1])

    assert Sandbox(SMALL).compile("ret_val = work()", {"work": work}).run() == {"ret_val": 1.0}


@linux_only
def test_memory_that_the_api_leaves_behind_counts() -> None:
    code = "x = work()\nret_val = 1"
    message = failure(code, SMALL, work=lambda: np.ones(200 * MEGABYTE_OF_FLOATS))
    assert message == "line 1: needs more than 64 MB of memory (`x = work()`)"


# Output and calls


@pytest.mark.parametrize(
    ("code", "kept"),
    [
        ("print('a' * 6)\nprint('b' * 6)\nrecord(1)", "aaaaaa\n"),
        ("print('a')\nprint('b' * 10, end='')", "a\n"),
        ("print('a')\ntry: print('b' * 99)\nexcept BaseException: record(1)", "a\n"),
        ("print('a')\nwhile True: print('', end='bbbbbb')", "a\nbbbbbb"),
    ],
    ids=["two lines", "no end", "caught", "loop"],
)
def test_output(code: str, kept: str, capsys: pytest.CaptureFixture[str]) -> None:
    recorded: list[int] = []
    program = Sandbox(Limits(seconds=LONG, output_chars=10)).compile(code, {"record": recorded.append})
    with pytest.raises(CodeFailure) as caught:
        program.run()
    quoted = code.splitlines()[1].strip()
    assert str(caught.value) == f"line 2: printed more than 10 characters (`{quoted}`)"
    assert program.output == kept
    assert recorded == []
    assert capsys.readouterr() == ("", "")


def test_output_up_to_the_limit() -> None:
    program = Sandbox(Limits(seconds=LONG, output_chars=10)).compile("print('a' * 9)", {})
    assert program.run() == {}
    assert program.output == "a" * 9 + "\n"


@pytest.mark.parametrize(
    "code",
    [
        "\nwhile True: act()",
        "\nlist(map(act2, range(9)))",
        "\nfor i in range(9):\n    try: act()\n    except: act()",
    ],
    ids=["loop", "map", "caught"],
)
def test_api_calls(code: str) -> None:
    done: list[int] = []
    limits = Limits(seconds=LONG, api_calls=3)
    message = failure(code, limits, act=lambda: done.append(1), act2=done.append)
    assert re.fullmatch(r"line [234]: called the task API more than 3 times \(`.+`\)", message)
    assert len(done) == 3


def test_api_calls_up_to_the_limit() -> None:
    done: list[int] = []
    program = Sandbox(Limits(seconds=LONG, api_calls=3)).compile(
        "for i in range(3):\n    act(i)", {"act": done.append}
    )
    assert program.run() == {"i": 2}
    assert program.run() == {"i": 2}  # counted anew
    assert done == [0, 1, 2] * 2


# Recursion and nesting


@pytest.mark.parametrize(
    "code",
    [
        "def f(n): return f(n + 1)\nf(0)",
        "def g(n): return 1 if n < 0 else h(n)\nh = lambda n: g(n + 1)\ng(0)",
        "def f(n): return look() or f(n + 1)\nf(0)",
        "def f(n): return sorted([n], key=f)\nf(0)",
    ],
    ids=["function", "two functions", "with the API", "key function"],
)
def test_recursion(code: str) -> None:
    message = failure(code, Limits(seconds=LONG), look=lambda: None)
    assert re.fullmatch(r"line [12]: functions call each other too deeply \(`.+`\)", message)


def test_recursion_can_be_caught() -> None:
    code = "def f(n): return f(n + 1)\ntry:\n    f(0)\nexcept RecursionError:\n    ret_val = 'caught'"
    assert Sandbox(Limits(seconds=LONG)).compile(code, {}).run()["ret_val"] == "caught"


def test_endless_recursion_of_the_api_is_its_own_error() -> None:
    def broken() -> None:
        broken()

    with pytest.raises(RecursionError):
        Sandbox(Limits(seconds=LONG)).compile("broken()", {"broken": broken}).run()


def test_programs_inside_programs() -> None:
    sandbox = Sandbox(Limits(seconds=LONG))
    depths: list[int] = []

    def deeper(depth: int) -> None:
        depths.append(depth)
        sandbox.compile(f"deeper({depth + 1})", {"deeper": deeper}).run()

    with pytest.raises(CodeFailure, match=rf"^programs run programs more than {MAX_NESTED} deep$"):
        deeper(0)
    assert depths == list(range(MAX_NESTED + 1))


# Sizes that one operation cannot exceed

SIZES = {
    "power": ("10 ** 10 ** 10", "the power has more than 100000 bits"),
    "power in place": ("x = 10; x **= 10 ** 10", "the power has more than 100000 bits"),
    "shift": ("1 << 10 ** 10", "the shifted integer has more than 100000 bits"),
    "product": ("x = 3 ** 50000; x * x", "the product has more than 100000 bits"),
    "repetition": ("[0] * 10 ** 8", "the repeated sequence has more than 10000000 items"),
    "repetition in place": ("x = 'a'; x *= 10 ** 8", "the repeated sequence has more than 10000000 items"),
    "range": ("range(10 ** 8)", "a range of more than 10000000 numbers; use `while` with a condition"),
    "factorial": ("math.factorial(6000)", "factorial of more than 5000"),
    "round": ("round(1, -2000)", "round to -2000 digits"),
}


@pytest.mark.parametrize(("code", "reason"), SIZES.values(), ids=SIZES.keys())
@pytest.mark.parametrize("caught", [False, True])
def test_sizes(code: str, reason: str, caught: bool) -> None:
    program = f"try: {code}\nexcept Exception: pass" if caught else code
    assert failure(program, Limits(seconds=LONG)) == f"line 1: {reason} (`{program.splitlines()[0]}`)"


@pytest.mark.parametrize(
    ("code", "limits"),
    [
        ("while True: pass", SHORT),
        ("print('a' * 99)", Limits(seconds=LONG, output_chars=10)),
        ("while True: look()", Limits(seconds=LONG, api_calls=5)),
    ],
    ids=["time", "output", "calls"],
)
def test_over_a_limit_nothing_can_be_done_any_more(code: str, limits: Limits) -> None:
    done: list[int] = []
    program = f"def f():\n    try:\n        {code}\n    finally:\n        act(1)\ntry:\n    f()\nfinally:\n    act(2)"
    message = failure(program, limits, look=lambda: None, act=done.append)
    assert re.match(r"line \d: (ran longer|printed more|called the task API more) than ", message)
    assert done == []


# The limits themselves


@pytest.mark.parametrize("name", ["seconds", "memory_mb", "output_chars", "api_calls"])
@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_limits_are_greater_than_zero(name: str, value: float) -> None:
    with pytest.raises(UsageError) as caught:
        Limits(**{name: value})  # type: ignore[arg-type]  # the wrong values are the test
    assert str(caught.value) == f"sandbox.{name}={value} must be greater than 0"


def test_ctrl_c_in_the_api_reaches_the_user() -> None:
    def interrupted() -> None:
        signal.raise_signal(signal.SIGINT)

    code = "try:\n    interrupted()\nexcept BaseException:\n    pass\nwhile True:\n    pass"
    before = signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a shell's background jobs ignore Ctrl-C
    try:
        with pytest.raises(KeyboardInterrupt):
            Sandbox(Limits(seconds=LONG)).compile(code, {"interrupted": interrupted}).run()
    finally:
        signal.signal(signal.SIGINT, before)
