"""What the paper compares with: a VAE and a DCGAN, for the same verbs.

Nothing here imports TensorFlow: the command line asks before it is loaded.
"""

from srmcmc_tf.errors import UserError

# What differs from configs/DATASET.py, which is written for the energy-based
# model. Adam's rate is Radford et al.'s for the DCGAN (with beta_1 = 0.5) and
# Keras's own for the VAE; both stay constant, as is usual, and the data are
# given without noise: sigma is there for the chains.
# Their losses are no means over images, so that replicas would learn otherwise.
_PLAIN = dict(
    learning_rate_half_life=0,
    sigma=0.0,
    sigma_half_life=0,
    guard="off",
    ema=0.0,
    strategy="one",
)
DEFAULTS = {
    "vae": {"learning_rate": 1e-3, **_PLAIN},
    "dcgan": {"learning_rate": 2e-4, **_PLAIN},
}

# Flags of any verb that say nothing to a model, and why.
_NO_CHAIN = dict.fromkeys(
    (
        "K",
        "step_size",
        "noise",
        "sigma",
        "sigma_half_life",
        "guard",
        "jit_compile",
        "deterministic",
        "trace",
    ),
    "runs no chain over images",
)
_ONE_DEVICE = {"strategy": "learns on one device"}
REFUSED = {
    "vae": {
        **_NO_CHAIN,
        **_ONE_DEVICE,
        **dict.fromkeys(
            ("iterations", "rule", "task", "mask", "factor"),
            "reconstructs by encoding the whole image, once",
        ),
    },
    "dcgan": {
        **_NO_CHAIN,
        **_ONE_DEVICE,
        "rule": "infers z by Langevin dynamics only",
    },
}


def check_flags(model, given):
    """Refuses flags that mean nothing to a model.

    Args:
        model: "ebm", "vae" or "dcgan".
        given: the flags of a command line, by name.
    """
    for name, reason in REFUSED.get(model, {}).items():
        if name in given:
            raise UserError(f"--{name} is not for --model={model}: it {reason}")
