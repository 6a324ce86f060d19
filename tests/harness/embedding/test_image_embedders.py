"""Embedders of pictures: values of `ColourLayout`, and what the ones of a library say where it is missing."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

from harness.embedding import ColourLayout, SentenceTransformersImages, sentence_transformers
from harness.failures import ProviderError
from harness.testing.conformance import check_image_embedder

RED, BLUE = (255, 0, 0), (0, 0, 255)
WHITE, BLACK = (255, 255, 255), (0, 0, 0)


def flat(colour: tuple[int, int, int], size: tuple[int, int] = (16, 16)) -> Any:
    return np.full((*size, 3), colour, dtype=np.uint8)


def halves(first: tuple[int, int, int], second: tuple[int, int, int]) -> Any:
    """The first colour on the left, the second on the right."""
    return np.hstack([flat(first, (16, 8)), flat(second, (16, 8))])


def cosine(a: Any, b: Any, **settings: int) -> float:
    first, second = ColourLayout(**settings).embed_images([a, b])
    return float(first @ second)


def test_colour_layout_conforms() -> None:
    check_image_embedder(ColourLayout())


def test_colours_are_compared_as_distances_from_grey() -> None:
    """(1, -1, -1) and (-1, -1, 1) from the middle: a cosine of -1/3."""
    assert cosine(flat(RED), flat(BLUE)) == pytest.approx(-1 / 3, abs=1e-5)
    assert cosine(flat((255, 255, 255)), flat((0, 0, 0))) == pytest.approx(-1, abs=1e-5)
    # As strong as each other's halves: red and black agree in two channels of three.
    assert cosine(flat(RED), flat((0, 0, 0))) == pytest.approx(1 / 3, abs=1e-5)


def test_it_is_where_colours_lie_that_counts() -> None:
    same, swapped = halves(RED, BLUE), halves(BLUE, RED)
    assert cosine(same, same) == pytest.approx(1, abs=1e-5)
    # Red and blue are equally bright: no edges.
    assert cosine(same, swapped) == pytest.approx(-1 / 3, abs=1e-5)
    # Edges agree (1), colours are opposite (-1): half of each.
    assert cosine(halves(WHITE, BLACK), halves(BLACK, WHITE)) == pytest.approx(0, abs=1e-5)
    # One cell knows no places.
    assert cosine(same, swapped, grid=1) == pytest.approx(1, abs=1e-5)


def test_edges_are_told_apart_by_direction_and_not_by_which_side_is_bright() -> None:
    upright = halves(WHITE, BLACK)
    lying = upright.transpose(1, 0, 2)
    first, second, third = (
        ColourLayout(grid=1)._edges(picture.mean(axis=2)) for picture in (upright, lying, upright[:, ::-1])
    )
    assert first == pytest.approx(third)
    assert first @ second == pytest.approx(0)
    assert np.count_nonzero(first) == np.count_nonzero(second) == 1


def test_the_size_of_a_picture_hardly_matters() -> None:
    large = halves(RED, BLUE).repeat(8, 0).repeat(8, 1)
    assert cosine(halves(RED, BLUE), large) > 0.95
    assert cosine(flat(RED), flat(RED, (3, 5))) == pytest.approx(1, abs=1e-5)
    assert cosine(flat(RED), flat(RED, (1, 1))) == pytest.approx(1, abs=1e-5)


def test_uneven_cells_share_pixels() -> None:
    """Three pixels over two cells: the middle one belongs to both."""
    values = np.array([[[0.0], [1.0], [2.0]]])
    assert ColourLayout(grid=2)._cells(values)[0, :, 0] == pytest.approx([1 / 3, 5 / 3])


@pytest.mark.parametrize("settings", [{"grid": 0}, {"directions": 0}])
def test_settings_that_give_no_vector_are_refused(settings: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        ColourLayout(**settings)


def test_a_missing_library_is_named() -> None:
    missing = [
        name for name in ("sentence_transformers", "torchvision") if importlib.util.find_spec(name) is None
    ]
    problems = SentenceTransformersImages().problems()
    assert [problem.what.rpartition(" ")[2] for problem in problems] == missing
    assert all("engram[clip]" in problem.fix for problem in problems)


class Model:
    """Encodes a picture as its mean colour, as long as that is; a model of texts refuses."""

    texts_only = False

    def encode(self, pictures: list[Any], show_progress_bar: bool) -> Any:
        if self.texts_only:
            raise ValueError("Modality 'image' is not supported")
        return np.array([np.asarray(picture).mean(axis=(0, 1)) for picture in pictures], dtype=np.float32)

    def get_embedding_dimension(self) -> int:
        return 3


def test_pictures_go_to_the_library_as_pillow_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentence_transformers, "_model", lambda config: Model())
    check_image_embedder(SentenceTransformersImages())
    rows = SentenceTransformersImages().embed_images([flat(RED), flat((0, 3, 4)), flat((0, 0, 0))])
    assert rows == pytest.approx(np.array([[1, 0, 0], [0, 0.6, 0.8], [0, 0, 0]]))


def test_a_model_of_texts_only_is_the_providers_doing(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Model()
    model.texts_only = True
    monkeypatch.setattr(sentence_transformers, "_model", lambda config: model)
    with pytest.raises(ProviderError, match="embedded no picture: Modality"):
        SentenceTransformersImages().embed_images([flat(RED)])
