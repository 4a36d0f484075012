import json

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import (
    EventAccumulator,
)

from srmcmc_tf.cli import reproduce
from srmcmc_tf.errors import UserError
from srmcmc_tf.reproduce import cost, experiments, report, theory


def configs(name, scale="paper", part=0):
    return [r.config for r in experiments.plan(scale)[name][part].runs]


def test_paper_scale_is_the_papers_setting():
    table2 = configs("table2")
    assert [c.K for c in table2] == [5, 10, 25, 50, 75, 100]
    assert [c.sigma for c in table2] == [0.15, 0.1, 0.05, 0.04, 0.03, 0.03]
    assert {(c.n_f, c.n_examples, c.batch_size) for c in table2} == {
        (32, 40_000, 64)
    }
    assert [c.n_f for c in configs("table3", part=1)] == [32, 64, 128]
    assert {c.K for c in configs("table3")} == {100}
    table1 = [c for c in configs("table1") if c.model == "ebm"]
    assert [c.n_f for c in table1] == [128, 64, 64]
    assert [c.sigma for c in configs("table3")] == [
        *(0.1, 0.08, 0.06, 0.05, 0.04, 0.03)
    ]
    for c in (*table1, *table2, *configs("table3")):
        assert (c.learning_rate, c.step_size, c.noise) == (1e-4, 1.0, 0.01)
        assert c.anneal_after >= 100_000 and c.updates > c.anneal_after
        assert c.guard == "off" and c.n_left_out == 1_000
    assert {c.K for c in table1} == {100}
    assert experiments.N["paper"] == 40_000


def column(name, metric):
    runs = experiments.plan("paper")[name][0].runs
    return [run.paper[metric] for run in runs if metric in run.paper]


def test_the_papers_values_are_those_it_prints():
    assert sum(column("table2", "fid")) == pytest.approx(685.17)
    assert sum(column("table2", "is")) == pytest.approx(23.01)
    assert sum(column("table2", "f_prime_norm")) == pytest.approx(15.5)
    assert sum(column("table3", "fid")) == pytest.approx(557.26)
    assert sum(column("table3", "is")) == pytest.approx(27.41)
    assert sum(column("table1", "fid")) == pytest.approx(416.33)
    assert sum(column("table1", "mse")) == pytest.approx(0.349)


def test_cpu_scale_keeps_what_the_table_varies():
    small, paper = configs("table2", "cpu"), configs("table2")
    for field in ("K", "sigma", "dataset", "step_size", "noise"):
        assert [getattr(c, field) for c in small] == [
            getattr(c, field) for c in paper
        ]


def test_a_smaller_n_f_is_told_as_such():
    labels = [r.label for r in experiments.plan("cpu")["table3"][1].runs]
    assert labels[-1] == "n_f=32 (paper: 128)"


def test_equal_runs_of_two_tables_are_one_run():
    shared = {
        experiments.directory(c)
        for c in (
            configs("table2")[-1],
            configs("table3")[-1],
            configs("table3", part=1)[0],
        )
    }
    assert len(shared) == 1
    assert len({experiments.directory(c) for c in configs("table2")}) == 6


def test_plan_tells_the_cost_of_the_papers_faces():
    text = cost.describe(experiments.plan("paper"), ["figure1"], "paper")
    # 16 hours for 100,000 updates; ours are 250,000.
    hours = float(text.splitlines()[-1].split(", ")[-1].split()[0])
    assert 36 < hours < 44


@pytest.fixture(scope="module")
def laws():
    return theory.learn()


def test_short_run_chain_matches_the_moments_and_its_ebm_does_not(laws):
    gap = np.abs(theory.H @ (laws.q - laws.truth)).max()
    assert gap < 1e-6
    assert np.abs(theory.H @ (laws.p_mme - laws.truth)).max() > 0.1


def test_kl_obeys_pythagoras(laws):
    kl = theory.kl
    for p in (laws.truth, laws.q):
        for theta in (laws.theta, np.zeros_like(laws.theta)):
            far = theory.ebm(theta)
            np.testing.assert_allclose(
                kl(p, far), kl(p, laws.p_mle) + kl(laws.p_mle, far), atol=1e-6
            )


