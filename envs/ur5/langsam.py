"""Open-vocabulary segmentation by LangSAM (the package lang-sam), as in the paper, for `env.detector`. It was not run:
its weights are not here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from lang_sam import LangSAM  # type: ignore[import-not-found, unused-ignore]
from PIL import Image as Pictures

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.protocols import Image


class LangSam:
    def __init__(self) -> None:
        self._model = LangSAM()

    def find(self, image: Image, name: str) -> NDArray[np.bool_]:
        """See `envs.ur5.perception.Detector`: the mask that fits the name best."""
        (found,) = self._model.predict([Pictures.fromarray(image)], [f"{name}."])
        masks, scores = np.asarray(found["masks"]), np.asarray(found["scores"])
        if not len(masks):
            return np.zeros(image.shape[:2], dtype=bool)
        best: NDArray[np.bool_] = masks[int(scores.argmax())].astype(bool)
        return best
