import pathlib

import numpy as np

from srmcmc_tf.config.config import Config
from srmcmc_tf.data.examples import Examples
from srmcmc_tf.models.baselines.vae import VAE
from srmcmc_tf.runs.checkpoints import Saved
from srmcmc_tf.runs.run import Run
from srmcmc_tf.training import report


def test_examples_and_weights_are_counted(tiny_model):
    images = Examples(np.zeros([1500, 8, 8, 1]), np.zeros([20, 8, 8, 1]))
    text = "1,500 observed and 20 left-out images of 8x8x1"
    assert report.examples(images) == text
    points = Examples(np.zeros([5, 1]), np.zeros([0, 1]))
    assert report.examples(points).endswith("points of 1 coordinate")
    n = tiny_model.energy.count_params()
    assert report.weights(tiny_model) == f"{n:,} weights (energy {n:,})"
    vae = VAE(8, 1, n_f=2, latent=3)
    vae.compile()
    assert f"{vae.count_params():,} weights (encoder" in report.weights(vae)


def test_a_summary_names_the_cost_and_how_to_resume(tmp_path, caplog):
    run = Run(tmp_path / "run")
    run.picture(7).parent.mkdir(parents=True)
    run.picture(7).touch()
    saved = [Saved(pathlib.Path("x"), 0.5, 1.0), Saved(run.path, 0.25, 2.0)]
    report.summarize(run, Config(updates=10), 7, 5, 4.0, saved)
    text = caplog.text
    assert "2 updates in 4 s, 0.50 per second" in text
    assert (
        "update 7 of 10" in text and "(1.0 MB, saved in at most 0.50 s)" in text
    )
    assert str(run.picture(7)) in text and "bin/train --workdir=" in text
