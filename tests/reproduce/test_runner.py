import json

import pytest
from tensorboard.backend.event_processing.event_accumulator import (
    EventAccumulator,
)

from srmcmc_tf.config import presets
from srmcmc_tf.errors import NonFiniteError, UserError
from srmcmc_tf.reproduce import experiments, runner
from srmcmc_tf.runs.run import Run
from srmcmc_tf.training import train


def test_smoke_makes_tables_figures_and_their_page(tmp_path):
    """One of each kind; all of them: the slow test below."""
    plan = experiments.plan("smoke")
    names = ["table3a", "table3b", "figure4", "theory", "toys"]
    page = runner.reproduce(plan, names, scale="smoke", directory=tmp_path)
    report = tmp_path / "report"
    made = {path.stem for path in report.glob("*.json")}
    assert made == {
        *("table3a", "table3b", "figure4", "theory", "toysa", "toysb"),
    }
    assert page == report / "index.html"
    assert page.read_text().count("data:image/png;base64") >= len(made)
    check_tables(tmp_path, ["table3a", "table3b"])


@pytest.mark.slow
def test_smoke_makes_every_table_and_figure(tmp_path):
    plan = experiments.plan("smoke")
    runner.reproduce(plan, list(plan), scale="smoke", directory=tmp_path)
    made = {path.stem for path in (tmp_path / "report").glob("*.json")}
    assert made == {
        *("table1", "table2", "table3a", "table3b", "toysa", "toysb"),
        *("figure1", "figure2", "figure3", "figure4", "theory", "figure7"),
        *("figure6a", "figure6b", "figure6c"),
    }
    check_tables(tmp_path, ["table1", "table2", "table3a", "table3b"])


def check_tables(directory, names):
    for name in names:
        report = directory / "report"
        assert (report / f"{name}.csv").read_text().count("\n") > 3
        assert (report / f"{name}.md").exists()
    events = EventAccumulator(str(directory / "runs")).Reload()
    columns = events.SummaryMetadata("_hparams_/experiment").plugin_data.content
    for name in (b"f_prime_norm", b"mse", b"sigma"):
        assert name in columns


def table(*labels):
    runs = [
        experiments.Experiment(
            label, presets.load("digits"), {"fid": 1.0, "f_prime_norm": 2.0}
        )
        for label in labels
    ]
    return experiments.Table("A table", runs)


def test_a_run_that_diverges_is_reported_as_such(tmp_path, monkeypatch):
    def diverge(*_):
        raise NonFiniteError("update 3: f is not finite")

    monkeypatch.setattr(train, "train", diverge)
    plan = {"table9": [table("K=5")]}
    runner.reproduce(plan, ["table9"], scale="smoke", directory=tmp_path)
    result = json.loads((tmp_path / "report" / "table9.json").read_text())
    assert result["rows"][0]["ours"] == dict.fromkeys(
        ("fid", "f_prime_norm"), "diverged"
    )
    assert "K=5: update 3: f is not finite" in result["notes"]


def test_missing_weights_stop_it_before_any_training(tmp_path):
    config = presets.load("cifar10")
    run = experiments.Experiment("K=5", config, {"fid": 1.0})
    parts = [experiments.Table("A table", [run])]
    with pytest.raises(UserError, match="none.npz: No such file"):
        runner.check(parts, str(tmp_path / "none.npz"))


def test_the_norm_of_f_prime_is_of_the_last_tenth(tmp_path):
    run = Run(tmp_path)
    rows = [{"update": i + 1, "f_prime_norm": float(i)} for i in range(20)]
    lines = [json.dumps(row) for row in rows]
    run.metrics_file.write_text("\n".join(lines) + "\n")
    assert runner.last_f_prime_norm(run) == 18.5


def test_settings_that_all_runs_share_are_one_note():
    assert len(runner._settings(table("a", "b").runs)) == 1
