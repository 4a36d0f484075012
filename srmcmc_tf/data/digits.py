"""The embedded dataset: scikit-learn's 1,797 handwritten digits."""

import numpy as np
from sklearn import datasets


def load() -> tuple[np.ndarray, np.ndarray]:
    """Returns uint8 images [1797, 8, 8], bright on dark, and labels [1797]."""
    found = datasets.load_digits()
    # 17 gray levels.
    images = np.round(found.images * (255 / 16)).astype(np.uint8)
    return images, found.target
