"""A worker that goes back once and leaves the weights it ends with, as npz.

Its arguments are the file of the weights and the flags of `bin/train`.
"""

import numpy as np
from helpers import divergence_at

from srmcmc_tf.cli import app
from srmcmc_tf.cli import train as command


def work(argv):
    app.import_tensorflow()
    from srmcmc_tf.models import factory

    models, build = [], factory.build
    factory.build = lambda config: models.append(build(config)) or models[-1]
    with divergence_at(16):
        code = command.train(argv[1:])
    items = models[-1].checkpoint_items().values()
    state = [variable.numpy() for item in items for variable in item.variables]
    np.savez(argv[0], *state)
    return code


def main():
    app.run("train", work)