def test_kl_to_the_target_falls_with_K(laws):
    distances = [
        theory.kl(theory.chain(laws.theta, K), laws.p_mme)
        for K in range(0, 200, 20)
    ]
    assert all(np.diff(distances) < 0)


def test_report_sets_ours_beside_the_papers_in_one_file(tmp_path):
    result = {
        "title": "Influence of K",
        "command": "bin/reproduce table2",
        "scale": "cpu",
        "seconds": 12.0,
        "machine": "a test",
        "notes": ["n=64 & more"],
        "rows": [
            {
                "label": "K=5",
                "ours": {"fid": 300.0, "f_prime_norm": "diverged"},
                "paper": {"fid": 213.08, "f_prime_norm": 7.78},
            },
            {
                "label": "K=10",
                "ours": {"fid": 250.0, "f_prime_norm": 4.0},
                "errors": {"fid": 1.5},
                "paper": {"fid": 182.5, "f_prime_norm": 3.85},
            },
        ],
    }
    report.write(tmp_path, "table2", result)
    page = report.write_index(tmp_path).read_text()
    assert "| K=5 | 300.00 | 213.08 | diverged | 7.780 |" in (
        tmp_path / "table2.md"
    ).read_text().replace("  ", " ")
    assert (
        "K=10,250.00 ± 1.50,182.50,4.000,3.850"
        in (tmp_path / "table2.csv").read_text()
    )
    assert "n=64 &amp; more" in page and "data:image/png;base64" in page
    assert "http" not in page
    assert json.loads((tmp_path / "table2.json").read_text())["pictures"]
    report.write(tmp_path, "table2", result)  # went on: its time is added
    assert "- 24 s on a test" in (tmp_path / "table2.md").read_text()


def test_agreement_counts_the_pairs_that_are_ordered_alike():
    ours, paper = (3.0, 2.0, 2.5), (30.0, 20.0, 10.0)
    rows = [
        {"ours": {"fid": a}, "paper": {"fid": b}}
        for a, b in zip(ours, paper, strict=True)
    ]
    assert report.agreement(rows) == [
        "FID orders 2 of 3 pairs of runs as the paper's does"
    ]


@pytest.mark.parametrize(
    "argv, message",
    [
        ([], "say what to reproduce: table1"),
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
    assert "cifar10_ebm_K=100_sigma=0.03_n_f=32: 400 updates" in text
    assert "(shared)" in text and not out.exists()


def test_what_is_missing_is_told_before_anything_is_trained(tmp_path):
    flags = [f"--workdir={tmp_path / 'out'}", f"--data_dir={tmp_path}"]
    with pytest.raises(UserError, match="none.npz: No such file"):
        reproduce.reproduce(["table2", *flags, "--inception=none.npz"])
    with pytest.raises(UserError, match="holds no files"):
        reproduce.reproduce(["figure2", *flags])
    assert not (tmp_path / "out").exists()


def test_smoke_makes_every_table_and_figure(tmp_path):
    reproduce.reproduce(["all", "--scale=smoke", f"--workdir={tmp_path}"])
    report = tmp_path / "report"
    made = {path.stem for path in report.glob("*.json")}
    assert made == {
        *("table1", "table2", "table3a", "table3b", "toysa", "toysb"),
        *("figure1", "figure2", "figure3", "figure4", "figure5", "figure7"),
        *("figure6a", "figure6b", "figure6c"),
    }
    page = (report / "index.html").read_text()
    assert page.count("data:image/png;base64") >= len(made)
    for name in ("table1", "table2", "table3a", "table3b"):
        assert (report / f"{name}.csv").read_text().count("\n") > 3
        assert (report / f"{name}.md").exists()
    events = EventAccumulator(str(tmp_path / "runs")).Reload()
    told = events.SummaryMetadata("_hparams_/experiment").plugin_data.content
    assert b"f_prime_norm" in told and b"mse" in told and b"sigma" in told
