"""Programs such as language models write. Each gives in the sandbox what is written here and what plain Python
gives; those that are refused say why, and where."""

from __future__ import annotations

import contextlib
import io
import math
from dataclasses import dataclass

import numpy as np
import pytest

from harness.failures import CodeFailure, GenerationFailure, PerceptionFailure
from harness.sandbox import Limits, Sandbox

SANDBOX = Sandbox(Limits(seconds=60.0))
"""Time is not tested here, and machines are slow sometimes."""


@dataclass
class Seen:
    """Stands for what `detect` gives."""

    name: str
    position: np.ndarray
    normal: np.ndarray


class Robot:
    """A task API that writes down what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def api(self) -> dict[str, object]:
        return {
            "composer": self.composer,
            "detect": self.detect,
            "cm2index": lambda cm, direction: np.round(np.asarray(direction) * cm).astype(int),
            "get_empty_map": lambda: np.zeros((10, 10, 10)),
            "objects": ["blue block", "yellow block", "mug"],
        }

    def composer(self, query: str) -> None:
        self.asked.append(query)

    def detect(self, name: str) -> Seen:
        if name not in ("blue block", "yellow block", "mug"):
            raise PerceptionFailure(f"no {name!r} here")
        return Seen(name, np.array([len(name), 2, 5]), np.array([0.0, 0.0, 1.0]))


PLANS: dict[str, tuple[str, list[str]]] = {
    "sentences": (
        """
objects = ['blue block', 'yellow block', 'mug']
# Query: place the blue block on the yellow block, and avoid the mug at all time.
composer("grasp the blue block while keeping at least 15cm away from the mug")
composer("back to default pose")
composer("open gripper")
# done
""",
        [
            "grasp the blue block while keeping at least 15cm away from the mug",
            "back to default pose",
            "open gripper",
        ],
    ),
    "loop over objects": (
        """
for obj in objects:
    if 'block' not in obj:
        continue
    composer(f"grasp the {obj}")
    composer("move to the top of the " + objects[-1])
""",
        [
            "grasp the blue block",
            "move to the top of the mug",
            "grasp the yellow block",
            "move to the top of the mug",
        ],
    ),
    "functions of steps": (
        """
def pick(name, *, gently=False):
    how = ' gently' if gently else ''
    composer('grasp the {}{}'.format(name, how))

steps = [(pick, {'gently': True}), (pick, {})]
for (step, options), name in zip(steps, sorted(objects, key=len)):
    step(name, **options)
""",
        ["grasp the mug gently", "grasp the blue block"],
    ),
    "counting": (
        """
import numpy as np
done, tries = [], 0
while len(done) < 2 and tries < 10:
    tries += 1
    if tries % 3:
        continue
    done.append(tries)
    composer("try %d of %d: push %s" % (len(done), 2, objects[len(done)].upper()))
else:
    composer("stop")
""",
        ["try 1 of 2: push YELLOW BLOCK", "try 2 of 2: push MUG", "stop"],
    ),
    "main guard": (
        """
from typing import List

def main(names: List[str]) -> None:
    \"\"\"Say what is there.\"\"\"
    composer(', '.join(n.title() for n in names))

if __name__ == "__main__":
    main(objects)
""",
        ["Blue Block, Yellow Block, Mug"],
    ),
}

VALUES: dict[str, tuple[str, object]] = {
    "position above an object": (
        """
block = detect('blue block')
x, y, z = block.position + cm2index(3, block.normal)
ret_val = (int(x), int(y), int(z))
""",
        (10, 2, 8),
    ),
    "map with a target": (
        """
affordance_map = get_empty_map()
mug = detect('mug')
x, y, z = mug.position
affordance_map[x, y, z + 1] = 1
affordance_map[:2, :, 0] -= 0.5
best = np.unravel_index(np.argmax(affordance_map), affordance_map.shape)
ret_val = [tuple(int(i) for i in best), float(affordance_map.sum())]
""",
        [(3, 2, 6), -9.0],
    ),
    "nearest object": (
        """
