"""Drawings: their bytes, sizes and fonts, and what stands in them."""

from __future__ import annotations

import io
import os
import pickle
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from analysis.figures import bars, style
from analysis.figures.chart import Chart, chart
from analysis.figures.pictures import PICTURES, pictures
from analysis.items import Group
from analysis.tables.entries import Computed
from tests.analysis.figures.conftest import computed, entry

pytest.importorskip("matplotlib", reason="figures need matplotlib (pip install 'engram[figures]')")
from matplotlib.figure import Figure

from analysis.figures.pictures import _columns, _figure

NASTY = r"_a$b$ %&#^\<x> é"


def drawn(one: Chart) -> Figure:
    from matplotlib import style as styles

    with styles.context(["default", style.SETTINGS]):
        return _figure(one)


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


def test_the_same_bytes_in_every_process_whatever_its_settings(two_by_two: Computed, tmp_path: Path) -> None:
    (tmp_path / "matplotlibrc").write_text("font.size: 20\nfigure.dpi: 10\n")
    program = (
        "import sys; from tests.analysis.figures.conftest import *; from analysis.figures import chart, pictures\n"
        "import pickle; one = pickle.load(sys.stdin.buffer)\n"
        "pickle.dump(pictures.pictures(one, ['png', 'pdf']), sys.stdout.buffer)"
    )
    one = chart(two_by_two)
    ours = pictures(one, PICTURES)
    environment = os.environ | {"PYTHONHASHSEED": "77", "TZ": "Asia/Tokyo", "MATPLOTLIBRC": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=pickle.dumps(one),
        capture_output=True,
        check=True,
        env=environment,
    )
    assert pickle.loads(done.stdout) == ours == pictures(one, PICTURES)


def test_a_pdf_has_whole_fonts_and_no_date(two_by_two: Computed) -> None:
    (pdf,) = pictures(chart(two_by_two), ["pdf"]).values()
    assert pdf.startswith(b"%PDF-1.4")
    assert b"/FontFile2" in pdf and b"/Type3" not in pdf
    assert b"Date" not in pdf and b"atplotlib" not in pdf
    assert re.findall(rb"/MediaBox \[\s*([^\]]*?)\s*\]", pdf) == [b"0 0 237.6 151.2"]


@pytest.mark.parametrize(("methods", "width"), [(3, style.COLUMN), (7, style.COLUMN), (8, style.PAGE)])
def test_a_picture_is_as_wide_as_a_column_or_as_the_page(methods: int, width: float) -> None:
    places = [(f"M{i}", task) for i in range(methods) for task in ("Search", "Count")]
    one = chart(computed({place: entry(3, 7) for place in places}))
    assert bars.width(one) == width
    (png,) = pictures(one, ["png"]).values()
    image = Image.open(io.BytesIO(png))
    assert image.size == (round(width * style.DOTS), round(2.1 * style.DOTS))
    assert "Software" not in image.info


def test_numbers_bars_diamonds_and_a_dash(two_by_two: Computed) -> None:
    figure = drawn(chart(two_by_two))
    axes = figure.axes[0]
    assert sorted(texts(figure)) == ["0", "57", "95", "–"]
    assert sorted(round(patch.get_height(), 1) for patch in axes.patches) == [0, 57.1, 95.2]
    assert sorted(line.get_ydata()[0] for line in axes.lines if line.get_marker() == "D") == [58, 64, 92]
    assert len(axes.containers) == 3 + 3  # a bar and a whisker each, none for what is missing
    assert axes.get_title() == ""
    assert [label.get_text() for label in axes.get_xticklabels()] == ["Search\nn = 7 to 21", "Count\nn = 21"]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["Flat", "HiMe", "published"]


def test_a_number_gives_way_to_a_diamond() -> None:
    free, hidden = (
        drawn(chart(computed({("A", "Search"): entry(10, 21, published)}))).axes[0].texts[0].get_position()[1]
        for published in ("20", "73")
    )
    assert free == pytest.approx(70.2 + 1.4, abs=0.1)
    assert hidden > 73 + 2


def test_with_one_task_the_methods_stand_under_their_bars() -> None:
    names = ("Transient + Sentry", "HiMe")
    figure = drawn(chart(computed({(name, "Rearrangement"): entry(3, 7) for name in names})))
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == [
        "Transient\n+ Sentry\nn = 7",
        "HiMe\n\nn = 7",
    ]
    assert figure.axes[0].get_xlabel() == "Rearrangement"
    assert not figure.legends


def test_points_stand_at_the_numbers_of_their_labels_and_gaps_stay() -> None:
    columns = [Group(name, benchmark="widowx", metric=name.lower()) for name in ("Precision", "Recall")]  # type: ignore[arg-type]
    entries = {
        (row, column.label): entry(3 * (row != "4 frames"), 4 * (row != "4 frames"), "50")
        for row in ("1 frame", "4 frames", "8 frames")
        for column in columns
    }
    figure = drawn(chart(computed(entries, columns=columns, metric="precision")))
    axes = figure.axes[0]
    assert list(axes.get_xticks()) == [1, 4, 8]
    lines = [line for line in axes.lines if line.get_linestyle() in ("-", "--")]
    assert [len(line.get_xdata()) for line in lines] == [2, 2]
    assert [round(float(line.get_xdata()[0]), 2) for line in lines] == [0.75, 1.25]
    assert texts(figure).count("–") == 2


def test_a_legend_takes_as_few_lines_as_fit() -> None:
    names = ["Precision", "Recall", "Precision by subtask", "Recall by subtask", "published"]
    assert [_columns(names, letters) for letters in (10, 50, 60, 74, 75, 85, 86)] == [1, 2, 3, 3, 4, 4, 5]


def test_text_stays_text(two_by_two: Computed) -> None:
    one = chart(two_by_two)
    odd = replace(
        one,
        series=(NASTY, "x" * 90),
        groups=(NASTY, "Count"),
        marks={(s, g): one.marks["HiMe", "Search"] for s in (NASTY, "x" * 90) for g in (NASTY, "Count")},
    )
    figure = drawn(odd)
    assert figure.legends[0].get_texts()[0].get_text() == NASTY
    figure.draw_without_rendering()
    assert figure.legends[0].get_window_extent().width <= figure.bbox.width
    assert set(pictures(odd, PICTURES)) == {"pdf", "png"}


def test_no_two_looks_are_the_same() -> None:
    names = [f"m{i}" for i in range(12)]
    looks = style.bars(names, "m3")
    assert len(set(looks.values())) == 12
    assert looks["m3"].hatch == ""
    assert len(set(style.lines(names[:4]).values())) == 4
