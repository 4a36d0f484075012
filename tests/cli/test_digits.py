"""The promise of the README's first command, kept by a real run of it."""

import numpy as np
import pytest
from helpers import run
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from srmcmc_tf.data import pixels
from srmcmc_tf.runs.run import Run


@pytest.mark.slow
def test_the_default_draws_all_ten_digits(tmp_path):
    workdir = tmp_path / "digits"
    code, _, err = run(f"--workdir={workdir}", timeout=1200)
    assert code == 0, err
    model = Run(workdir).load_model()
    samples = pixels.to_uint8(model.sample(range(500)).numpy()) / 255.0

    digits = load_digits()
    classifier = KNeighborsClassifier(5)
    classifier.fit(digits.data / 16.0, digits.target)
    chances = classifier.predict_proba(samples.reshape(500, 64))
    assert chances.max(axis=1).mean() >= 0.85
    counts = np.bincount(chances.argmax(axis=1), minlength=10)
    assert counts.min() > 0 and counts.max() <= 500 / 4