gripper = np.array([10.0, 2.0, 5.0])
seen = [detect(name) for name in objects]
distances = np.linalg.norm(np.stack([s.position for s in seen]) - gripper, axis=1)
ret_val = (seen[int(distances.argmin())].name, distances.tolist())
""",
        ("blue block", [0.0, 2.0, 7.0]),
    ),
    "masks and broadcasting": (
        """
a = np.arange(12).reshape(3, 4)
a[:, 0] *= 2
a[a > 6] = 0
a[1][2] += 10
ret_val = (a.tolist(), (a @ a.T)[0, 0].item(), a[::-1, -1].tolist(), a[None, ..., 1:].shape)
""",
        ([[0, 1, 2, 3], [0, 5, 16, 0], [0, 0, 0, 0]], 14, [0, 0, 3], (1, 3, 3)),
    ),
    "linear algebra": (
        """
a = np.array([[2.0, 0.0], [0.0, 4.0]])
u, s, vt = np.linalg.svd(a)
ret_val = s.tolist(), np.linalg.inv(a).tolist(), np.linalg.solve(a, np.array([2.0, 4.0])).tolist()
""",
        ([4.0, 2.0], [[0.5, 0.0], [0.0, 0.25]], [1.0, 1.0]),
    ),
    "functions over arrays": (
        """
double = np.vectorize(lambda v: v * 2)
rows = np.apply_along_axis(lambda row: row.max(), 1, np.eye(2) * 3)
ret_val = double(np.array([1, 2])).tolist(), rows.tolist()
""",
        ([2, 4], [3.0, 3.0]),
    ),
    "math": (
        """
import math
from math import sqrt, pi as half_turn
angle = math.degrees(math.atan2(1, 1))
ret_val = [angle, math.hypot(3, 4), math.floor(-1.5), math.factorial(5), sqrt(16), round(half_turn, 2)]
""",
        [45.0, 5.0, -2, 120, 4.0, 3.14],
    ),
    "comprehensions": (
        """
squares = {n: n ** 2 for n in range(5) if n % 2}
pairs = [(i, j) for i in range(3) for j in range(i)]
firsts = {word[0] for word in objects}
large = [y for x in range(5) if (y := x * x) > 3]
ret_val = (squares, pairs, sorted(firsts), large, sum(v for v in squares.values()))
""",
        ({1: 1, 3: 9}, [(1, 0), (2, 0), (2, 1)], ["b", "m", "y"], [4, 9, 16], 10),
    ),
    "f-strings": (
        """
w, name, share = 8, 'mug', 0.256
ret_val = [f'{name:>{w}}|', f'{share:.1%}', f'{1000000:,}', f'{255:#x}', f'{name!r}', f'{w=}', f'{{}}']
""",
        ["     mug|", "25.6%", "1,000,000", "0xff", "'mug'", "w=8", "{}"],
    ),
    "format and percent": (
        """
ret_val = ['{} {:>4} {n:.2f}'.format(1, 'a', n=2.5), '{1!r} {0}'.format(1, 'b'), '%s: %05.1f%%' % ('c', 2.5)]
""",
        ["1    a 2.50", "'b' 1", "c: 002.5%"],
    ),
    "string methods": (
        """
words = ' The red block is on the table. '.strip().rstrip('.').lower().split()
head, _, tail = 'left of=mug'.partition('=')
ret_val = [
    [w.capitalize() for w in words if w.startswith('t') or w.endswith('k')],
    '-'.join(words[:3]).replace('-', '_'), tail, head.split()[0].center(8, '*'), '7'.zfill(3), 'mug'[::-1],
]
""",
        [["The", "Block", "The", "Table"], "the_red_block", "mug", "**left**", "007", "gum"],
    ),
    "sorting with keys": (
        """
