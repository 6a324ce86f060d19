"""Programs that try to get out, to hang the process or to fill the memory. Each must end in a CodeFailure
with its line, quickly, and with nothing done."""

from __future__ import annotations

import builtins
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from harness.failures import CodeFailure
from harness.sandbox import Limits, Sandbox

LIMITS = Limits(seconds=0.4, memory_mb=256, output_chars=2000, api_calls=200)
UNHURRIED = replace(LIMITS, seconds=60.0)


class Thing:
    """Stands for an object that a task API returns."""

    def __init__(self) -> None:
        self.position = np.array([1, 2, 3])
        self._secret = "secret"
        self.module = os
        self.kind = Path
        self.method_holder = print

    def near(self) -> str:
        return "near"


WALKS = {
    "globals of a function": "f.__globals__['os']",
    "globals of a lambda": "(lambda: 0).__globals__",
    "globals of an api function": "detect.__globals__",
    "call of an api function's wrapper": "detect.function('x')",
    "wrapper's run": "detect._call",
    "subclasses": "().__class__.__bases__[0].__subclasses__()",
    "subclasses by object": "object.__subclasses__()",
    "class of a string": "''.__class__.__mro__",
    "getattr of a dunder": "getattr((), '__class__')",
    "getattr of a built name": "getattr('', '__cl' + 'ass__')",
    "getattr with a default": "x = getattr((), '__class__', None)\nassert x is None\nraise ValueError",
    "getattr with a string subclass": "getattr((), type('')('__class__'))",
    "map over getattr": "list(map(getattr, [()], ['__class__']))",
    "mro of a type": "int.mro()",
    "type with three arguments": "type('X', (), {})",
    "type of a function": "type(lambda: 0)",
    "type of np": "type(np)(1)",
    "class statement": "class A:\n    pass",
    "class with metaclass": "class A(metaclass=type):\n    pass",
    "super": "super().__init__()",
    "decorator": "@detect\ndef f():\n    pass",
    "globals()": "globals()['os']",
    "locals()": "locals()",
    "vars()": "vars(detect)",
    "dir()": "dir(detect)",
    "builtins name": "__builtins__['open']",
    "import name": "__import__('os').system('true')",
    "import os": "import os\nos.system('true')",
    "import as": "import os as np\nnp.system('true')",
    "from import": "from os import system\nsystem('true')",
    "from numpy a module": "from numpy import ctypeslib",
    "from numpy a private name": "from numpy import __config__",
    "star import": "from os import *",
    "star import of numpy": "from numpy import *",
    "relative import": "from . import secrets",
    "import of numpy.lib": "import numpy.lib.npyio",
    "guard name": "_getattr_(detect, 'x')",
    "rebind a guard": "_getattr_ = lambda a, b: 0",
    "rebind a guard by except": "try:\n    1 / 0\nexcept ZeroDivisionError as _getattr_:\n    pass",
    "rebind a guard by an argument": "def f(_call_):\n    pass",
    "rebind a guard by a function": "def _call_(*a):\n    pass",
    "rebind a guard by global": "def f():\n    global _call_\n    _call_ = 1\nf()",
    "rebind a guard by a walrus": "(_call_ := 1)",
    "rebind a guard by a loop": "for _call_ in [1]:\n    pass",
    "rebind a guard by an import": "import math as _call_",
    "delete a guard": "del _call_",
    "a temporary": "_tmp0 = 1",
    "match": "match detect:\n    case object(function=f):\n        f()",
    "async": "async def f():\n    await detect('x')",
    "except star": "try:\n    pass\nexcept* ValueError:\n    pass",
    "with": "with detect('x') as f:\n    pass",
    "eval": "eval('1')",
    "exec": "exec('import os')",
    "compile": "compile('1', '', 'eval')",
    "lambda default eval": "f = lambda e=eval: e('1')\nf()",
    "open": "open('/etc/hostname').read()",
    "input": "input()",
    "breakpoint": "breakpoint()",
    "help": "help()",
    "memoryview": "memoryview(b'x')",
    "setattr": "setattr(detect('x'), 'position', 1)",
}
FORMATS = {
    "format attribute": "'{0.__class__}'.format(detect)",
    "format item": "'{0[a]}'.format({'a': 1})",
    "format of a key": "'{x.position}'.format(x=detect('x'))",
    "format nested": "'{:{1.__class__}}'.format(1, 2)",
    "format through the class": "str.format('{0.__class__}', detect)",
    "format_map": "'{x.__class__}'.format_map({'x': 1})",
    "format through map": "list(map('{0.__class__}'.format, [detect]))",
    "format through getattr": "getattr('{0.__class__}', 'format')(1)",
    "f-string attribute": "f'{detect.__globals__}'",
    "f-string call": "f'{open(chr(47))}'",
}
FRAMES = {
    "generator frame": "g = (i for i in [1])\ng.gi_frame.f_back",
    "generator frame by getattr": "g = (i for i in [1])\ngetattr(g, 'gi' + '_frame')",
    "generator code": "def f():\n    yield 1\nf().gi_code",
    "generator throw": "g = (i for i in [1])\ng.throw(ValueError)",
    "traceback": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    e.__traceback__.tb_frame",
    "traceback by name": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    e.with_traceback(None)",
    "context": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    e.__context__",
    "name error's object": "try:\n    [].nothing\nexcept AttributeError as e:\n    e.obj",
    "function code": "(lambda: 0).__code__",
    "yield in try": "def f():\n    try:\n        yield 1\n    finally:\n        detect('late')\nx = next(f())",
}
NUMPY = {
    "load": "np.load('/etc/hostname', allow_pickle=True)",
    "save": "np.save('/tmp/x', np.zeros(1))",
    "savetxt": "np.savetxt('/tmp/x', np.zeros(1))",
    "fromfile": "np.fromfile('/etc/hostname')",
    "genfromtxt": "np.genfromtxt('/etc/hostname')",
    "memmap": "np.memmap('/tmp/x', mode='w+', shape=3)",
    "DataSource": "np.lib.npyio.DataSource()",
    "ctypeslib": "np.ctypeslib.load_library('libc', '/')",
    "core": "np.core.multiarray",
    "f2py": "np.f2py.os",
    "testing": "np.testing.rundocs()",
    "frombuffer": "np.frombuffer(b'12345678', dtype='O')",
    "ndarray from a buffer": "np.ndarray((1,), 'O', b'12345678')",
    "ndarray through map": "list(map(np.ndarray, [(1,)]))",
    "tofile": "np.zeros(3).tofile('/tmp/x')",
    "dump": "np.zeros(3).dump('/tmp/x')",
    "dumps": "np.zeros(3).dumps()",
    "ctypes": "np.zeros(3).ctypes.data",
    "data": "np.zeros(3).data",
    "base": "np.zeros((3, 3))[0].base",
    "setflags": "np.zeros(3).setflags(write=True)",
    "view as objects": "np.zeros(3).view('O')",
    "array interface": "np.zeros(3).__array_interface__",
    "shape assignment": "a = np.zeros(4)\na.shape = (2, 2)",
    "dtype's type": "np.zeros(1).dtype.type",
    "global seed": "np.random.set_state(1)",
    "bit generator": "np.random.default_rng().bit_generator",
    "global error state": "np.seterr(call=detect)",
    "mutate the module": "np.pi = 3",
    "math's loader": "math.__loader__",
}
API = {
    "private attribute": "detect('x')._secret",
    "module in an attribute": "detect('x').module.system('true')",
    "class in an attribute": "detect('x').kind('/etc/hostname')",
    "function in an attribute": "detect('x').near.__func__",
    "set an attribute": "detect('x').position = 1",
    "delete an attribute": "del detect('x').position",
    "add to an attribute": "detect('x').position += 1",
    "hand on a function": "record(lambda: 0)",
    "hand on a function in a list": "record([{'a': (lambda: 0,)}])",
    "hand on a function in an array": "record(np.array([lambda: 0], dtype='O'))",
    "hand on np": "record(np)",
    "partial": "partial_api().func",
}
LARGE = {
    "list": "[0] * 10**10",
    "list in place": "x = [0]\nx *= 10**10",
    "string": "'a' * 10**10",
    "string doubling": "x = 'a'\nwhile True:\n    x += x",
    "string padding": "'a'.ljust(10**10)",
    "string formatting": "f'{1:10000000000}'",
    "percent formatting": "'%10000000000d' % 1",
    "list appending": "x = []\nwhile True:\n    x.append('a' * 1000000)",
    "list extending": "x = [0] * 1000\nwhile True:\n    x.extend(x)",
    "join": "x = 'a' * 1000000\n','.join([x] * 100000)",
    "replace": "x = 'a' * 1000000\nx.replace('a', x)",
    "power": "10**10**10",
    "power in place": "x = 10\nx **= 10**10",
    "power builtin": "pow(10, 10**10)",
    "shift": "1 << 10**10",
    "factorial": "math.factorial(10**9)",
    "round": "round(1, -10**10)",
    "squaring": "x = 3\nwhile True:\n    x = x * x",
    "range list": "list(range(10**12))",
    "range sum": "sum(range(10**15))",
    "zeros": "np.zeros(10**10)",
    "ones": "np.ones((10**5, 10**5))",
    "broadcast": "np.zeros((10**6, 1)) + np.zeros((1, 10**6))",
    "linspace": "np.linspace(0, 1, 10**10)",
    "tile": "np.tile(np.zeros(1000), 10**8)",
    "many arrays": "x = []\nwhile True:\n    x.append(np.ones(10**6))",
    "output": "while True:\n    print('hello')",
    "one long line": "print('a' * 10**6)",
    "api calls": "while True:\n    detect('x')",
    "api memory": "x = []\nfor i in range(100):\n    x.append(allocate())",
    "nested text": "x = []\nfor i in range(40):\n    x = [x, x]\nprint(x)",
}
ENDLESS = {
    "while": "while True:\n    pass",
    "in a function": "def f():\n    while True:\n        pass\nf()",
    "nested functions": "def f():\n    def g():\n        for i in range(10**7):\n            for j in range(10**7):\n                pass\n    g()\nf()",
    "comprehension": "[0 for i in range(10**7) for j in range(10**7) if False]",
    "generator in sum": "def f():\n    while True:\n        yield 1\nsum(f())",
    "iter with a sentinel": "sum(iter(int, 1))",
    "any of a generator": "any(False for i in range(10**7) for j in range(10**7))",
    "sorted key": "sorted(range(10**7), key=lambda x: sum(range(10**5)))",
    "max key": "max(range(10**7), key=lambda x: sum(range(10**5)))",
    "vectorize": "np.vectorize(lambda x: sum(range(10**5)))(np.arange(10**6))",
    "lambda recursion": "f = lambda n: f(n + 1)\nf(0)",
    "mutual recursion": "def f(n):\n    return g(n)\ndef g(n):\n    return f(n)\nf(1)",
    "except": "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass",
    "bare except": "while True:\n    try:\n        while True:\n            pass\n    except:\n        pass",
    "finally": "try:\n    while True:\n        pass\nfinally:\n    while True:\n        pass",
    "finally continue": "while True:\n    try:\n        1 / 0\n    finally:\n        continue",
    "finally return": "def f():\n    try:\n        while True:\n            pass\n    finally:\n        return 1\nf()",
    "time.sleep": "import time\ntime.sleep(10**9)",
    "exponential recursion": "def f(n):\n    f(n + 1)\n    f(n + 1)\ndef g():\n    try:\n        f(0)\n    except RecursionError:\n        g()\ng()",
}
PROCESSES = {
    "fork": "import os\nwhile True:\n    os.fork()",
    "multiprocessing": "import multiprocessing",
    "subprocess": "import subprocess\nsubprocess.run(['true'])",
    "thread": "import threading",
    "signal": "import signal\nsignal.alarm(0)",
    "pickle": "import pickle\npickle.loads(b'')",
    "ctypes": "import ctypes",
    "socket": "import socket",
    "environment": "import os\nos.environ",
    "sys": "import sys\nsys.exit()",
    "exit": "exit()",
    "quit": "quit(1)",
    "raise SystemExit": "raise SystemExit",
    "raise KeyboardInterrupt": "raise KeyboardInterrupt",
    "raise GeneratorExit": "raise GeneratorExit",
    "raise BaseException": "raise BaseException('x')",
}
GROUPS = {
    "walks": WALKS,
    "formats": FORMATS,
    "frames": FRAMES,
    "numpy": NUMPY,
    "api": API,
    "large": LARGE,
    "endless": ENDLESS,
    "processes": PROCESSES,
}
SNIPPETS = [
    pytest.param(code, id=f"{group}: {name}")
    for group, snippets in GROUPS.items()
    for name, code in snippets.items()
]


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was done that must not be: files opened, processes and threads started."""
    events: list[str] = []
    for owner, name in (
        (builtins, "open"),
        (os, "system"),
        (os, "fork"),
        (subprocess, "Popen"),
        (builtins, "input"),
        (builtins, "breakpoint"),
    ):
        monkeypatch.setattr(owner, name, lambda *a, name=name, **k: events.append(name))
    return events


def api(events: list[str]) -> dict[str, object]:
    from functools import partial

    def detect(name: str) -> Thing:
        if name == "late":
            events.append(name)
        return Thing()

    return {
        "detect": detect,
        "record": events.append,
        "allocate": lambda: np.ones(10**7),
        "partial_api": lambda: partial(detect, "x"),
    }


def test_there_are_enough_of_them() -> None:
    assert len(SNIPPETS) >= 60


@pytest.mark.parametrize("code", SNIPPETS)
def test_nothing_gets_out(code: str, done: list[str]) -> None:
    threads = threading.active_count()
    started = time.process_time()
    with pytest.raises(CodeFailure, match=r"^line \d+: "):
        Sandbox(LIMITS).compile(code, api(done)).run()
    assert time.process_time() - started < 15
    assert done == []
    assert threading.active_count() == threads


def test_api_objects_stay_usable() -> None:
    events: list[str] = []
    code = "t = detect('x')\nret_val = (t.near(), t.position[1])"
    result = Sandbox(UNHURRIED).compile(code, api(events)).run()
    assert result["ret_val"] == ("near", 2)


@pytest.mark.parametrize(
    "code",
    [
        "x = detect('x')\nx.position[0] = 9\nret_val = x.position",
        "ret_val = [thing.near() for thing in things]",
    ],
)
def test_values_of_the_api_are_handed_over(code: str) -> None:
    things = [Thing(), Thing()]
    result = Sandbox(UNHURRIED).compile(code, {**api([]), "things": things}).run()
    assert list(result["ret_val"]) in ([9, 2, 3], ["near", "near"])  # type: ignore[call-overload]


def test_a_module_is_not_an_api() -> None:
    with pytest.raises(TypeError, match="is a module"):
        Sandbox().compile("x = 1", {"os": os})


def test_numpy_of_the_api_is_replaced_by_the_sandbox_s_own() -> None:
    with pytest.raises(CodeFailure, match="not available"):
        Sandbox().compile("np.load('x')", {"np": np}).run()


CLOCK = (
    "import time, types\n"
    "from harness.sandbox import Limits, Sandbox, running\n"
    "running.time = types.SimpleNamespace(monotonic=time.process_time)\n"
)
"""A program's clock that counts what this process does, not what others on the machine do."""


