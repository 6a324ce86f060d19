"""Stages, subtasks and facts: what counts, when the user comes, and what is not made up for."""

import numpy as np
import pytest

from envs.household import Household
from envs.household.furniture import hand
from envs.household.progress import CLEAR
from envs.household.sight import Eye, Moment
from envs.household.tasks.counting import ALL, POT
from envs.household.tasks.object_search import BOXES, SORTS, THINGS, TRAY
from envs.household.tasks.rearrangement import CHEST, MATS, TOYS
from harness.failures import StepLimit
from harness.protocols import Pose
from harness.seeding import Seeds

STILL = np.array([0.0, 0, 0, 0, 0, 0, 1])
DOWN = np.array([0.0, 0.0, 1.0, 0.0])


def idle(env, steps=1):
    for _ in range(steps):
        env.act(STILL)


def done(env):
    return [subtask.done_at is not None for subtask in env.subtasks()]


def parts(text):
    """Thing, source and target of a subtask's words."""
    thing, rest = text.removeprefix("pick up ").split(" from ")
    return thing, *rest.split(" and place it to ")


def over(env, place, aside=0.0):
    """Above the middle of something, or so far to the side; the gripper points down."""
    x, y, _ = env.world.position(place)
    return Pose(np.array([x, y + aside, 0.18]), DOWN)


def look_into(env, place, steps=12):
    env.move(over(env, place))
    idle(env, steps)


def box(name):
    return next(box for box in BOXES if box.name == name)


def place_all(env, text):
    """Put a thing where its subtask wants it, by hand."""
    thing, _, target = parts(text)
    box(target).put(env.world, thing, 0.0, 0.0)


def search(scene, index=0):
    """object_search with the boxes inspected."""
    env = scene("object_search", index)
    for entry in BOXES:
        look_into(env, entry.name)
    assert done(env) == [True, True, True, False, False, False]
    return env


def scene_where(scene, moved):
    """One in which the liked thing is exchanged, or is not."""
    for index in range(20):
        env = scene("object_search", index)
        if bool(env.world.memo["stages"][1].goals[0].outdated) is moved:
            return index
    raise AssertionError


def test_idling_does_nothing(scene):
    for task in ("object_search", "counting", "rearrangement"):
        env = scene(task, 1)
        idle(env, 20)
        assert not any(done(env))
        assert not env.verdict().success
        assert env.utterances() == []


def test_looking_takes_half_a_second_from_above(scene):
    env = scene("object_search", 0)
    env.move(over(env, "left box", -0.1))
    idle(env, 10)
    assert not any(done(env)), "beside the box is not above it"
    look_into(env, "left box", steps=12)
    assert done(env)[:3] == [True, False, False]
    assert env.current_subtask() == 1
    env.home()
    for side in (-1, 1):
        # Passing over it shows too little of it.
        env.move(over(env, "right box", side * 0.12), speed=3.0)
    assert done(env)[:3] == [True, False, False]


def test_a_box_is_inspected_when_all_that_is_in_it_is_seen(scene):
    env = scene("object_search", 0)
    look_into(env, "middle box", steps=3)
    entry = box("middle box")
    (thing,) = entry.contents(env.world, THINGS)

    class Hidden(Moment):
        """As if a part were behind something."""

        def __init__(self, part):
            super().__init__(env.world, Eye(env.world))
            self.part = part

        def pixels(self, body):
            return 0 if body == self.part else super().pixels(body)

    assert entry.inspected(Hidden("nothing"), THINGS)
    assert not entry.inspected(Hidden(thing), THINGS)
    assert not entry.inspected(Hidden(entry.bottom), THINGS)
    assert not box("left box").inspected(Hidden("nothing"), THINGS), "the hand is not above it"


def test_a_fact_is_known_from_when_it_is_seen(scene):
    env = scene("object_search", 2)
    placing = env.subtasks()[3]
    thing, _, target = parts(placing.text)
    (fact,) = placing.facts
    assert (fact.subject, fact.relation, fact.since) == (target, "holds", None)
    assert fact.value.split()[0] == thing.split()[0]
    likes = env.subtasks()[5].facts[0]
    assert (likes.relation, likes.since) == ("likes", 0)
    assert likes.value == env.world.variation["liked"]
    before = env.steps()
    look_into(env, target)
    (fact,) = env.subtasks()[3].facts
    assert before < fact.since <= env.steps()


