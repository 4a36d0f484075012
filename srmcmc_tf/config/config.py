"""The settings of a run: one dataclass, for `configs/`, flags and JSON."""

import dataclasses
import difflib
from collections.abc import Iterable
from typing import Any

from srmcmc_tf.config import datasets
from srmcmc_tf.config.datasets import DATASETS, Dataset
from srmcmc_tf.config.model_kinds import MODEL_KINDS, ModelKind
from srmcmc_tf.errors import UserError


def _setting(
    default: Any,
    group: str,
    text: str,
    low: float | None = None,
    high: float | None = None,
    **rules: Any,
) -> Any:
    rules = {"choices": None, "word": None, **rules}  # a word for a number
    metadata = dict(group=group, help=text, low=low, high=high, **rules)
    return dataclasses.field(default=default, metadata=metadata)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config:
    """Settings of one run; the defaults are those of the paper's code.

    Every field is a flag of `bin/train`. Values are checked when a `Config`
    is made: one out of its range raises `UserError`.
    """

    dataset: str = _setting(
        "digits",
        "data",
        "what to learn; tfds:NAME is any images of TensorFlow Datasets",
        choices=tuple(DATASETS),
    )
    data_dir: str = _setting(
        "",
        "data",
        "directory of the data (of TFDS, a folder of images, LSUN's lmdb)",
    )
    toy: str = _setting(
        "", "data", f"which toy of toy_2d: {', '.join(DATASETS['toy_2d'].toys)}"
    )
    image_size: int = _setting(
        32, "data", "height and width, a power of two", 8, 1024
    )
    channels: int = _setting(
        3, "data", "1 for gray, 3 for color", choices=(1, 3)
    )
    n_examples: int = _setting(
        40_000, "data", "observed examples, a fixed random choice", 1, 10**9
    )
    n_left_out: int = _setting(
        1_000,
        "data",
        "others kept for reconstruction, at most a fifth of all",
        0,
        10**6,
    )

    model: str = _setting(
        "ebm",
        "model",
        "short-run MCMC, or one of the paper's baselines",
        choices=tuple(MODEL_KINDS),
    )
    n_f: int = _setting(64, "model", "feature maps of the first layer", 1, 4096)
    K: int = _setting(100, "model", "Langevin steps of a chain", 1, 100_000)
    step_size: float = _setting(
        1.0, "model", "factor of the gradient f' in a step", 0.0, 1e6
    )
    noise: float = _setting(
        0.01, "model", "factor of the Gaussian noise in a step", 0.0, 1e3
    )
    precision: str = _setting(
        "float32",
        "model",
        "of the network; the chain is always float32",
        choices=("float32", "mixed_bfloat16"),
    )
    jit_compile: str = _setting(
        "auto",
        "model",
        "XLA for the chain; auto is on for a GPU, off for a CPU",
        choices=("auto", "true", "false"),
    )

    updates: int = _setting(
        250_000, "training", "updates of the weights", 1, 10**9
    )
    batch_size: int = _setting(
        64, "training", "examples, and chains, per update", 1, 10**6
    )
    learning_rate: float = _setting(1e-4, "training", "of Adam", 0.0, 1.0)
    sigma: float = _setting(
        0.03,
        "training",
        "noise added to the examples; auto lowers it until it is unstable",
        0.0,
        10.0,
        word="auto",
    )
    anneal_after: int = _setting(
        200_000,
        "training",
        "update after which learning rate and sigma decay",
        0,
        10**9,
    )
    learning_rate_half_life: int = _setting(
        12_500,
        "training",
        "updates in which it then halves; 0: constant",
        0,
        10**9,
    )
    sigma_half_life: int = _setting(
        50_000,
        "training",
        "updates in which it then halves; 0: constant",
        0,
        10**9,
    )
    guard: str = _setting(
        "on",
        "training",
        "rolls back to a good checkpoint when training diverges",
        choices=("on", "off"),
    )
    ema: float = _setting(
        0.0,
        "training",
        "decay of the weights' moving average used to sample, as 0.999; 0: off",
        0.0,
        0.99999,
    )
    seed: int = _setting(1, "training", "random seed", 0, 2**31 - 1)

    strategy: str = _setting(
        "auto",
        "run",
        "devices: one, mirrored (all here), multi_worker (TF_CONFIG)",
        choices=("auto", "one", "mirrored", "multi_worker"),
    )
    log_every: int = _setting(
        1, "run", "updates between two logged values", 1, 10**9
    )
    sample_every: int = _setting(
        500, "run", "updates between two pictures", 1, 10**9
    )
    checkpoint_every: int = _setting(
        500, "run", "updates between two checkpoints", 1, 10**9
    )
    evaluate_every: int = _setting(
        0,
        "run",
        "updates between two evaluations, whose best is kept; 0: none",
        0,
        10**9,
    )
    evaluate_n: int = _setting(
        5_000, "run", "samples of an evaluation", 2, 10**9
    )
    inception: str = _setting(
        "",
        "run",
        "weights of Inception: classify_image_graph_def.pb, its archive or an "
        "npz; else they are downloaded",
    )

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            check(field, getattr(self, field.name))
        _check_toy(self)
        if self.sigma == "auto" and self.guard == "off":
            raise UserError("--sigma=auto: needs --guard=on")

    @property
    def data(self) -> Dataset:
        """What is known of the dataset."""
        return datasets.get(self.dataset)

    @property
    def kind(self) -> ModelKind:
        """What is known of the kind of model."""
        return MODEL_KINDS[self.model]