@pytest.mark.parametrize(
    "code",
    [
        "x = []\ny = []\nfor i in range(100):\n    x = [x, x]\n    y = [y, y]\nx == y",
        "t = ()\nfor i in range(100):\n    t = (t, t)\nd = {t: 1}",
    ],
    ids=["compare", "hash"],
)
def test_a_native_call_that_never_returns_ends_the_process(code: str, tmp_path: Path) -> None:
    hang = tmp_path / "hang"
    script = (
        "import sys, pathlib\n"
        f"{CLOCK}"
        "sandbox = Sandbox(Limits(seconds=0.2), hang_file=pathlib.Path(sys.argv[1]), grace=0.3)\n"
        "sandbox.compile(sys.argv[2], {}).run()\n"
    )
    ended = subprocess.run([sys.executable, "-c", script, str(hang), code], timeout=300, check=False)
    assert ended.returncode == -signal.SIGPROF
    assert "<program>" in hang.read_text()


def test_a_program_that_ends_in_time_leaves_the_hang_file_empty(tmp_path: Path) -> None:
    hang = tmp_path / "hang"
    script = (
        "import sys, pathlib, time\n"
        f"{CLOCK}"
        "sandbox = Sandbox(Limits(seconds=0.1), hang_file=pathlib.Path(sys.argv[1]), grace=0.1)\n"
        "def work():\n"
        "    end = time.process_time() + 0.5\n"
        "    while time.process_time() < end: pass\n"
        "sandbox.compile('work()', {'work': work}).run()\n"
        "work()\n"
    )
    ended = subprocess.run([sys.executable, "-c", script, str(hang)], timeout=300, check=False)
    assert ended.returncode == 0
    assert hang.read_text() == ""


def test_namespaces_in_a_list_are_not_data() -> None:
    kept = Sandbox().compile("keep = [1]\nhidden = [np]\nf = str.upper", {"x": SimpleNamespace()}).run()
    assert kept == {"keep": [1]}