def test_a_thing_counts_in_its_own_box_when_it_is_let_go(scene, kit):
    env = search(scene)
    text = env.subtasks()[3].text
    thing, _, target = parts(text)
    wrong = next(entry for entry in BOXES if entry.name != target)
    wrong.put(env.world, thing, 0.0, 0.0)
    idle(env, 10)
    assert done(env)[3] is False
    hand(env.world, thing, 0.35, -0.13, 0.0)
    idle(env, 5)
    expert = kit.Expert(env)
    expert.pick(thing)
    x, y, _, yaw = expert.spot(target)
    expert.go([x, y, 0.19], yaw)
    expert.go([x, y, 0.05], yaw)
    assert box(target).holds(env.world, thing)
    assert done(env)[3] is False, "it is still held"
    expert.open()
    idle(env, 3)
    assert done(env)[3] is True


def test_the_user_waits_until_the_hand_is_out_of_the_way(scene):
    env = search(scene)
    env.move(Pose(np.array([0.30, 0.0, CLEAR - 0.03]), DOWN))
    for subtask in env.subtasks()[3:5]:
        place_all(env, subtask.text)
    idle(env, 10)
    assert done(env) == [True] * 5 + [False]
    assert env.utterances() == []
    assert env.current_subtask() is None
    env.move(Pose(np.array([0.30, 0.0, CLEAR + 0.03]), DOWN))
    (said,) = env.utterances()
    assert 0 < said.step <= env.steps()
    assert env.current_subtask() == 5
    assert "tray" in said.text
    assert env.world.variation["person"] in said.text
    assert env.world.variation["liked"] not in said.text, "what somebody likes is not said twice"


@pytest.mark.parametrize("moved", [True, False])
def test_things_are_exchanged_and_what_was_known_is_outdated(scene, moved):
    env = search(scene, scene_where(scene, moved))
    before = {entry.name: entry.contents(env.world, THINGS) for entry in BOXES}
    assert env.subtasks()[5].outdated == (), "nothing is outdated yet"
    for subtask in env.subtasks()[3:5]:
        place_all(env, subtask.text)
    env.home()
    idle(env, 5)
    (said,) = env.utterances()
    named = [name for name in before if name in said.text]
    assert len(named) == 2
    after = {entry.name: entry.contents(env.world, THINGS) for entry in BOXES}
    assert before[named[0]][0] in after[named[1]] and before[named[1]][0] in after[named[0]]
    fetching = env.subtasks()[5]
    thing, source, target = parts(fetching.text)
    assert box(source).holds(env.world, thing) and target == TRAY.name
    _, where = fetching.facts
    assert (where.subject, where.value) == (source, thing)
    if not moved:
        assert source not in named and where.since is not None and fetching.outdated == ()
        return
    assert where.since is None, "nobody has looked again"
    (old,) = fetching.outdated
    assert before[old.subject] == [thing] and old.subject in named and old.since is not None
    look_into(env, source)
    assert env.subtasks()[5].facts[1].since > said.step


def test_anything_of_the_liked_sort_will_do_and_nothing_else(scene):
    env = search(scene)
    for subtask in env.subtasks()[3:5]:
        place_all(env, subtask.text)
    env.home()
    idle(env, 5)
    liked = next(sort for sort, words in SORTS.items() if words == env.world.variation["liked"])
    for sort in SORTS:
        if sort != liked:
            TRAY.put(env.world, next(name for name in THINGS if name.startswith(sort)), 0.0, 0.0)
            idle(env, 8)
            assert not env.verdict().success
            hand(env.world, next(name for name in THINGS if name.startswith(sort)), 0.35, 0.2, 0.0)
    stored = next(name for name in THINGS if name.startswith(liked) and env.world.position(name)[2] < 0)
    TRAY.put(env.world, stored, 0.0, 0.0)
    idle(env, 8)
    verdict = env.verdict()
    assert (verdict.success, verdict.holds, verdict.subtasks_done) == (True, True, 6)
    hand(env.world, stored, 0.35, 0.2, 0.0)
    idle(env, 5)
    assert env.verdict().success, "it latches"


