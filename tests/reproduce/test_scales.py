"""Scales of a reproduction: the paper's settings, and smaller ones."""

from srmcmc_tf.reproduce import experiments, scales


def configs(name, scale="paper"):
    return [r.config for r in experiments.plan(scale)[name][0].runs]


def test_the_papers_metrics_are_of_40_000_samples():
    assert scales.N["paper"] == 40_000 and scales.N_MSE["paper"] == 1_000


def test_only_the_baselines_keep_their_learning_rate_at_cpu_scale():
    small = {c.model: c for c in configs("table1", "cpu")}
    assert small.keys() == {"vae", "dcgan", "ebm"}
    for paper in configs("table1")[:3]:
        kept = small[paper.model].learning_rate == paper.learning_rate
        assert kept == (not paper.kind.has_chain)


def test_images_are_found_in_a_folder_named_like_the_dataset(tmp_path):
    (tmp_path / "celeb_a").mkdir()
    plan = experiments.plan("cpu", str(tmp_path))
    assert plan["figure2"][0].config.data_dir == str(tmp_path / "celeb_a")
    assert plan["table2"][0].runs[0].config.data_dir == str(tmp_path)
