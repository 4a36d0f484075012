"""What is known of each kind of model before TensorFlow is loaded."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from srmcmc_tf.errors import UserError


class ModelKind(NamedTuple):
    """One value of `--model`.

    Attributes:
        name: as in `--model`.
        has_chain: whether it samples by a chain over images: it then has K,
            sigma, a divergence guard and a served export.
        inference: how it infers z: the default of `--rule`, or its only rule.
        changes: settings that differ from those in `configs/DATASET.py`, which
            are written for the energy-based model.
        refused: flags that mean nothing to it, of any command, and why.
    """

    name: str
    has_chain: bool = False
    inference: str = "descent"
    changes: Mapping[str, Any] = {}
    refused: Mapping[str, str] = {}

    def accepts(self, flag: str) -> bool:
        """Whether a flag means something to this model."""
        return flag not in self.refused

    def check_flags(self, names: Iterable[str]) -> None:
        """Raises `UserError` for a flag that means nothing to this model."""
        given = set(names)
        for name, reason in self.refused.items():
            if name in given:
                raise UserError(
                    f"--{name} is not for --model={self.name}: it {reason}"
                )


# Adam's rate is Radford et al.'s for the DCGAN (with beta_1 = 0.5) and Keras's
# own for the VAE. Both stay constant, as is usual, and the data are given
# without noise: sigma is there for the chains. Their losses are not per-image
# means, so replicas would change training.
_BASELINE_CHANGES = dict(
    learning_rate_half_life=0,
    sigma=0.0,
    sigma_half_life=0,
    guard="off",
    ema=0.0,
    strategy="one",
)
_BASELINE_REFUSED = {
    **dict.fromkeys(
        (
            "K",
            "step_size",
            "noise",
            "sigma",
            "sigma_half_life",
            "recipe",
            "network",
            "coarse_K",
            "coarse_sigma",
            "start_noise",
            "noise_decay",
            "guard",
            "jit_compile",
            "start",
            "start_dir",
            "bank",
            "reinitialize",
            "hold",
            "kernel",
            "leapfrog",
            "metropolis",
            "clip",
            "clamp",
            "stop",
            "stop_below",
            "deterministic",
            "trace",
        ),
        "runs no chain over images",
    ),
    **dict.fromkeys(("conditional", "classes", "labels"), "has no classes"),
    "strategy": "learns on one device",
    "beta_1": "has its own",
}

MODEL_KINDS = {
    kind.name: kind
    for kind in (
        ModelKind("ebm", has_chain=True),
        ModelKind(
            "vae",
            inference="encoder",
            changes={"learning_rate": 1e-3, **_BASELINE_CHANGES},
            refused={
                **_BASELINE_REFUSED,
                **dict.fromkeys(
                    ("iterations", "rule", "task", "mask", "factor"),
                    "reconstructs by encoding the whole image, once",
                ),
            },
        ),
        ModelKind(
            "dcgan",
            inference="langevin",
            changes={"learning_rate": 2e-4, **_BASELINE_CHANGES},
            refused={
                **_BASELINE_REFUSED,
                "rule": "infers z by Langevin dynamics only",
            },
        ),
    )
}