sizes = {'mug': 3, 'blue block': 9, 'bowl': 9}
by_size = sorted(sizes.items(), key=lambda item: (-item[1], item[0]))
names = list(sizes)
names.sort(key=len, reverse=True)
ret_val = (by_size, names, max(sizes, key=sizes.get), min(objects, key=lambda n: n.count('b')))
""",
        ([("blue block", 9), ("bowl", 9), ("mug", 3)], ["blue block", "bowl", "mug"], "blue block", "mug"),
    ),
    "nested functions": (
        """
def counter(start):
    total = start
    def add(step=1):
        nonlocal total
        total += step
        return total
    add()
    return [add(step) for step in (2, 3)]

calls = 0
def called():
    global calls
    calls += 1
    return calls
ret_val = (counter(10), called() + called(), calls)
""",
        ([13, 16], 3, 2),
    ),
    "lambdas in a list": (
        """
shifts = [lambda x, by=by: x + by for by in range(3)]
compose = lambda f, g: lambda x: f(g(x))
ret_val = [f(10) for f in shifts] + [compose(shifts[1], shifts[2])(0)]
""",
        [10, 11, 12, 3],
    ),
    "every kind of argument": (
        """
def f(a, /, b=2, *rest, c, **more):
    return (a, b, rest, c, sorted(more.items()))
ret_val = [f(1, c=3), f(1, 2, 3, c=4, d=5), f(*[1, 2], **{'c': 3, 'z': 1})]
""",
        [(1, 2, (), 3, []), (1, 2, (3,), 4, [("d", 5)]), (1, 2, (), 3, [("z", 1)])],
    ),
    "recursion": (
        """
def flat(item):
    return [leaf for part in item for leaf in flat(part)] if isinstance(item, (list, tuple)) else [item]
def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)
ret_val = flat([1, [2, (3, [4])], 5]), depth(200)
""",
        ([1, 2, 3, 4, 5], 200),
    ),
    "unpacking": (
        """
a, (b, *c), d = 1, (2, 3, 4), 5
a, d = d, a
first, *middle, last = 'abcd'
rows = [list(row) for row in zip(*[[1, 2], [3, 4]])]
merged = {**{'x': 1}, 'y': [*range(2), *c]}
for i, (name, value) in enumerate(merged.items(), start=1):
    pass
ret_val = (a, b, c, d, middle, rows, merged, i, name, value)
""",
        (
            5,
            2,
            [3, 4],
            1,
            ["b", "c"],
            [[1, 3], [2, 4]],
            {"x": 1, "y": [0, 1, 3, 4]},
            2,
            "y",
            [0, 1, 3, 4],
        ),
    ),
    "augmented assignment": (
        """
n = 7
n //= 2; n **= 3; n -= 1; n <<= 2; n |= 1; n ^= 3; n %= 50; n >>= 1; n &= 31
half = 7
half /= 2
row = [1, 2]
same = row
row += (3,)
row *= 2
seen = set()
seen |= {1, 2}
seen -= {1}
table = {'a': {'b': 1}}
table['a']['b'] += 1
at = [0]
def index():
    at[0] += 1
    return at[0]
grid = [[0, 0], [0, 0]]
grid[index()][0] += 5
ret_val = (n, half, same, seen, table, at, grid)
""",
        (3, 3.5, [1, 2, 3, 1, 2, 3], {2}, {"a": {"b": 2}}, [1], [[0, 0], [5, 0]]),
    ),
    "lists and dicts change": (
        """
row = list(range(8))
del row[0]
row[1:4] = ['x']
row[::2] = [0] * len(row[::2])
row.insert(0, row.pop())
groups = {}
for name in objects:
    groups.setdefault(name.split()[-1], []).append(name.split()[0])
groups['mug'], old = None, groups.pop('mug')
counts = dict.fromkeys('ab', 0)
for letter in 'abba':
    counts[letter] = counts.get(letter, 0) + 1
