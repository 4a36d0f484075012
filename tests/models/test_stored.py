import keras
import numpy as np

import srmcmc_tf
from srmcmc_tf.models import energies
from srmcmc_tf.sampling.kernels import Kernel
from srmcmc_tf.sampling.starts import Start
from srmcmc_tf.sampling.stopping import Stop


def test_a_file_brings_back_start_kernel_stop_and_bank(tmp_path):
    model = srmcmc_tf.ShortRunEBM(
        energies.convnet(8, 1, n_f=2),
        K=2,
        start=Start(kind="persistent", bank=4),
        kernel=Kernel(name="hmc", leapfrog=2),
        stop=Stop(rule="slope", below=0.1),
    )
    model.compile()
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    assert again.starting.start == model.starting.start
    assert again.stages[0].kernel == model.stages[0].kernel
    assert again.stages[0].stop == model.stages[0].stop
    np.testing.assert_array_equal(again.starting.bank, model.starting.bank)
    assert set(model.checkpoint_items()) == {"energy", "chains", "optimizer"}