def test_a_stage_ends_when_its_steps_are_spent_and_is_not_made_up_for(scene):
    env = scene("rearrangement", 0)
    toys = [name for name in TOYS if name in env.objects()]
    idle(env, 516)
    assert env.utterances() == []
    idle(env, 1)
    (said,) = env.utterances()
    assert said.step == 517 == env.steps()
    # The user has collected what the robot left.
    assert set(CHEST.contents(env.world, TOYS)) == set(toys)
    idle(env, 5)
    assert done(env) == [False] * 6, "in the chest by the user's hand, and too late"
    assert env.current_subtask() == 3
    with pytest.raises(StepLimit):
        idle(env, 600)
    assert env.steps() == 1035
    assert env.verdict().subtasks == 6 and env.verdict().subtasks_done == 0


def test_toys_come_back_in_a_row_and_one_moves_in_with_another(scene):
    env = scene("rearrangement", 3)
    world = env.world
    mats = {mat.name: mat for mat in MATS}
    own = {toy: source for toy, source, _ in (parts(subtask.text) for subtask in env.subtasks()[:3])}
    assert all(mats[mat].got(now(env), toy) for toy, mat in own.items())
    for offset, toy in zip((-0.07, 0.0, 0.07), own, strict=True):
        CHEST.put(world, toy, 0.0, offset)
    idle(env, 6)
    assert done(env) == [True] * 3 + [False] * 3
    assert len(env.utterances()) == 1
    idle(env, 5)
    guest, host = world.variation["guest"], world.variation["host"]
    for subtask in env.subtasks()[3:]:
        toy, source, target = parts(subtask.text)
        assert source == "chest"
        assert target == (own[host] if toy == guest else own[toy])
        stood = {(fact.subject, fact.value) for fact in subtask.facts if fact.relation == "stood on"}
        assert stood == ({(host, own[host])} if toy == guest else {(toy, own[toy])})
        assert all(fact.since == 0 for fact in subtask.facts)
        assert [(fact.subject, fact.value) for fact in subtask.outdated] == (
            [(guest, own[guest])] if toy == guest else []
        )
    mats[own[guest]].put(world, guest, 0.0, 0.0)
    idle(env, 6)
    assert done(env)[3:] == [False] * 3, "where it stood once is wrong now"
    for toy, y in ((host, -0.03), (guest, 0.03)):
        mats[own[host]].put(world, toy, 0.0, y)
    (third,) = set(own) - {host, guest}
    mats[own[third]].put(world, third, 0.0, 0.0)
    idle(env, 6)
    assert env.verdict().success


def now(env):
    return Moment(env.world, Eye(env.world))


