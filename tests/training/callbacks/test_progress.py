from helpers import fit_updates

from srmcmc_tf.training.callbacks import progress


def test_without_a_terminal_it_prints_lines_with_the_quantities(
    tiny_model, capsys, monkeypatch
):
    monkeypatch.setattr(progress, "_SECONDS", -1)
    fit_updates(tiny_model, [progress.Progress(5, [])], n=2)
    err = capsys.readouterr().err
    assert "2/5" in err and "f_data=" in err