ret_val = (row, groups, old, counts)
""",
        ([0, 0, "x", 0, 6], {"block": ["blue", "yellow"], "mug": None}, ["mug"], {"a": 2, "b": 2}),
    ),
    "exceptions": (
        """
log = []
for text in ['1', 'x', None]:
    try:
        number = int(text)
    except ValueError as error:
        log.append('not a number')
    except (TypeError, KeyError):
        log.append('not a text')
    else:
        log.append(number)
    finally:
        log.append('.')
try:
    try:
        raise ValueError('inner')
    except ValueError as error:
        raise RuntimeError('outer', 2) from error
except Exception as error:
    log += [str(error), error.args]
def last():
    try:
        return 'tried'
    finally:
        log.append('finally')
ret_val = [last(), log]
""",
        ["tried", [1, ".", "not a number", ".", "not a text", ".", "('outer', 2)", ("outer", 2), "finally"]],
    ),
    "generators": (
        """
def count_down(n):
    while n:
        yield n
        n -= 1
    yield from 'ab'
numbers = iter([1, 2])
ret_val = [list(count_down(2)), next(numbers), next(numbers), next(numbers, 'end'), any(n > 1 for n in count_down(2))]
""",
        [[2, 1, "a", "b"], 1, 2, "end", True],
    ),
    "loops": (
        """
primes = []
for i in range(2, 12):
    for j in range(2, i):
        if i % j == 0:
            break
    else:
        primes.append(i)
stack, order = [(0, 'root')], []
while stack:
    level, name = stack.pop()
    order.append(f'{level}{name}')
    if level < 2:
        stack.extend((level + 1, side) for side in 'rl')
ret_val = (primes, order)
""",
        ([2, 3, 5, 7, 11], ["0root", "1l", "2l", "2r", "1r", "2l", "2r"]),
    ),
    "builtins": (
        """
ret_val = [
    list(map(str.upper, 'ab')), list(filter(None, [0, 1, '', 'x'])), list(reversed([1, 2])), divmod(7, 2),
    pow(2, 5, 7), sorted('cab', reverse=True), max([], default=0), min('b', 'a'), all([]), callable(len),
    isinstance(True, int), type(1) is int, hasattr([], 'append'), getattr('ab', 'nothing', 0), hex(255), chr(97),
]
""",
        [
            ["A", "B"],
            [1, "x"],
            [2, 1],
            (3, 1),
            4,
            ["c", "b", "a"],
            0,
            "a",
            True,
            True,
            True,
            True,
            True,
            0,
            "0xff",
            "a",
        ],
    ),
    "annotations": (
        """
from __future__ import annotations
from typing import Optional
limit: int = 3
def scaled(values: list[float], by: Optional[float] = None) -> list[float]:
    result: list[float]
    result = [v * (by or 1.0) for v in values]
    return result
ret_val = scaled([1.0, 2.0], limit)
""",
        [3.0, 6.0],
    ),
    "names and text": (
        """
