"""The program in a reply: what is taken, what is noted, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.failures import GenerationFailure
from harness.sandbox import extract_code
from harness.sandbox.extract import MAX_CHARS, syntax_problem, with_plain_punctuation

AS_IT_STANDS = {
    "one line": "x = 1",
    "several lines": "import numpy as np\nfrom math import pi\n\nfor i in range(3):\n    x = i * pi",
    "comments around": "# Query: move.\ncomposer('a')\n# done",
    "two statements in a line": "x = 1;y = 2",
    "blank lines": "x = 1\n\n\n\ny = 2",
    "tabs": "if a:\n\tx = 1\n\ty = 2",
    "only a definition": "def f():\n    return 1",
    "a docstring": '"""Move the cup."""',
    "one name, which is Python": "hello",
    "thinking tag in a string": "x = '<think>a</think>'",
    "fence in a string": "x = '''\n```\ny = 1\n```\n'''",
    "curly quote in a string": "x = 'it’s'",
    "curly quotes in a comment": "x = 1  # it’s “fine”",
    "odd space in a string": "x = 'a\u00a0b'",
    "cut off, but Python": "x = np.zer",
}


@pytest.mark.parametrize("code", AS_IT_STANDS.values(), ids=AS_IT_STANDS.keys())
def test_python_is_taken_as_it_stands(code: str) -> None:
    for reply in (code, f"\n \n{code}\n\n", f"\ufeff{code}"):
        extracted = extract_code(reply)
        assert (extracted.code, extracted.notes) == (code, ())


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_become_plain(end: str) -> None:
    assert extract_code(f"x = 1{end}y = 2{end}").code == "x = 1\ny = 2"
    assert extract_code(f"Here:{end}```python{end}x = 1{end}y = 2{end}```{end}").code == "x = 1\ny = 2"


FENCED = {
    "prose around": ("Here is the code:\n```python\nx = 1\n```\nLet me know!", "x = 1", ""),
    "py": ("```py\nx = 1\n```", "x = 1", ""),
    "no mark": ("```\nx = 1\n```", "x = 1", ""),
    "capital mark": ("```Python\nx = 1\n```", "x = 1", ""),
    "mark and title": ('```python3 title="a.py"\nx = 1\n```', "x = 1", ""),
    "tildes": ("~~~\nx = 1\n~~~", "x = 1", ""),
    "longer fence around a shorter": ("````python\nx = '''\n```\n'''\n````", "x = '''\n```\n'''", ""),
    "spaces around": ("``` python  \nx = 1\n```  ", "x = 1", ""),
    "blank lines inside": ("```python\n\n\nx = 1\n\n```", "x = 1", ""),
    "imports": ("```python\nimport numpy as np\nx = np.pi\n```", "import numpy as np\nx = np.pi", ""),
    "tabs": ("```python\nif a:\n\tx = 1\n```", "if a:\n\tx = 1", ""),
    "one line": ("``` x = 1 ```", "x = 1", ""),
    "one line, marked": ("Sure:\n```python x = 1 ```", "x = 1", ""),
    "the first of two": (
        "```python\nx = 1\n```\nor\n```python\nx = 2\n```",
        "x = 1",
        "several_fences",
    ),
    "the marked one": ("```\nx = 1\n```\n```python\nx = 2\n```", "x = 2", "several_fences"),
    "the unmarked one": ("```bash\nls\n```\n```\nx = 2\n```", "x = 2", "several_fences"),
    "never closed": ("```python\nx = 1\ny = 2", "x = 1\ny = 2", "open_fence"),
    "second never closed": ("```\nx = 1\n```\n```\nx = 2", "x = 1", "several_fences"),
    "indented code": ("```python\n    x = 1\n    y = 2\n```", "x = 1\ny = 2", "indent"),
    "in a list": ("- step\n  ```python\n  x = 1\n  ```", "x = 1", "indent"),
    "curly quotes": ("```python\nx = “a”\n```", 'x = "a"', "quotes"),
}


@pytest.mark.parametrize(("reply", "code", "note"), FENCED.values(), ids=FENCED.keys())
def test_fenced_programs(reply: str, code: str, note: str) -> None:
    extracted = extract_code(reply)
    assert extracted.code == code
    assert extracted.notes == (("fence", note) if note else ("fence",))


UNFENCED = {
    "sentence before": ("Sure! Here is the code:\nx = 1", "x = 1", "prose"),
    "paragraphs around": (
        "Sure!\n\nFirst I grasp the cup.\n\nx = 1\n\ny = 2\n\nI hope this helps.",
        "x = 1\n\ny = 2",
        "prose",
    ),
    "list before": ("- Grasp the cup first\n1. Move it to the bowl.\nx = 1", "x = 1", "prose"),
    "one word after": ("x = 1\nDone.", "x = 1", "prose"),
    "comments stay": ("Here it is:\n# Query: move.\nx = 1\n# done", "# Query: move.\nx = 1\n# done", "prose"),
    "indented behind prose": ("Here is the code:\n    x = 1", "x = 1", "prose indent"),
    "indented": ("    x = 1\n    y = 2", "x = 1\ny = 2", "indent"),
    "thinking": ("<think>plan</think>\nx = 1", "x = 1", "thinking"),
    "thinking in capitals": ("<THINKING>\nplan\n</THINKING>\nx = 1", "x = 1", "thinking"),
    "thinking twice": ("<think>a</think>\n<reasoning>b</reasoning>\nx = 1", "x = 1", "thinking"),
    "thinking, opened in the prompt": ("plan\n</think>\nx = 1", "x = 1", "thinking"),
    "code in the thinking": (
        "<think>\n```python\nx = 9\n```\n</think>\n```python\nx = 1\n```",
        "x = 1",
        "thinking fence",
    ),
}


@pytest.mark.parametrize(("reply", "code", "notes"), UNFENCED.values(), ids=UNFENCED.keys())
def test_programs_without_a_fence(reply: str, code: str, notes: str) -> None:
    extracted = extract_code(reply)
    assert extracted.code == code
    assert extracted.notes == tuple(notes.split())


PUNCTUATION = {
    "double": ("x = “hello”", 'x = "hello"', "quotes"),
    "single": ("x = ‘hello’", "x = 'hello'", "quotes"),
    "low": ("x = „hello“", 'x = "hello"', "quotes"),
    "closing on both sides": ("x = ’a’", "x = 'a'", "quotes"),
    "single inside of double": ("f(“the ‘red’ cup”)", 'f("the ‘red’ cup")', "quotes"),
    "apostrophe inside": ("x = “it's”", 'x = "it\'s"', "quotes"),
    "two arguments": ("f(“a”, “b”)", 'f("a", "b")', "quotes"),
    "strings and comments stay": (
        "x = 'a’b'  # “c”\ny = “d”",
        "x = 'a’b'  # “c”\ny = \"d\"",
        "quotes",
    ),
    "string over lines stays": ('x = """a\n’ b"""\ny = “c”', 'x = """a\n’ b"""\ny = "c"', "quotes"),
    "no-break space": ("x =\u00a01", "x = 1", "spaces"),
    "indent of no-break spaces": ("if a:\n\u00a0\u00a0x = 1", "if a:\n  x = 1", "spaces"),
    "wide space": ("x\u3000= 1", "x = 1", "spaces"),
    "zero width": ("x\u200b = 1", "x = 1", "spaces"),
}


@pytest.mark.parametrize(("reply", "code", "note"), PUNCTUATION.values(), ids=PUNCTUATION.keys())
def test_punctuation_of_word_processors(reply: str, code: str, note: str) -> None:
    extracted = extract_code(reply)
    assert (extracted.code, extracted.notes) == (code, (note,))


NOT_PYTHON = "the program in the reply is not Python: "
REFUSED = {
    "empty": ("", "the reply is empty"),
    "white": (" \n\t\r\n", "the reply is empty"),
    "only a comment": ("# nothing to do", f"{NOT_PYTHON}there is no statement in it"),
    "only a comment, fenced": (
        "```python\n# nothing to do\n```",
        f"{NOT_PYTHON}there is no statement in it",
    ),
    "empty fence": ("```python\n```", f"{NOT_PYTHON}there is no statement in it"),
    "code before a lone fence": ("x = 1\n```", f"{NOT_PYTHON}there is no statement in it"),
    "refusal": (
        "Sorry, I can't help with that request.",
        'the reply has no program, it says: "Sorry, I can\'t help with that request."',
    ),
    "thinking that never ends": (
        "<think>plan\nx = 1",
        "the reply ends inside its thinking, <think> is never closed",
    ),
    "only thinking": ("<think>plan</think>\n", "the reply has thinking and no answer"),
    "another language": ("```bash\npip install x\n```", "the reply has a block of bash and none of Python"),
    "several others": ("```json\n{}\n```\n```c\n```", "the reply has a block of json and none of Python"),
    "prose between code": (
        "x = 1\nThen we do this.\ny = 2",
        f"{NOT_PYTHON}line 2: invalid syntax: Then we do this.",
    ),
    "prose in a fence": (
        "```\nThen we do this.\nx = 1\n```",
        f"{NOT_PYTHON}line 1: invalid syntax: Then we do this.",
    ),
    "cut off in a bracket": ("x = 1\ny = (", f"{NOT_PYTHON}line 2: '(' was never closed: y = ("),
    "cut off in a string": (
        'x = 1\nf("a',
        f'{NOT_PYTHON}line 2: unterminated string literal (detected at line 2): f("a',
    ),
    "cut off at a dot": ("x = 1\ncups.", f"{NOT_PYTHON}line 2: invalid syntax: cups."),
    "cut off after a header": (
        "x = 1\nif x:\n    y = 2\nelse:",
        f"{NOT_PYTHON}line 4: expected an indented block after 'else' statement on line 4: else:",
    ),
    "tabs and spaces mixed": (
        "```python\nif a:\n\tx = 1\n        y = 2\n```",
        f"{NOT_PYTHON}line 3: inconsistent use of tabs and spaces in indentation: y = 2",
    ),
    "curly quote never closed": (
        "```python\nx = “a\n```",
        f"{NOT_PYTHON}line 1: invalid character '“' (U+201C): x = “a",
    ),
    "return outside of a function": ("return 1", f"{NOT_PYTHON}line 1: 'return' outside function"),
    "lone surrogate": (
        "x = '\ud800'",
        f"{NOT_PYTHON}cannot be parsed: 'utf-8' codec can't encode character '\\ud800' in position 5: surrogates not allowed",
    ),
    "too long": ("x" * (MAX_CHARS + 1), "the reply has 100001 characters, more than 100000"),
}


@pytest.mark.parametrize(("reply", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_replies_without_a_program(reply: str, message: str) -> None:
    with pytest.raises(GenerationFailure) as caught:
        extract_code(reply)
    assert str(caught.value) == message
    assert caught.value.kind == "generation"


def test_the_longest_reply_is_read() -> None:
    reply = "# " + "a" * (MAX_CHARS - 8) + "\nx = 1"
    assert len(reply) == MAX_CHARS
    assert extract_code(reply).code == reply


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("x = 1", None),
        ("x = ", "line 1: invalid syntax: x ="),
        ("", "there is no statement in it"),
        ("(" * 500 + ")" * 500, "line 1: too many nested parentheses: " + "(" * 80),
        ("x = '\ud800'", "cannot be parsed: "),
        ("'a' is 'a'", None),
    ],
    ids=["program", "half", "nothing", "nested", "lone surrogate", "bad style"],
)
def test_syntax_problem(code: str, problem: str | None) -> None:
    found = syntax_problem(code)
    assert (found is None) == (problem is None)
    assert (found or "").startswith(problem or "")


@pytest.mark.parametrize("code", AS_IT_STANDS.values(), ids=AS_IT_STANDS.keys())
def test_plain_punctuation_leaves_python_alone(code: str) -> None:
    assert with_plain_punctuation(code) == code


PIECES = st.sampled_from(
    (
        "```",
        "```python",
        "<think>",
        "</think>",
        "\n",
        "\n    ",
        "x = 1",
        "y = (",
        ")",
        "Here is it:",
        "“",
        "”",
        "’",
        "'",
        '"',
        '"""',
        "#",
        "\\",
        "\u00a0",
        "\r\n",
        "\t",
        "for i in y:",
        "\x00",
        "\ud800",
    )
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(PIECES | st.text(max_size=5), max_size=12))
def test_any_reply_gives_python_or_a_reason(pieces: list[str]) -> None:
    try:
        extracted = extract_code("".join(pieces))
    except GenerationFailure as failure:
        assert str(failure)
    else:
        assert syntax_problem(extracted.code) is None
        assert extract_code(extracted.code).code == extracted.code.strip()
