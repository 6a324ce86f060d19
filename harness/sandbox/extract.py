"""Finds the program in a chat model's reply. It decides what the text of the program is and that it is
Python; whether the program may run is for `harness.sandbox.policy`.

The rule, in order; the first step that gives a program ends it:

1. A reply that is Python as it stands is taken as it stands.
2. Thinking is dropped: from a line that starts with `<think>` to `</think>`, and whatever stands before a
   lone `</think>`. Thinking that is never closed is a failure.
3. If there are fenced blocks, the first one marked as Python is the program, else the first one without
   a mark; the other blocks are ignored and noted. A fence that is never closed ends with the reply.
4. Without a fence, lines of prose are dropped at the start and at the end, never between lines of code.
5. What is left must be Python with at least one statement. If it is not, it is tried again with curly
   quotes and odd spaces outside of strings and comments replaced, and with a common indent removed.

A line that is neither prose nor valid code is never dropped: half a program must not run.
"""

from __future__ import annotations

import ast
import keyword
import re
import textwrap
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from harness.failures import GenerationFailure

MAX_CHARS = 100_000
"""Longer replies are refused unread."""
PYTHON_MARKS = frozenset({"python", "py", "python3", "python2", "ipython"})
THINKING_TAGS = "think|thinking|thought|reasoning"

_OPEN_THINKING = re.compile(rf"(?im)^[ \t]*<({THINKING_TAGS})>")
_CLOSE_THINKING = re.compile(rf"(?i)</({THINKING_TAGS})>")
_LONE_CLOSE = re.compile(rf"(?im)^[ \t]*</({THINKING_TAGS})>|</({THINKING_TAGS})>[ \t]*$")
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+.#-]*)[^`\n]*$")
_ONE_LINE_FENCE = re.compile(
    r"^[ \t]*```+[ \t]*(?:(?:python3?|py)\b)?[ \t]*([^`\n]+?)[ \t]*```+[ \t]*$", re.MULTILINE
)
_WORD = r"[A-Za-z][A-Za-z'’-]*"
_MARKUP = re.compile(r"^(?:[-*•>]+\s+|\d+[.)]\s+|\*\*|__)")
_SENTENCE = re.compile(rf"^({_WORD})[,:;.!]?\s+{_WORD}(?=[\s.,:;!?)*`_]|$)")
# `cups.` is where a reply was cut off; `Done.` is prose.
_EXCLAMATION = re.compile(rf"^(?:{_WORD}[!:,]+|[A-Z][A-Za-z'’-]*[.!:,]+)$")
_ODD_SPACES = {"\u00a0": " ", "\u2007": " ", "\u202f": " ", "\u3000": " ", "\u200b": "", "\ufeff": ""}
_CURLY = {"“": ('"', "”"), "„": ('"', "“”"), "”": ('"', "”"), "‘": ("'", "’"), "’": ("'", "’")}


@dataclass(frozen=True)
class Extracted:
    """A program and what was done to find it: any of "thinking", "fence", "several_fences", "open_fence",
    "prose", "quotes", "spaces", "indent"."""

    code: str
    notes: tuple[str, ...] = ()


def extract_code(text: str) -> Extracted:
    """The program in a reply, by the rule above. Raises `GenerationFailure` that says why there is none."""
    if len(text) > MAX_CHARS:
        raise GenerationFailure(f"the reply has {len(text)} characters, more than {MAX_CHARS}")
    text = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")
    if not text.strip():
        raise GenerationFailure("the reply is empty")
    whole = text.strip()
    if syntax_problem(whole) is None:
        return Extracted(whole)
    notes: list[str] = []
    body = _without_thinking(text, notes)
    if not body.strip():
        raise GenerationFailure("the reply has thinking and no answer")
    body = _from_fences(body, notes)
    return _as_python(body, notes, trim_prose="fence" not in notes)


