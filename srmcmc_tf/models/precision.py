"""Checks that this machine can run mixed precision."""

import signal
import subprocess
import sys

from srmcmc_tf.errors import UserError

# Run in a process of its own, because where it fails it ends the process.
_PROBE = """
import srmcmc_tf, tensorflow as tf
x = tf.Variable(tf.ones([8, 16, 16, 8], tf.bfloat16))
kernel = tf.Variable(tf.ones([4, 4, 8, 16], tf.bfloat16))
with tf.GradientTape() as tape:
    y = tf.nn.conv2d(x, kernel, 2, "SAME")
tape.gradient(y, [x, kernel])
"""


def check(precision: str, probe: str = _PROBE) -> None:
    """Raises `UserError` if bfloat16 convolutions would end the process.

    Some virtual machines announce AMX but do not allow it; oneDNN then fails
    with an illegal instruction.

    Args:
        precision: "float32" or a Keras policy such as "mixed_bfloat16".
        probe: the code that is tried in another process.
    """
    if precision == "float32":
        return
    code = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True
    ).returncode
    if code:
        ended = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        raise UserError(
            f"--precision={precision}: a bfloat16 convolution crashes the "
            f"process on this machine ({ended}). Set ONEDNN_MAX_CPU_ISA="
            "AVX512_CORE_BF16 in the environment, or use float32"
        )
