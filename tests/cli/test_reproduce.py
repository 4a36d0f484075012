import pytest

from srmcmc_tf.cli import reproduce
from srmcmc_tf.errors import UserError


@pytest.mark.parametrize(
    "argv, message",
    [
        ([], "specify what to reproduce: table1"),
        (["table9"], "'table9': must be one of table1"),
        (["table2", "--scale=huge"], "must be one of paper, cpu, smoke"),
        (["table2", "--data_dir=/nowhere"], "no such directory"),
    ],
)
def test_a_wrong_command_is_explained(argv, message):
    with pytest.raises(UserError, match=message):
        reproduce.reproduce(argv)


def test_a_dry_run_prints_the_plan_and_trains_nothing(tmp_path, capsys):
    out = tmp_path / "out"
    reproduce.reproduce(["all", "--dry_run", f"--workdir={out}"])
    text = capsys.readouterr().out
    assert "cifar10_16x16_ebm_K=100_sigma=0.03_n_f=16: 3,000 updates" in text
    assert "(shared)" in text and not out.exists()


def test_missing_data_and_weights_are_reported_before_anything_is_trained(
    tmp_path,
):
    flags = [f"--workdir={tmp_path / 'out'}", f"--data_dir={tmp_path}"]
    with pytest.raises(UserError, match="none.npz: No such file"):
        reproduce.reproduce(["table2", *flags, "--inception=none.npz"])
    with pytest.raises(UserError, match="holds no files"):
        reproduce.reproduce(["figure2", *flags])
    assert not (tmp_path / "out").exists()
