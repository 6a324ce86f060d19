"""How long a query over a code memory takes: `python benchmarks/retrieval.py`.

Instructions are made from a grammar and embedded by the core's embedder; beyond 20,000 distinct ones they are varied
by noise, for as many do not come from a grammar. CPU time of one query for the five best, against the plain product
of all vectors and a sort; medians of several queries, both in one run. Building is done once for a memory."""

from __future__ import annotations

import itertools
import statistics
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from harness.embedding import Lexical
from methods.retrieval.index import Index

QUERIES = 9
FOUND = 5


def instructions() -> list[str]:
    verbs = [
        "open",
        "close",
        "push",
        "pull",
        "lift",
        "press",
        "turn",
        "rotate",
        "stack",
        "place",
        "throw",
        "take",
    ]
    colours = ["red", "blue", "green", "pink", "yellow", "black", "white", "orange"]
    things = [
        "drawer",
        "button",
        "lid",
        "cup",
        "bottle",
        "block",
        "door",
        "lamp",
        "box",
        "jar",
        "plate",
        "spoon",
        "ball",
        "umbrella",
        "bin",
    ]
    places = "on the table, in the bin, to the left, to the right, off the shelf, out of the drawer, under the lamp, "
    places += "behind the box, near the cup, beside the plate, above the jar, into the box, by the door, from the desk"
    made = itertools.product(verbs, colours, things, places.split(", "))
    return [f"{verb} the {colour} {thing} {place}" for verb, colour, thing, place in made]


def vectors(count: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    known = Lexical().embed(instructions())
    known = known[rng.permutation(len(known))]
    if count <= len(known):
        return known[:count]
    made = known[rng.integers(len(known), size=count)]
    for start in range(0, count, 50_000):
        part = made[start : start + 50_000]
        part += rng.normal(scale=0.4 / np.sqrt(part.shape[1]), size=part.shape).astype(np.float32)
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    return made


def seconds(work, queries) -> float:
    spent = []
    for query in queries:
        before = time.process_time()
        work(query)
        spent.append(time.process_time() - before)
    return statistics.median(spent)


def main() -> None:
    queries = Lexical().embed(
        [f"kindly {text}" for text in instructions()[:: len(instructions()) // QUERIES][:QUERIES]]
    )
    print("records   query, ms of CPU   plain product and sort, ms   ratio   building, s")
    for count in (1_000, 10_000, 100_000, 1_000_000):
        stored = vectors(count)
        before = time.process_time()
        index = Index(stored)
        building = time.process_time() - before
        ours = seconds(
            lambda query, index=index: list(itertools.islice(index.ranking(query), FOUND)), queries
        )
        plain = seconds(
            lambda query, stored=stored: np.argsort(-(stored @ query), kind="stable")[:FOUND], queries
        )
        print(
            f"{count:>9}{1e3 * ours:>15.2f}{1e3 * plain:>25.2f}{plain / ours:>14.1f}{building:>12.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
