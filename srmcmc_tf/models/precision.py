"""Mixed precision: which is allowed here."""

import signal
import subprocess
import sys

from srmcmc_tf.errors import UserError

# In a process of its own, because where it fails it takes the process along.
_PROBE = """
import srmcmc_tf, tensorflow as tf
x = tf.Variable(tf.ones([8, 16, 16, 8], tf.bfloat16))
kernel = tf.Variable(tf.ones([4, 4, 8, 16], tf.bfloat16))
with tf.GradientTape() as tape:
    y = tf.nn.conv2d(x, kernel, 2, "SAME")
tape.gradient(y, [x, kernel])
"""


def check(precision, probe=_PROBE):
    """Refuses bfloat16 where its convolutions would end the process.

    Some virtual machines announce AMX and do not allow it; oneDNN then runs
    into an illegal instruction.
    """
    if precision == "float32":
        return
    code = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True
    ).returncode
    if code:
        ended = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        raise UserError(
            f"--precision={precision}: a bfloat16 convolution ends the "
            f"process on this machine ({ended}). Set ONEDNN_MAX_CPU_ISA="
            "AVX512_CORE_BF16 in the environment, or use float32"
        )
