"""The inception score: from 1 to the number of classes."""

import numpy as np
from helpers import random_features

from srmcmc_tf.compat import tensorflow as compat
from srmcmc_tf.scores.inception_score import InceptionScore


def test_it_agrees_with_tensorflow_gan():
    gan = compat.tensorflow_gan_metrics()
    logits = random_features(600, 2, scale=1.3, shift=0.4)
    score = InceptionScore(logits.shape[1], splits=4)
    score.update_state(logits)
    one = gan.classifier_score_from_logits
    scores = [one(logits[i::4]) for i in range(4)]
    found = score.result()
    np.testing.assert_allclose(
        [found["is"], found["is_standard_deviation"]],
        [np.mean(scores), np.std(scores)],
        rtol=1e-4,
    )


def test_it_is_between_one_and_the_number_of_classes():
    uniform, diverse = InceptionScore(5), InceptionScore(5)
    uniform.update_state(np.zeros([20, 5]))
    diverse.update_state(1e4 * np.repeat(np.eye(5), 10, axis=0))
    np.testing.assert_allclose(uniform.result()["is"], 1.0)
    np.testing.assert_allclose(diverse.result()["is"], 5.0)
