"""The model of a config."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import keras

from srmcmc_tf.config.config import Config
from srmcmc_tf.models import energies, schedules
from srmcmc_tf.models.baselines.dcgan import DCGAN
from srmcmc_tf.models.baselines.latent import LatentModel
from srmcmc_tf.models.baselines.vae import VAE
from srmcmc_tf.models.conditional import conditional
from srmcmc_tf.models.generator import Generator
from srmcmc_tf.models.short_run import ShortRunEBM
from srmcmc_tf.models.stage import Stage
from srmcmc_tf.sampling import rng
from srmcmc_tf.sampling.kernels import Kernel
from srmcmc_tf.sampling.starts import Start
from srmcmc_tf.sampling.stopping import Stop

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


def settled(config: Config, update: int) -> Config:
    """The settings with the rate and the sigmas of an update, constant.

    Args:
        config: the settings of a run.
        update: of the run.
    """
    *coarse, sigma = (
        [config.sigma]
        if config.sigma == "auto"
        else [float(of(update)) for of in sigmas(config)]
    )
    return dataclasses.replace(
        config,
        learning_rate=float(_learning_rate(config)(update)),
        learning_rate_half_life=0,
        warm_up=0,
        sigma=sigma,
        coarse_sigma=",".join(map(str, coarse)),
        sigma_half_life=0,
    )


def _learning_rate(config: Config) -> schedules.Anneal:
    return schedules.Anneal(
        config.learning_rate,
        after=config.anneal_after,
        half_life=config.learning_rate_half_life,
        warm_up=config.warm_up,
    )


def sigmas(
    config: Config,
    least: float = 0.0,
    state: dict[str, Any] | None = None,
) -> list[schedules.SigmaSchedule]:
    """The sigma of each stage, coarse to fine.

    Args:
        config: the settings.
        least: sigma is never smaller.
        state: of `--sigma=auto`, to resume from.
    """
    if config.sigma == "auto":
        auto = schedules.AutoSigma(
            learning_rate=config.learning_rate,
            least=max(least, config.noise),
            state=state,
        )
        return [auto] * len(config.scales)
    return [
        schedules.Anneal(
            float(scale.sigma),
            after=config.anneal_after,
            half_life=config.sigma_half_life,
            least=least,
        )
        for scale in config.scales
    ]


def _short_run(config: Config) -> ShortRunEBM:
    n = len(config.scales)
    levels: list[Any] = [0.0] * n
    if n > 1 and config.sigma != "auto":  # a single stage gets noisy data
        levels = list(sigmas(config))
    # The finest has the seed itself, as the only one of the paper's model has.
    seeds = [rng.branch(config.seed, rng.STAGE, n - i) for i in range(1, n)]
    stages = [
        Stage(
            _energy(config, scale.size, seed),
            K=scale.K,
            step_size=config.step_size,
            noise=config.noise,
            noise_end=_noise_end(config),
            start_noise=config.start_noise,
            sigma=sigma,
            kernel=_kernel(config),
            stop=Stop(rule=config.stop, below=config.stop_below),
        )
        for scale, seed, sigma in zip(
            config.scales, [*seeds, config.seed], levels, strict=True
        )
    ]
    model = ShortRunEBM(stages, start=_start(config), seed=config.seed)
    optimizer = model.adam(_learning_rate(config))
    optimizer.beta_1 = config.beta_1
    model.compile(
        optimizer,
        jit_compile=_JIT_COMPILE[config.jit_compile],
    )
    return model


def _energy(config: Config, size: int, seed: int) -> keras.Model:
    network: dict[str, Any] = dict(
        n_f=config.n_f, seed=seed, dtype=config.precision
    )
    if config.data.points:
        return energies.mlp(config.data.dimension, **network)
    kind = {"paper": energies.convnet, "pooled": energies.pooled}
    energy = kind[config.network](size, config.channels, **network)
    if config.conditional == "on":
        return conditional(energy, config.classes)
    return energy


def _noise_end(config: Config) -> float | None:
    if not config.noise_decay:
        return None
    return config.noise * (1.0 - config.noise_decay)


def _start(config: Config) -> Start:
    return Start(
        kind=config.start,
        bank=config.bank,
        reinitialize=config.reinitialize,
        task=config.task,
        mask=config.mask,
        factor=config.factor,
        hold=config.hold == "on",
        start_noise=config.start_noise,
    )


def _kernel(config: Config) -> Kernel:
    return Kernel(
        name=config.kernel,
        leapfrog=config.leapfrog,
        metropolis=config.metropolis == "on",
        clip=config.clip,
        clamp=config.clamp,
    )


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