def fill(env, names):
    """Into the pot, side by side."""
    inside = len(POT.contents(env.world, ALL))
    for number, name in enumerate(names, inside):
        POT.put(env.world, name, 0.04 * (number // 3) - 0.02, 0.035 * (number % 3 - 1))
    idle(env, 6)


def wanted(env, stage):
    """Portions that a stage's subtasks ask for, each once."""
    found, names = [], iter(())
    for subtask in env.subtasks():
        if subtask.stage == stage and subtask.text.startswith("pick"):
            ingredient = parts(subtask.text)[0]
            names = (name for name in ALL if ALL[name] == ingredient and name not in found)
            free = [name for name in names if not POT.holds(env.world, name)]
            found.append(free[0])
    return found


def test_portions_are_counted_one_by_one(scene):
    env = scene("counting", 4)
    first = wanted(env, 0)
    for number, name in enumerate(first, 1):
        fill(env, [name])
        assert sum(done(env)) == number
    assert env.current_subtask() == 0, "the card was not read"
    look_into(env, "recipe card")
    assert len(env.utterances()) == 1
    second = wanted(env, 1)
    fill(env, second)
    assert env.verdict().success
    assert len(first) + len(second) == 6


@pytest.mark.parametrize("index", [0, 1, 2, 3])
def test_the_second_batch_has_what_is_preferred(scene, index):
    env = scene("counting", index)
    words, subtasks = env.world.variation, env.subtasks()
    first = [parts(subtask.text)[0] for subtask in subtasks[1:] if subtask.stage == 0]
    second = [parts(subtask.text)[0] for subtask in subtasks if subtask.stage == 1]
    batches = {"one batch": 1, "two batches": 2}[words["batches"]]
    assert words["usual"] in first and words["usual"] not in second and words["better"] not in first
    assert second.count(words["better"]) * batches == first.count(words["usual"])
    facts = next(subtask.facts for subtask in subtasks if words["better"] in subtask.text)
    assert {fact.relation for fact in facts} == {"asks for", "prefers"}
    assert next(fact for fact in facts if fact.relation == "prefers").since == 0
    card = next(fact for fact in facts if fact.relation == "asks for")
    assert (card.value, card.since) == (f"{second.count(words['better'])} {words['usual']}", None)
    look_into(env, "recipe card")
    assert done(env)[0]
    facts = next(subtask.facts for subtask in env.subtasks() if words["better"] in subtask.text)
    assert all(fact.since is not None for fact in facts)


def test_what_does_not_belong_spoils_the_batch(scene):
    env = scene("counting", 4)
    first = wanted(env, 0)
    alien = next(name for name in ALL if ALL[name] not in {ALL[portion] for portion in first})
    fill(env, [first[0], alien])
    assert sum(done(env)) == 0
    fill(env, first[1:])
    assert sum(done(env)) == 0
    # Taken out again, the rest counts.
    hand(env.world, alien, 0.28, 0.0, 0.0)
    idle(env, 6)
    assert sum(done(env)) == len(first)


def test_too_much_spoils_as_well_and_the_next_stage_starts_anew(scene):
    env = scene("counting", 4)
    first = wanted(env, 0)
    extra = next(name for name in ALL if ALL[name] == ALL[first[0]] and name not in first)
    fill(env, [first[0], extra, *(name for name in first[1:] if ALL[name] == ALL[first[0]])])
    counted = sum(done(env))
    assert counted <= sum(ALL[name] == ALL[first[0]] for name in first)
    others = [name for name in first if ALL[name] != ALL[first[0]]]
    fill(env, others[:1])
    assert sum(done(env)) == counted, "nothing more counts"
    limit = env.world.memo["stages"][0].steps
    idle(env, limit - env.steps())
    assert len(env.utterances()) == 1
    second = wanted(env, 1)[:1]
    x, y, _ = env.world.position("pot")
    hand(env.world, second[0], x + 0.03, y + 0.03, 0.03)
    idle(env, 8)
    assert done(env)[env.current_subtask() - 1] is True


def test_each_round_fills_the_boxes_anew_and_forgets_the_last(kit):
    env = Household(rounds=2, noise=0).open()
    env.reset("object_search", 1, Seeds("household", "object_search", 1, 0))
    expert = kit.Expert(env)
    first = parts(env.subtasks()[3].text)[0]
    assert env.world.variation == {"first": first}
    assert {name for name in THINGS if name in env.objects()} == {first}
    for subtask in env.subtasks()[:4]:
        expert.do(subtask.text)
    expert.rest()
    (said,) = env.utterances()
    second = parts(env.subtasks()[7].text)[0]
    assert second in said.text
    assert {name for name in THINGS if name in env.objects()} == {second}
    assert all(len(entry.contents(env.world, THINGS)) == 1 for entry in BOXES)
    (fact,) = env.subtasks()[7].facts
    assert fact.since is None or fact.since >= said.step
    for subtask in env.subtasks()[4:]:
        expert.do(subtask.text)
    assert env.verdict().success
    assert env.subtasks()[7].facts[0].since >= said.step
    env.close()


def test_the_oracle_is_asked_only_with_a_scene():
    env = Household().open()
    for ask in (env.subtasks, env.current_subtask, env.utterances, env.verdict, env.objects):
        with pytest.raises(RuntimeError, match="reset"):
            ask()
    env.close()