# Any: a field's `type` may also be text, but never is in this file.
FIELDS: dict[str, Any] = {
    field.name: field for field in dataclasses.fields(Config)
}


def parse(name: str, text: str) -> Any:
    """The value that `text`, from a command line, gives to a field."""
    field = FIELDS[name]
    try:
        value = text if text == field.metadata["word"] else field.type(text)
    except ValueError:
        raise UserError(_refusal(field, text)) from None
    check(field, value)
    return value


def from_dict(values: dict[str, Any]) -> Config:
    """A `Config` from all settings; an unknown or missing one is an error."""
    for name in values:
        if name not in FIELDS:
            raise UserError(f"unknown setting {name!r}{suggest(name, FIELDS)}")
    if missing := FIELDS.keys() - values.keys():
        raise UserError(f"lacks {', '.join(sorted(missing))}")
    return Config(**values)


def check(field: Any, value: Any) -> None:
    """Raises `UserError` where a value is not allowed."""
    rules = field.metadata
    if rules["word"] and value == rules["word"]:
        return
    types = (int, float) if field.type is float else field.type
    good = isinstance(value, types) and not isinstance(value, bool)
    if good and rules["choices"]:
        good = value in rules["choices"]
        if field.name == "dataset":
            good = good or datasets.is_name(value)
    elif good and field.type is not str:
        good = rules["low"] <= value <= rules["high"]
    if field.name == "image_size":
        good = good and value & (value - 1) == 0
    if not good:
        raise UserError(_refusal(field, value))


def _check_toy(config: Config) -> None:
    """Raises `UserError` where a toy is not of the dataset."""
    name, toys = config.dataset, config.data.toys
    if config.toy and not toys:
        others = [d.name for d in DATASETS.values() if d.toys]
        raise UserError(
            f"--toy={config.toy}: {name} has no toys; add "
            f"--dataset={' or '.join(others)}"
        )
    if toys and config.toy not in toys:
        raise UserError(
            f"--toy={config.toy}: {name} has {', '.join(toys)}"
            f"{suggest(config.toy, toys)}"
        )
    if config.data.points and not config.kind.has_chain:
        raise UserError(
            f"--model={config.model} draws images; {name} are points"
        )


def allowed(field: Any) -> str:
    """The values a field may take, in words; nothing where any text may."""
    rules = field.metadata
    if rules["choices"]:
        return ", ".join(map(str, rules["choices"]))
    if field.type is str:
        return ""
    word = f", or {rules['word']}" if rules["word"] else ""
    return f"{rules['low']:,} to {rules['high']:,}{word}"


def _refusal(field: Any, value: Any) -> str:
    kind = {int: "a whole number, ", float: "a number, ", str: ""}[field.type]
    if field.metadata["choices"]:
        kind = "one of "
    elif field.name == "image_size":
        kind = "a power of two, "
    hint = suggest(value, field.metadata["choices"] or ())
    return f"--{field.name}={value}: must be {kind}{allowed(field)}{hint}"


def suggest(name: Any, names: Iterable[Any]) -> str:
    """A hint at the nearest of `names`, or nothing."""
    near = difflib.get_close_matches(str(name), list(map(str, names)), 1)
    return f"; did you mean {near[0]!r}?" if near else ""
