"""One HTML page of an experiment: its tables and every episode.

The page holds its style, its script, the tables and a packed row of each episode, and asks no network for anything.
What was recorded of an episode it loads when the episode is opened: traces from scripts in the folder `report` beside
it, pictures and videos from the cells' folders. So the page alone shows tables and rows; with the experiment's folder
it shows everything, also from a disk. Prompts and replies are in `report`: who is given it can read them."""

from __future__ import annotations

import shutil
from pathlib import Path

from analysis import items, rows
from analysis.plans import Plans
from analysis.report import compared, comparison, episodes, overview, traces
from analysis.report.page import page
from analysis.tables import plans
from analysis.tables.entries import compute
from analysis.tables.layout import arrange
from analysis.tables.page import table
from harness.failures import UsageError

PAGE, FOLDER = "report.html", "report"


def write(experiment: Path) -> Path:
    """Write the page and its folder into the experiment's. Returns the page's path. Raises as `rows.load` does."""
    found = rows.load([experiment])
    notes = list(found.notes)
    if found.torn:
        notes.append(f"{found.torn} rows were cut off by a kill and are left out.")
    sections = []
    for item in items.load():
        try:
            computed = compute(item, found)
            if not computed.empty:
                sections.append(
                    plans.texts(item, found)["html"] if isinstance(item, Plans) else table(arrange(computed))
                )
        except UsageError as error:
            notes.append(f"{item.name} is left out. {error}")
    part = experiment / f"{FOLDER}.part"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    places = traces.write(found, part)
    worlds = comparison.compare(found)
    text = page(
        experiment.resolve().name,
        overview.lines(found),
        [compared.section(world) for world in worlds],
        sections,
        notes,
        episodes.pack(found, places),
    )
    shutil.rmtree(experiment / FOLDER, ignore_errors=True)
    part.replace(experiment / FOLDER)
    target = experiment / PAGE
    target.write_text(text, encoding="utf-8")
    return target
