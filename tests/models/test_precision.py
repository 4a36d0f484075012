import pytest

from srmcmc_tf.errors import UserError
from srmcmc_tf.models import precision


def test_bfloat16_is_refused_where_it_ends_the_process():
    crash = "import os, signal; os.kill(os.getpid(), signal.SIGILL)"
    with pytest.raises(UserError, match="SIGILL.*ONEDNN_MAX_CPU_ISA"):
        precision.check("mixed_bfloat16", probe=crash)


def test_bfloat16_is_allowed_where_the_probe_lives():
    precision.check("mixed_bfloat16", probe="")


def test_float32_is_not_probed():
    precision.check("float32", probe="raise SystemExit(1)")
