import dataclasses

import pytest

from srmcmc_tf.reproduce import experiments, figures


def configs(name, scale="paper"):
    return [r.config for r in experiments.plan(scale)[name][0].runs]


def test_paper_scale_is_the_papers_setting():
    table2 = configs("table2")
    assert [c.K for c in table2] == [5, 10, 25, 50, 75, 100]
    assert [c.sigma for c in table2] == [0.15, 0.1, 0.05, 0.04, 0.03, 0.03]
    assert {(c.n_f, c.n_examples, c.batch_size) for c in table2} == {
        (32, 40_000, 64)
    }
    assert [c.n_f for c in configs("table3b")] == [32, 64, 128]
    assert {c.K for c in configs("table3a")} == {100}
    table1 = [c for c in configs("table1") if c.kind.has_chain]
    assert [c.n_f for c in table1] == [128, 64, 64]
    assert [c.sigma for c in configs("table3a")] == [
        *(0.1, 0.08, 0.06, 0.05, 0.04, 0.03)
    ]
    for c in (*table1, *table2, *configs("table3a")):
        assert (c.learning_rate, c.step_size, c.noise) == (1e-4, 1.0, 0.01)
        assert c.anneal_after >= 100_000 and c.updates > c.anneal_after
        assert c.guard == "off" and c.n_left_out == 1_000
    assert {c.K for c in table1} == {100}


def column(name, metric):
    runs = experiments.plan("paper")[name][0].runs
    return [run.paper[metric] for run in runs if metric in run.paper]


def test_the_papers_values_are_those_it_prints():
    assert sum(column("table2", "fid")) == pytest.approx(685.17)
    assert sum(column("table2", "is")) == pytest.approx(23.01)
    assert sum(column("table2", "f_prime_norm")) == pytest.approx(15.5)
    assert sum(column("table3a", "fid")) == pytest.approx(557.26)
    assert sum(column("table3a", "is")) == pytest.approx(27.41)
    assert sum(column("table1", "fid")) == pytest.approx(416.33)
    assert sum(column("table1", "mse")) == pytest.approx(0.349)


def test_cpu_scale_keeps_what_the_table_varies():
    small, paper = configs("table2", "cpu"), configs("table2")
    for field in ("K", "sigma", "dataset", "step_size", "noise"):
        assert [getattr(c, field) for c in small] == [
            getattr(c, field) for c in paper
        ]


def test_a_smaller_n_f_is_part_of_the_label():
    labels = [r.label for r in experiments.plan("cpu")["table3b"][0].runs]
    assert labels[-1] == "n_f=16 (paper: 128)"


def test_equal_runs_of_two_tables_are_one_run():
    shared = {
        experiments.directory(c)
        for c in (
            configs("table2")[-1],
            configs("table3a")[-1],
            configs("table3b")[0],
        )
    }
    assert len(shared) == 1
    assert len({experiments.directory(c) for c in configs("table2")}) == 6


def test_rows_of_a_table_differ_only_by_what_the_table_varies():
    for name in ("table2", "table3a", "table3b"):
        first, *others = configs(name, "cpu")
        assert first.image_size == 16 and first.updates >= 2_000
        varied = {"table2": {"K", "sigma"}, "table3a": {"sigma"}}
        for other in others:
            differ = {
                field
                for field, value in dataclasses.asdict(first).items()
                if getattr(other, field) != value
            }
            assert differ <= varied.get(name, {"n_f"})


def test_runs_of_figures_and_tables_do_not_share_a_directory():
    plan = experiments.plan("cpu")
    runs = {}
    for name, parts in plan.items():
        for part in parts:
            if isinstance(part, experiments.Theory):
                continue
            found = getattr(part, "runs", [part])
            for config in (one.config for one in found):
                known = runs.setdefault(experiments.directory(config), config)
                assert known == config, name


def test_toys_are_drawn_by_the_training_itself():
    for toy in experiments.plan("paper")["toys"]:
        assert toy.config.data.points and toy.draw is figures.last_picture
