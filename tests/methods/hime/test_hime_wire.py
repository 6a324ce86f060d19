"""What planners write, and what is made of it: nothing is lost without a word, and what is no answer is
refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.hime import markup, wire
from methods.hime.wire import (
    Create,
    Delete,
    Malformed,
    PlanLine,
    Query,
    UnusableReply,
    Update,
    plan_lines,
    read_first,
    read_second,
    read_step,
)

PLAN = "<plan_list>\n[done] inspect left box\n[current] inspect right box\n</plan_list>"
LINES = (PlanLine("done", "inspect left box"), PlanLine("current", "inspect right box"))
CREATE = (
    "<operation><type>CREATE</type><tags>bear, left_box</tags><text>the bear is in the left box</text>"
    "<image_path>2</image_path><reason>it will be hidden</reason></operation>"
)


def answer(operations: str = "", plan: str = PLAN, summary: str = "all is well") -> str:
    return f"<summary>{summary}</summary>\n<memory_operations>{operations}</memory_operations>\n{plan}"


def test_a_well_formed_reply_is_read_without_a_note() -> None:
    reply = read_second(
        answer(
            CREATE
            + "<operation><type>UPDATE</type><id>3</id><text>moved</text></operation>"
            + "<operation><type>DELETE</type><id>4</id><reason>twice</reason></operation>"
        )
    )
    assert reply.summary == "all is well"
    assert reply.operations == (
        Create(("bear", "left_box"), "the bear is in the left box", (2,), "it will be hidden"),
        Update(3, None, "moved"),
        Delete(4, "twice"),
    )
    assert (reply.lines, reply.notes) == (LINES, ())


def test_turn_one_asks_and_has_no_plan() -> None:
    text = answer(
        "<operation><type>QUERY</type><query>toy_duck</query></operation>", "<plan_list></plan_list>"
    )
    reply = read_first(text)
    assert (reply.operations, reply.lines, reply.notes) == ((Query(("toy_duck",)),), (), ())


def test_several_terms_are_several_queries() -> None:
    reply = read_first(
        answer("<operation><type>QUERY</type><query>duck, , left box;bear</query></operation>")
    )
    assert reply.operations == (Query(("duck", "left box", "bear")),)
    assert reply.notes == (wire.SEVERAL_TERMS,)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I am sorry, but I cannot help with that.",
        "<summary>s</summary><plan",
        answer(plan="<plan_list></plan_list>"),
        answer(plan="<plan_list>1. pick\n2. place</plan_list>"),
        answer(plan="<plan_list>[current]\n[pending] </plan_list>"),
        answer(CREATE, plan="[current] go"),
        f"<think>{answer()}",
        "<error>busy</error>",
    ],
)
def test_a_reply_without_a_plan_is_refused(text: str) -> None:
    with pytest.raises(UnusableReply) as error:
        read_second(text)
    assert error.value.kind == "generation"


def test_a_plan_without_states_says_so() -> None:
    with pytest.raises(UnusableReply, match="no line of the plan list begins with"):
        read_second(answer(plan="<plan_list>1. pick\n2. place</plan_list>"))


@pytest.mark.parametrize("text", ["", "   ", "Sorry.", "<think><summary>s</summary>"])
def test_turn_one_needs_one_of_the_elements(text: str) -> None:
    with pytest.raises(UnusableReply, match="none of the elements"):
        read_first(text)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (f"```xml\n{answer(CREATE)}\n```", markup.FENCE),
        (f"<think>I should write <summary> then <plan_list> ...</think>{answer(CREATE)}", markup.THINKING),
        (f"first <summary>, then\n</think>\n{answer(CREATE)}", markup.THINKING),
        (f"Here it is:\n{answer(CREATE)}", wire.AROUND),
        (f"{answer(CREATE)}\nI hope this helps!", wire.AROUND),
        (answer(CREATE).replace("</plan_list>", ""), markup.UNCLOSED),
        (answer(CREATE).replace("</memory_operations>", ""), markup.UNCLOSED),
        (answer(CREATE).replace("</operation>", ""), markup.UNCLOSED),
        (answer(CREATE).replace("</reason>", ""), markup.UNCLOSED),
        (answer(CREATE).replace("</tags>", ""), markup.UNCLOSED),
        (answer(CREATE).replace("all is", "all \x07is"), markup.CONTROL),
        (f"{answer(CREATE, plan='')}<plan_list>[current] no</plan_list>{PLAN}", wire.SEVERAL),
        (f"{PLAN}{answer(CREATE, plan='<plan_list> </plan_list>')}", ""),
        (answer(plan=CREATE + PLAN), wire.OUTSIDE),
        (answer(CREATE).upper().replace("[DONE]", "[done]"), None),
        (answer(f"<!-- Turn 2: CRUD -- operations -->{CREATE}"), ""),
        (f"<!-- a <summary> comes -->{answer(CREATE)}", ""),
        (answer(CREATE.replace("<text>", "<data><text>").replace("</text>", "</text></data>")), ""),
        (answer(CREATE, summary=""), wire.NO_SUMMARY),
        (f"{answer(CREATE, plan='<plan_list>[current] old</plan_list>')}\n{answer(CREATE)}", wire.SEVERAL),
    ],
)
def test_what_is_not_well_formed_is_recovered_with_a_note(text: str, note: str | None) -> None:
    """`note` None: upper case, in which texts differ too."""
    reply = read_second(text)
    if note is None:
        assert [line.text for line in reply.lines] == ["INSPECT LEFT BOX", "INSPECT RIGHT BOX"]
        assert isinstance(reply.operations[0], Create) and reply.operations[0].images == (2,)
        return
    assert reply.lines == LINES
    (created,) = reply.operations
    assert isinstance(created, Create)
    assert (created.tags, created.text, created.images) == (
        ("bear", "left_box"),
        "the bear is in the left box",
        (2,),
    )
    assert reply.notes == ((note,) if note else ())


@pytest.mark.parametrize(
    ("written", "meant", "notes"),
    [
        ("salt & pepper", "salt & pepper", (markup.UNESCAPED,)),
        ("gap < 2 cm", "gap < 2 cm", (markup.UNESCAPED,)),
        ("salt &amp; pepper, gap &lt; 2 &#99;m", "salt & pepper, gap < 2 cm", ()),
        ("AT&T &not an entity", "AT&T &not an entity", (markup.UNESCAPED,)),
        ("a <b>red</b> cup", "a red cup", (markup.FORMATTING,)),
        ("<![CDATA[x < y & z]]>", "x < y & z", ()),
        ("&#1234567;", "&#1234567;", ()),
    ],
)
def test_text_is_read_as_it_was_meant(written: str, meant: str, notes: tuple[str, ...]) -> None:
    reply = read_second(answer(summary=written))
    assert (reply.summary, reply.notes) == (meant, notes)


def test_a_step_with_tags_in_it_is_not_cut_short() -> None:
    reply = read_second(answer(plan="<plan_list>[current] pick <b>red</b> cup</plan_list>"))
    assert reply.lines == (PlanLine("current", "pick red cup"),)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ("<type>MERGE</type><id>1</id>", "there is no such type"),
        ("<id>1</id>", "it has no type"),
        ("", "it has no type"),
        ("<type>QUERY</type>", "it has no query"),
        ("<type>QUERY</type><query> , </query>", "it has no query"),
        ("<type>DELETE</type>", "it has no id"),
        ("<type>DELETE</type><id>abc</id>", "its id is 'abc'"),
        ("<type>UPDATE</type><id>-1</id><text>x</text>", "its id is '-1'"),
        ("<type>DELETE</type><id>1, 2</id>", "its id is '1, 2'"),
        ("<type>DELETE</type><id>3.5</id>", "its id is '3.5'"),
    ],
)
def test_a_malformed_operation_stops_no_other_one(fields: str, problem: str) -> None:
    reply = read_second(answer(f"{CREATE}<operation>{fields}</operation>{CREATE}"))
    assert [type(operation) for operation in reply.operations] == [Create, Malformed, Create]
    assert isinstance(reply.operations[1], Malformed) and reply.operations[1].problem == problem


@pytest.mark.parametrize(
    ("written", "noted"),
    [("3", False), (" 3 ", False), ("#3", True), ("3.0", True), ("id 3", True), ("[3]", True)],
)
def test_ids_are_numbers_however_they_are_written(written: str, noted: bool) -> None:
    reply = read_second(answer(f"<operation><type>delete</type><id>{written}</id></operation>"))
    assert reply.operations == (Delete(3),)
    assert (wire.ID_FORM in reply.notes) is noted


@pytest.mark.parametrize(
    ("written", "images", "noted"),
    [
        ("2", (2,), False),
        ("1, 3", (1, 3), False),
        ("frame 4", (4,), False),
        ("1-3", (1, 3), False),
        ("-1", (-1,), False),
        ("none", (), False),
        ("", (), False),
        ("left.png", (), True),
        ("9" * 30, (999999999,), False),
    ],
)
def test_image_indices(written: str, images: tuple[int, ...], noted: bool) -> None:
    operation = CREATE.replace("<image_path>2<", f"<image_path>{written}<")
    reply = read_second(answer(operation))
    assert isinstance(reply.operations[0], Create) and reply.operations[0].images == images
    assert (wire.IMAGE_FORM in reply.notes) is noted


def test_the_papers_other_names_are_understood() -> None:
    reply = read_second(answer(CREATE.replace("CREATE", "Add")))
    assert isinstance(reply.operations[0], Create) and reply.notes == (wire.RENAMED,)


@pytest.mark.parametrize(("written", "noted"), [("none", False), ("", False), ("create bear", True)])
def test_memory_operations_without_an_operation(written: str, noted: bool) -> None:
    reply = read_second(answer(written))
    assert reply.operations == () and (wire.NO_OPERATION in reply.notes) is noted


@pytest.mark.parametrize(
    ("text", "lines", "notes"),
    [
        ("1. [done] a\n2) [CURRENT] b.", [("done", "a"), ("current", "b")], ()),
        ("- **[current]** inspect recipe (check (all) it needs)", [("current", "inspect recipe")], ()),
        (
            "inspect box [current]\nStep 2: pick [pending]",
            [("current", "inspect box"), ("pending", "pick")],
            (),
        ),
        ("[active] a", [("current", "a")], ()),
        ("[current] a\n[current] b", [("current", "a"), ("pending", "b")], (wire.SEVERAL_CURRENT,)),
        (
            "[done] a\n[pending] b\n[pending] c",
            [("done", "a"), ("current", "b"), ("pending", "c")],
            (wire.PROMOTED,),
        ),
        ("[done] a [current] b", [("done", "a"), ("current", "b")], (wire.SEVERAL_STEPS,)),
        ("a [done] b [current]", [("done", "a"), ("current", "b")], (wire.SEVERAL_STEPS,)),
        ("1. [done] a 2. [current] b", [("done", "a"), ("current", "b")], (wire.SEVERAL_STEPS,)),
        ("Stage 1\n[current] a", [("current", "a")], (wire.NO_STATE,)),
        ("[done] a\n[current]", [("done", "a")], (wire.NO_WORDS,)),
        ("[current] move 1.5 cm", [("current", "move 1.5 cm")], ()),
        ("[current] 2 cups to the tray", [("current", "2 cups to the tray")], ()),
        ("[current] (look around)", [("current", "look around")], ()),
        ("[done] not all done yet", [("done", "not all done yet")], ()),
        ("", [], ()),
    ],
)
def test_plan_lists(text: str, lines: list[tuple[str, str]], notes: tuple[str, ...]) -> None:
    found, noted = plan_lines(text)
    assert [(line.state, line.text) for line in found] == lines
    assert noted == notes


def test_what_a_step_is_for_is_kept_apart() -> None:
    ((line,), _) = plan_lines("[current] inspect recipe (what does it need) now (soon)")
    assert (line.text, line.purpose) == ("inspect recipe now", "what does it need; soon")


@pytest.mark.parametrize(
    ("text", "subtask", "complete", "notes"),
    [
        (
            "<summary>s</summary><subtask>inspect box</subtask><is_complete>false</is_complete>",
            "inspect box",
            False,
            (),
        ),
        (
            "<subtask>1. [current] inspect box</subtask><is_complete> No. </is_complete>",
            "inspect box",
            False,
            (),
        ),
        ("<subtask></subtask><is_complete>True</is_complete>", "", True, ()),
        ("<subtask>a</subtask>", "a", False, (wire.COMPLETE_FORM,)),
        ("<subtask>a</subtask><is_complete>maybe</is_complete>", "a", False, (wire.COMPLETE_FORM,)),
        ("<subtask>a\nb</subtask><is_complete>no</is_complete>", "a", False, (wire.SEVERAL_LINES,)),
        ("<subtask>a<is_complete>no</is_complete>", "a", False, (markup.UNCLOSED,)),
    ],
)
def test_single_steps(text: str, subtask: str, complete: bool, notes: tuple[str, ...]) -> None:
    reply = read_step(text)
    assert (reply.subtask, reply.complete, reply.notes) == (subtask, complete, notes)


@pytest.mark.parametrize(
    "text",
    ["", "pick up the cup", "<subtask></subtask><is_complete>no</is_complete>", "<summary>done</summary>"],
)
def test_a_single_step_that_says_neither_is_refused(text: str) -> None:
    with pytest.raises(UnusableReply):
        read_step(text)


PARTS = st.sampled_from(
    [
        f"<{close}{name}>"
        for name in (*wire.SECTIONS, "operation", *wire.FIELDS, "think")
        for close in ("", "/")
    ]
    + [
        "<!--",
        "-->",
        "```",
        "[done]",
        "[current]",
        "\n",
        " ",
        "a & b < c",
        "CREATE",
        "1",
        "(",
        ")",
        "<![CDATA[",
        "]]>",
    ]
)


@given(st.lists(PARTS, max_size=40).map("".join) | st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    for read in (read_first, read_second, read_step):
        try:
            read(text)
        except UnusableReply as error:
            assert str(error)


@pytest.mark.parametrize(
    "part", ["<summary>", "<", "<!--", "<think>", "&", "(", "[done]", "- ", "<operation>", " "]
)
def test_long_replies_take_no_long_time(part: str) -> None:
    """Quadratic reading of 200 kB would take minutes, and the suite's time would say so."""
    with pytest.raises(UnusableReply):
        read_step(part * (200_000 // len(part)) + "x")


def test_a_tag_that_is_only_talked_about_ends_no_plan() -> None:
    reply = read_second(f"{answer(CREATE)}\nThe <plan_list> above is final.")
    assert reply.lines == LINES and len(reply.operations) == 1
    assert reply.notes == (wire.SEVERAL, wire.AROUND)
