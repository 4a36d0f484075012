"""What an update changes in layers besides their trained weights.

BatchNormalization keeps moments, SpectralNormalization a vector, Dropout the
state of a random generator. Keras lets each replica change its own copy of
them, draws the same masks on every replica, and stores no generator in files.
"""

from typing import Any

import keras
import tensorflow as tf

from srmcmc_tf.sampling import rng


def set_seeds(network: keras.Model, stream: rng.Stream) -> None:
    """Sets the random generators of layers, such as those of Dropout.

    In a replica: each draws its own. Called before each update, it makes the
    draws a function of (seed, update, replica), so nothing is to be stored.

    Args:
        network: whose layers draw.
        stream: of `rng.LAYERS` and the update.
    """
    replica = tf.distribute.get_replica_context().replica_id_in_sync_group
    stream = stream.fold(replica)
    for i, state in enumerate(_generators(network)):
        state.assign(tf.cast(stream.fold(i).seed, state.dtype))


def synchronize(network: keras.Model) -> None:
    """Sets what layers keep to its mean over replicas, in each of them."""
    replica = tf.distribute.get_replica_context()
    if replica.num_replicas_in_sync == 1:
        return
    kept = [
        weight
        for weight in network.non_trainable_weights
        if tf.as_dtype(weight.dtype).is_floating
    ]
    if kept:
        values = [tf.convert_to_tensor(weight) for weight in kept]
        means = replica.all_reduce("MEAN", values)
        for weight, mean in zip(kept, means, strict=True):
            weight.assign(mean)


def _generators(network: keras.Model) -> list[Any]:
    """The states of `keras.random.SeedGenerator`s, in the layers' order."""
    return [
        variable
        for variable in network.non_trainable_variables
        if variable.name == "seed_generator_state"
    ]
