"""The model of a config."""

import functools
from collections.abc import Callable
from typing import Any

from srmcmc_tf.config.config import Config
from srmcmc_tf.models import energies, schedules
from srmcmc_tf.models.baselines.dcgan import DCGAN
from srmcmc_tf.models.baselines.latent import LatentModel
from srmcmc_tf.models.baselines.vae import VAE
from srmcmc_tf.models.generator import Generator
from srmcmc_tf.models.short_run import ShortRunEBM

_JIT_COMPILE: dict[str, bool | str] = {
    "auto": "auto",
    "true": True,
    "false": False,
}


def build(config: Config) -> Generator:
    """The compiled model of a config, with its initial weights.

    It keeps an average of its weights if `config.ema` is not 0.
    """
    model = _MODELS[config.kind.name](config)
    if config.ema:
        model.keep_average(config.ema)
    return model


def _learning_rate(config: Config) -> schedules.Anneal:
    return schedules.Anneal(
        config.learning_rate,
        after=config.anneal_after,
        half_life=config.learning_rate_half_life,
    )


def _short_run(config: Config) -> ShortRunEBM:
    network: dict[str, Any] = dict(
        n_f=config.n_f, seed=config.seed, dtype=config.precision
    )
    if config.data.points:
        energy = energies.mlp(config.data.dimension, **network)
    else:
        energy = energies.convnet(config.image_size, config.channels, **network)
    model = ShortRunEBM(
        energy,
        K=config.K,
        step_size=config.step_size,
        noise=config.noise,
        seed=config.seed,
    )
    model.compile(
        model.adam(_learning_rate(config)),
        jit_compile=_JIT_COMPILE[config.jit_compile],
    )
    return model


def _baseline(kind: type[LatentModel], config: Config) -> LatentModel:
    model = kind(
        config.image_size,
        config.channels,
        n_f=config.n_f,
        seed=config.seed,
        precision=config.precision,
    )
    model.compile(model.adam(_learning_rate(config)))
    return model


_MODELS: dict[str, Callable[[Config], Generator]] = {
    "ebm": _short_run,
    "vae": functools.partial(_baseline, VAE),
    "dcgan": functools.partial(_baseline, DCGAN),
}
