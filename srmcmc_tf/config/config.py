"""The settings of a run: one dataclass, for `configs/`, flags and JSON."""

import dataclasses
from typing import Any

from srmcmc_tf.config import chain_settings, datasets, fields, rules, scales
from srmcmc_tf.config.chain_settings import ChainSettings
from srmcmc_tf.config.datasets import DATASETS, Dataset
from srmcmc_tf.config.fields import setting
from srmcmc_tf.config.model_kinds import MODEL_KINDS, ModelKind
from srmcmc_tf.config.recipes import RECIPES
from srmcmc_tf.errors import UserError


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(ChainSettings):
    """Settings of one run; the defaults are those of the paper's code.

    Every field is a flag of `bin/train`. Values are checked when a `Config`
    is made: one out of its range raises `UserError`.
    """

    dataset: str = setting(
        "digits",
        "data",
        "what to learn; tfds:NAME is any images of TensorFlow Datasets",
        choices=tuple(DATASETS),
    )
    data_dir: str = setting(
        "",
        "data",
        "directory of the data (of TFDS, a folder of images, LSUN's lmdb)",
    )
    toy: str = setting(
        "", "data", f"which toy of toy_2d: {', '.join(DATASETS['toy_2d'].toys)}"
    )
    image_size: int = setting(
        32, "data", "height and width, a power of two", 8, 1024
    )
    channels: int = setting(
        3, "data", "1 for gray, 3 for color", choices=(1, 3)
    )
    n_examples: int = setting(
        40_000, "data", "observed examples, a fixed random choice", 1, 10**9
    )
    n_left_out: int = setting(
        1_000,
        "data",
        "others kept for reconstruction, at most a fifth of all",
        0,
        10**6,
    )

    recipe: str = setting(
        "paper",
        "model",
        "defaults: those of the paper, or the improved ones (docs/recipe.md)",
        choices=RECIPES,
    )
    model: str = setting(
        "ebm",
        "model",
        "short-run MCMC, or one of the paper's baselines",
        choices=tuple(MODEL_KINDS),
    )
    network: str = setting(
        "paper",
        "model",
        "with strided convolutions, or with average pooling",
        choices=tuple(scales.LEAST_SIZE),
    )
    conditional: str = setting(
        "off",
        "model",
        "an energy for each class of labeled data",
        choices=("on", "off"),
    )
    classes: int = setting(
        0, "model", "conditional: how many; 0: those of the data", 0, 100_000
    )
    n_f: int = setting(64, "model", "feature maps of the first layer", 1, 4096)
    K: int = setting(
        100,
        "model",
        "Langevin steps of a chain; with --coarse_K, of its last stage",
        1,
        100_000,
    )
    coarse_K: str = setting(
        "",
        "model",
        "those of stages before, each of half the size, coarse to fine, as "
        "20,10; empty: the paper's single chain",
        1,
        100_000,
        each=int,
    )
    start_noise: float = setting(
        0.1,
        "model",
        "factor of the uniform noise added to the enlarged end of a stage, and "
        "to the starts of --task=upscale and colorize",
        0.0,
        1.0,
    )
    step_size: float = setting(
        1.0, "model", "factor of the gradient f' in a step", 0.0, 1e6
    )
    noise: float = setting(
        0.01, "model", "factor of the Gaussian noise in a step", 0.0, 1e3
    )
    noise_decay: float = setting(
        0.0,
        "model",
        "share of the noise that is gone in the last step of a stage",
        0.0,
        1.0,
    )
    precision: str = setting(
        "float32",
        "model",
        "of the network; the chain is always float32",
        choices=("float32", "mixed_bfloat16"),
    )
    jit_compile: str = setting(
        "auto",
        "model",
        "XLA for the chain; auto is on for a GPU, off for a CPU",
        choices=("auto", "true", "false"),
    )

    updates: int = setting(
        250_000, "training", "updates of the weights", 1, 10**9
    )
    batch_size: int = setting(
        64, "training", "examples, and chains, per update", 1, 10**6
    )
    flip: str = setting(
        "off",
        "training",
        "mirrors half of the images, chosen anew for each update",
        choices=("on", "off"),
    )
    learning_rate: float = setting(1e-4, "training", "of Adam", 0.0, 1.0)
    beta_1: float = setting(0.9, "training", "of Adam", 0.0, 0.999)
    warm_up: int = setting(
        0,
        "training",
        "updates in which the learning rate rises from 0",
        0,
        10**9,
    )
    sigma: float = setting(
        0.03,
        "training",
        "noise added to the examples; auto lowers it until it is unstable",
        0.0,
        10.0,
        word="auto",
    )
    coarse_sigma: str = setting(
        "",
        "training",
        "that of the stages before, as 0.05,0.05; empty: sigma",
        0.0,
        10.0,
        each=float,
    )
    anneal_after: int = setting(
        200_000,
        "training",
        "update after which learning rate and sigma decay",
        0,
        10**9,
    )
    learning_rate_half_life: int = setting(
        12_500,
        "training",
        "updates in which it then halves; 0: constant",
        0,
        10**9,
    )
    sigma_half_life: int = setting(
        50_000,
        "training",
        "updates in which it then halves; 0: constant",
        0,
        10**9,
    )
    guard: str = setting(
        "on",
        "training",
        "rolls back to a good checkpoint when training diverges",
        choices=("on", "off"),
    )
    initial: str = setting(
        "",
        "training",
        "preset:NAME, or preset:PATH of one of your own, whose weights it "
        "starts from, and whose settings are the defaults",
        flag="from",
    )
    ema: float = setting(
        0.0,
        "training",
        "decay of the weights' moving average used to sample, as 0.999; 0: off",
        0.0,
        0.99999,
    )
    seed: int = setting(1, "training", "random seed", 0, 2**31 - 1)

    strategy: str = setting(
        "auto",
        "run",
        "devices: one, mirrored (all here), multi_worker (TF_CONFIG)",
        choices=("auto", "one", "mirrored", "multi_worker"),
    )
    log_every: int = setting(
        1, "run", "updates between two logged values", 1, 10**9
    )
    sample_every: int = setting(
        500, "run", "updates between two pictures", 1, 10**9
    )
    checkpoint_every: int = setting(
        500, "run", "updates between two checkpoints", 1, 10**9
    )
    evaluate_every: int = setting(
        0,
        "run",
        "updates between two evaluations, whose best is kept; 0: none",
        0,
        10**9,
    )
    evaluate_n: int = setting(
        5_000, "run", "samples of an evaluation", 2, 10**9
    )
    inception: str = setting(
        "",
        "run",
        "weights of Inception: classify_image_graph_def.pb, its archive or an "
        "npz; else they are downloaded",
    )

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            fields.check(field, getattr(self, field.name))
        rules.check(self)

    @property
    def data(self) -> Dataset:
        """What is known of the dataset."""
        return datasets.get(self.dataset)

    @property
    def scales(self) -> list[scales.Scale]:
        """The stages, coarse to fine: one, where `coarse_K` has none."""
        return scales.of(self)

    @property
    def kind(self) -> ModelKind:
        """What is known of the kind of model."""
        return MODEL_KINDS[self.model]


# Any: a field's `type` may also be text, but never is in this file.
# Those of the chain last, though a base class comes first.
FIELDS: dict[str, Any] = {
    field.name: field
    for field in sorted(
        dataclasses.fields(Config),
        key=lambda field: field.metadata["group"] == chain_settings.GROUP,
    )
}


def parse(name: str, text: str) -> Any:
    """The value that `text`, from a command line, gives to a field."""
    field = FIELDS[name]
    try:
        value = text if text == field.metadata["word"] else field.type(text)
    except ValueError:
        raise UserError(fields.refusal(field, text)) from None
    fields.check(field, value)
    return value


def from_dict(values: dict[str, Any]) -> Config:
    """A `Config` from all settings; an unknown or missing one is an error."""
    for name in values:
        if name not in FIELDS:
            raise UserError(
                f"unknown setting {name!r}{fields.suggest(name, FIELDS)}"
            )
    if missing := FIELDS.keys() - values.keys():
        raise UserError(f"lacks {', '.join(sorted(missing))}")
    return Config(**values)