def syntax_problem(code: str) -> str | None:
    """Why `code` is not a program, or None if it is one: it must compile and have a statement."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the model's style, not about this process
            tree = ast.parse(code)
            compile(tree, "<program>", "exec", dont_inherit=True)
    except SyntaxError as error:
        source = f": {error.text.strip()[:80]}" if error.text else ""
        return f"line {error.lineno or 0}: {error.msg}{source}"
    except (ValueError, RecursionError, MemoryError) as error:
        return f"cannot be parsed: {error or type(error).__name__}"
    return None if tree.body else "there is no statement in it"


def _without_thinking(text: str, notes: list[str]) -> str:
    kept, position = [], 0
    while opened := _OPEN_THINKING.search(text, position):
        closed = _CLOSE_THINKING.search(text, opened.end())
        if closed is None:
            raise GenerationFailure(f"the reply ends inside its thinking, <{opened[1]}> is never closed")
        kept.append(text[position : opened.start()])
        position = closed.end()
        notes[:] = ["thinking"]
    rest = body = "".join(kept) + text[position:]
    # Some servers put the opening tag into the prompt, so that only the closing one is in the reply. In
    # the middle of a line it may be part of a string.
    for lone in _LONE_CLOSE.finditer(rest):
        notes[:] = ["thinking"]
        body = rest[lone.end() :]
    return body


def _from_fences(text: str, notes: list[str]) -> str:
    blocks = list(_blocks(text))
    if not blocks:
        one_line = _ONE_LINE_FENCE.search(text)
        if one_line is None:
            return text
        notes.append("fence")
        return one_line[1]
    marked = [block for block in blocks if block.mark in PYTHON_MARKS]
    usable = marked or [block for block in blocks if not block.mark]
    if not usable:
        raise GenerationFailure(f"the reply has a block of {blocks[0].mark} and none of Python")
    notes.append("fence")
    if len(blocks) > 1:
        notes.append("several_fences")
    if not usable[0].closed:
        notes.append("open_fence")
    return usable[0].code


@dataclass(frozen=True)
class _Block:
    mark: str
    code: str
    closed: bool


def _blocks(text: str) -> Iterator[_Block]:
    """Fenced blocks in order of appearance."""
    opening, mark, lines = "", "", list[str]()
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        if not opening:
            if fence:
                opening, mark, lines = fence[1], fence[2].lower(), []
        elif fence and fence[1].startswith(opening) and not fence[2]:
            yield _Block(mark, "\n".join(lines), closed=True)
            opening = ""
        else:
            lines.append(line)
    if opening:
        yield _Block(mark, "\n".join(lines), closed=False)


def _as_python(text: str, notes: list[str], trim_prose: bool) -> Extracted:
    body = text.strip("\n").rstrip()
    problem = syntax_problem(body)
    if problem is None:
        return Extracted(body, tuple(notes))
    candidates = [(body, notes)]
    if trim_prose:
        trimmed = _without_prose(body)
        if not trimmed.strip():
            raise GenerationFailure(f"the reply has no program, it says: {_beginning(body)!r}")
        if trimmed != body:
            candidates.insert(0, (trimmed, [*notes, "prose"]))
    for candidate, so_far in candidates:
        for code, done in _repaired(candidate):
            if syntax_problem(code) is None:
                return Extracted(code, (*so_far, *done))
    first = candidates[0][0]
    raise GenerationFailure(f"the program in the reply is not Python: {syntax_problem(first) or problem}")


def _repaired(code: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The code as it is, then with the repairs of step 5 that change something."""
    yield code, ()
    plain = with_plain_punctuation(code)
    done = () if plain == code else ("quotes",) if any(mark in code for mark in _CURLY) else ("spaces",)
    if plain != code:
        yield plain, done
    for variant in (textwrap.dedent(plain), plain.lstrip()):
        if variant != plain:
            yield variant.strip("\n"), (*done, "indent")


def with_plain_punctuation(code: str) -> str:
    """Curly quotes that delimit strings become straight ones and odd spaces plain ones; strings and
    comments stay byte for byte."""
    result: list[str] = []
    position = 0
    while position < len(code):
        char = code[position]
        if char == "#":
            end = code.find("\n", position)
            end = len(code) if end < 0 else end
            result.append(code[position:end])
        elif char in "'\"":
            end = _string_end(code, position)
            result.append(code[position:end])
        elif char in _CURLY:
            quote, closers = _CURLY[char]
            end = _curly_end(code, position, closers + quote)
            closed = end > position + 1 and code[end - 1] in closers + quote
            content = code[position + 1 : end - 1] if closed else code[position + 1 : end]
            result.append(quote + content + (quote if closed else ""))
        else:
            end = position + 1
            result.append(_ODD_SPACES.get(char, char))
        position = end
    return "".join(result)


def _string_end(code: str, start: int) -> int:
    """The position behind the string that starts at `start`, or behind its line if it is not closed."""
    quote = code[start : start + 3] if code[start : start + 3] == code[start] * 3 else code[start]
    position = start + len(quote)
    while position < len(code):
        if code[position] == "\\":
            position += 2
        elif code.startswith(quote, position):
            return position + len(quote)
        elif code[position] == "\n" and len(quote) == 1:
            return position
        else:
            position += 1
    return len(code)


def _curly_end(code: str, start: int, closers: str) -> int:
    for position in range(start + 1, len(code)):
        if code[position] in closers:
            return position + 1
        if code[position] == "\n":
            return position
    return len(code)


def _without_prose(text: str) -> str:
    lines = text.split("\n")
    first, last = 0, len(lines)
    while first < last and _is_prose(lines[first]):
        first += 1
    while last > first and _is_prose(lines[last - 1]):
        last -= 1
    return "\n".join(lines[first:last]).strip("\n")


def _is_prose(line: str) -> bool:
    """Blank, or words that no line of code begins with."""
    stripped = line.strip()
    if not stripped:
        return True
    plain = _MARKUP.sub("", stripped)
    if line[0] in " \t" and plain == stripped:
        return False  # indented text is the inside of a block
    if _EXCLAMATION.match(plain) and not _is_code_header(plain):
        return True
    sentence = _SENTENCE.match(plain)
    if sentence is None or keyword.iskeyword(sentence[1]) or syntax_problem(plain) is None:
        return False
    return len(plain.split()) > 2 or plain[-1] in ".:!?*"


def _is_code_header(line: str) -> bool:
    return line.rstrip(":") in {"else", "try", "finally", "except"}


def _beginning(text: str) -> str:
    return " ".join(text.split())[:100]