_private = 3
text = "the most" r"\\n" + '''import os
exec'''
# open('/etc/hostname') and __class__ in a comment are only text
list_of = [len(text), 'eval' in text, _private if _private is not None else 0]
ret_val = list_of
""",
        [24, False, 3],
    ),
}


def plain(code: str) -> tuple[object, list[str], str]:
    """What Python gives: `ret_val`, what the robot was asked, and what was printed."""
    robot, printed = Robot(), io.StringIO()
    names = {"np": np, "math": math, **robot.api(), "__name__": "__main__"}
    with contextlib.redirect_stdout(printed):
        exec(code, names)
    return names.get("ret_val"), robot.asked, printed.getvalue()


def sandboxed(code: str) -> tuple[object, list[str], str]:
    robot = Robot()
    program = SANDBOX.compile(code, robot.api())
    return program.run().get("ret_val"), robot.asked, program.output


@pytest.mark.parametrize(("code", "asked"), PLANS.values(), ids=PLANS.keys())
def test_plans(code: str, asked: list[str]) -> None:
    assert sandboxed(code) == (None, asked, "") == plain(code)


@pytest.mark.parametrize(("code", "value"), VALUES.values(), ids=VALUES.keys())
def test_values(code: str, value: object) -> None:
    result, asked, printed = sandboxed(code)
    assert (result, asked, printed) == (value, [], "") == plain(code)
    assert repr(result) == repr(value)  # True is not 1


def test_output_is_kept_and_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    code = "print('objects:', *objects, sep=' ', end='!\\n')\nprint(np.array([1.5, 2]))\nprint()"
    expected = "objects: blue block yellow block mug!\n[1.5 2. ]\n\n"
    assert sandboxed(code)[2] == expected
    assert capsys.readouterr().out == ""
    assert plain(code)[2] == expected


def test_a_program_runs_afresh_each_time() -> None:
    program = SANDBOX.compile("x = [1]\nx.append(np.random.rand())\nprint(len(x))\nret_val = x", {})
    first, second = program.run(), program.run()
    assert first == second  # the generator starts anew as well
    assert first["x"] is not second["x"]
    assert program.output == "2\n"


def test_random_numbers_depend_on_the_text_and_leave_numpys_alone() -> None:
    np.random.seed(1)
    before = np.random.get_state(legacy=False)["state"]["key"]
    code = "np.random.seed(5)\nret_val = np.random.rand(), np.random.choice(['a', 'b'], 3).tolist()"
    expected = np.random.RandomState(5)
    assert sandboxed(code)[0] == (expected.rand(), expected.choice(["a", "b"], 3).tolist())
    assert sandboxed("ret_val = np.random.rand()")[0] != sandboxed("ret_val  = np.random.rand()")[0]
    assert np.array_equal(before, np.random.get_state(legacy=False)["state"]["key"])


def test_empty_is_zeros() -> None:
    assert sandboxed("ret_val = np.empty((2, 2)).tolist()")[0] == [[0.0, 0.0], [0.0, 0.0]]


def test_what_was_dropped_is_noted() -> None:
    code = "import numpy as np\nfrom math import pi\nfrom typing import Any\nret_val = np.round(pi)"
    program = SANDBOX.compile(code, {})
    assert program.notes == ("import numpy", "import math", "import typing")
    assert program.run()["ret_val"] == 3.0
    assert SANDBOX.compile("x = 1", {}).notes == ()


def test_results_are_data_only() -> None:
    code = "def f():\n    pass\ng = lambda: 0\nh = (i for i in [1])\nm = np\nx, y = [f], [1]\nz = detect"
    robot = Robot()
    assert SANDBOX.compile(code, robot.api()).run() == {"y": [1], "z": robot.detect}


REFUSED_BEFORE = {
    "class": (
        "x = 1\nclass A:\n    pass",
        "line 2: `class` is not available to programs; use functions, lists and dicts",
    ),
    "with": ("with open('x') as f:\n    pass", "line 1: `with` is not available to programs"),
    "async": ("async def f():\n    pass", "line 1: `async def` is not available to programs"),
    "match": ("match 1:\n    case 1:\n        pass", "line 1: `match` is not available to programs"),
    "decorator": (
        "@f\ndef g():\n    pass",
        "line 1: decorators are not available to programs; call the function instead",
    ),
    "import": (
        "x = 1\nimport time\ntime.sleep(5)",
        "line 2: import of `time` is refused; np, math and the task API are there without an import",
    ),
    "from import": (
        "from scipy.spatial.transform import Rotation as R",
        "line 1: import of `scipy.spatial.transform.Rotation` is refused; np, math and the task API are there without an import",
    ),
    "open": (
        "text = open('/etc/hostname').read()",
        "line 1: `open` is not available to programs, only the task API, np, math and plain Python",
    ),
    "eval": (
        "def f(code):\n    return eval(code)",
        "line 2: `eval` is not available to programs, only the task API, np, math and plain Python",
    ),
    "attribute set": (
        "mug = detect('mug')\nmug.position = 1",
        "line 2: attributes cannot be set or deleted (`.position`); make a new value",
    ),
    "dunder": (
        "x = ().__class__",
        'line 1: "__class__" is an invalid attribute name because it starts with "_".',
    ),
    "reserved name": (
        "__import__('os')",
        "line 1: the name `__import__` is reserved, use one without underscores at its ends",
    ),
    "break in finally": (
        "while True:\n    try:\n        pass\n    finally:\n        break",
        "line 5: `return`, `break` and `continue` are not available inside `finally`",
    ),
    "yield in try": (
        "def f():\n    try:\n        yield 1\n    finally:\n        pass",
        "line 3: `yield` is not available inside `try`",
    ),
    "the first of two": (
        "x.y = 1\nimport os",
        "line 1: attributes cannot be set or deleted (`.y`); make a new value",
    ),
    "too long": ("x = 1\n" * 20_000, "the program has 120000 characters, more than 100000"),
    "nested too deeply": (
        "x = " + "-" * 5000 + "1",
        "the program is nested too deeply to be checked; use shorter expressions",
    ),
}


@pytest.mark.parametrize(("code", "message"), REFUSED_BEFORE.values(), ids=REFUSED_BEFORE.keys())
def test_refused_before_anything_runs(code: str, message: str) -> None:
    with pytest.raises(CodeFailure) as caught:
        SANDBOX.compile(code, Robot().api())
    assert str(caught.value) == message


NOT_PYTHON = {
    "half a line": ("x = (", "the program is not Python: line 1: '(' was never closed"),
    "indent": ("x = 1\n    y = 2", "the program is not Python: line 2: unexpected indent"),
    "lone surrogate": (
        "x = '\ud800'",
        "the program is not Python: 'utf-8' codec can't encode character '\\ud800' in position 5: surrogates not allowed",
    ),
    "return": ("return 1", "the program is not Python: line 1: 'return' outside function"),
}


@pytest.mark.parametrize(("code", "message"), NOT_PYTHON.values(), ids=NOT_PYTHON.keys())
def test_what_is_not_python_is_the_generations_failure(code: str, message: str) -> None:
    with pytest.raises(GenerationFailure) as caught:
        SANDBOX.compile(code, {})
    assert str(caught.value) == message
    assert caught.value.kind == "generation"


STOPPED = {
    "unknown name": ("x = 1\nprint(mugs)", "line 2: the name `mugs` is not defined (`print(mugs)`)"),
    "misspelt API": (
        "compser('grasp it')",
        "line 1: the name `compser` is not defined; did you mean composer? (`compser('grasp it')`)",
    ),
    "division": (
        "def f(n):\n    return 1 / n\n\nf(0)",
        "line 2: ZeroDivisionError: division by zero (`return 1 / n`)",
    ),
    "index": ("[][1]", "line 1: IndexError: list index out of range (`[][1]`)"),
    "key": ("{}['a']", "line 1: KeyError: 'a' (`{}['a']`)"),
    "own exception": ("raise ValueError('bad')", "line 1: ValueError: bad (`raise ValueError('bad')`)"),
    "long text": (
        "raise ValueError('a' * 1000)",
        f"line 1: ValueError: {'a' * 300} (`raise ValueError('a' * 1000)`)",
    ),
    "assertion": ("assert 1 == 2", "line 1: AssertionError (`assert 1 == 2`)"),
    "exit": (
        "exit()",
        "line 1: the program asked to exit; a program ends after its last line (`exit()`)",
    ),
    "SystemExit": (
        "raise SystemExit",
        "line 1: the program asked to exit; a program ends after its last line (`raise SystemExit`)",
    ),
    "KeyboardInterrupt": (
        "raise KeyboardInterrupt",
        "line 1: the program raised KeyboardInterrupt (`raise KeyboardInterrupt`)",
    ),
    "NumPy's files": (
        "np.load('x.npy')",
        "line 1: np.load is not available to programs (`np.load('x.npy')`)",
    ),
    "built attribute": (
        "getattr((), '__cl' + 'ass__')",
        "line 1: `tuple` has no attribute '__class__' for programs (`getattr((), '__cl' + 'ass__')`)",
    ),
    "format that reads attributes": (
        "'{0.name}'.format(detect('mug'))",
        "line 1: the field {0.name} is not plain; use an f-string (`'{0.name}'.format(detect('mug'))`)",
    ),
    "unknown attribute": (
        "detect('mug').colour",
        "line 1: AttributeError: 'Seen' object has no attribute 'colour' (`detect('mug').colour`)",
    ),
    "API without arguments": (
        "composer()",
        "line 1: TypeError: Robot.composer() missing 1 required positional argument: 'query' (`composer()`)",
    ),
    "function handed to the API": (
        "composer(lambda: 0)",
        "line 1: TypeError: functions of a program cannot be handed on, only values (function) (`composer(lambda: 0)`)",
    ),
    "swallowed refusal": (
        "try:\n    np.load('x.npy')\nexcept Exception:\n    composer('go on')",
        "line 2: np.load is not available to programs (`np.load('x.npy')`)",
    ),
}


@pytest.mark.parametrize(("code", "message"), STOPPED.values(), ids=STOPPED.keys())
def test_stopped_while_it_runs(code: str, message: str) -> None:
    robot = Robot()
    program = SANDBOX.compile(code, robot.api())
    with pytest.raises(CodeFailure) as caught:
        program.run()
    assert str(caught.value) == message
    assert robot.asked == []


class Map:
    """Stands for an object of the API that has items."""

    def __init__(self) -> None:
        self.cells = {(0, 0): 1}

    def __getitem__(self, at: tuple[int, int]) -> int:
        return self.cells[at]

    def __setitem__(self, at: tuple[int, int], value: int) -> None:
        self.cells[at] = value

    def __delitem__(self, at: tuple[int, int]) -> None:
        del self.cells[at]

    def __len__(self) -> int:
        return len(self.cells)


def test_items_of_api_objects() -> None:
    code = (
        "m = make()\nm[0, 1] = 5\nm[0, 1] += m[0, 0]\nm[2, 2] = 0\ndel m[0, 0]\nret_val = (m[0, 1], len(m))"
    )
    result = SANDBOX.compile(code, {"make": Map}).run()
    assert result["ret_val"] == (6, 2)
    assert isinstance(result["m"], Map) and result["m"].cells == {(0, 1): 6, (2, 2): 0}


def test_an_item_that_is_not_there_is_the_programs_failure() -> None:
    with pytest.raises(CodeFailure) as caught:
        SANDBOX.compile("m = make()\nm[9, 9]", {"make": Map}).run()
    assert str(caught.value) == "line 2: KeyError: (9, 9) (`m[9, 9]`)"


@pytest.mark.parametrize("ending", ["except Exception:", "except:", "finally:"])
def test_a_failure_of_the_api_passes_through_the_program(ending: str) -> None:
    robot = Robot()
    code = f"print('one')\ntry:\n    detect('cup')\n{ending}\n    composer('go on')"
    program = SANDBOX.compile(code, robot.api())
    with pytest.raises(PerceptionFailure, match=r"^no 'cup' here$"):
        program.run()
    assert robot.asked == []
    assert program.output == "one\n"


def test_a_bug_of_the_api_is_not_the_programs_failure() -> None:
    def broken() -> None:
        raise ValueError("a bug")

    with pytest.raises(ValueError, match=r"^a bug$"):
        SANDBOX.compile("try:\n    broken()\nexcept ValueError:\n    pass", {"broken": broken}).run()
