"""`bin/train` that also leaves the weights it ends with, as an npz.

python a_worker.py WEIGHTS FLAGS...
"""

import numpy as np

from srmcmc_tf.cli import app
from srmcmc_tf.cli import train as verb


def work(argv):
    app.import_tensorflow()
    from srmcmc_tf import train

    models, build = [], train.build
    train.build = lambda config: models.append(build(config)) or models[-1]
    code = verb.train(argv[1:])
    state = models[0].variables + models[0].optimizer.variables
    np.savez(argv[0], *[variable.numpy() for variable in state])
    return code


if __name__ == "__main__":
    app.run("train", work)
