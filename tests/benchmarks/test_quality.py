import json

import pytest
from helpers import call

from srmcmc_tf.benchmarks import quality
from srmcmc_tf.errors import UserError

TINY = dict(dataset="digits", image_size=8, channels=1, n_f=2, batch_size=4)


def test_the_improved_recipe_is_compared_at_a_fifth_of_the_time(tmp_path):
    cost = {"paper": 5.0, "pyramid": 0.2}
    found = quality.legs(tmp_path, 360, cost, {})
    paper = [leg for leg in found if leg.recipe == "paper"]
    pyramid = [leg for leg in found if leg.recipe == "pyramid"]
    assert len({leg.directory for leg in paper}) == 1  # one run, four points
    assert len({leg.directory for leg in pyramid}) == len(pyramid) == 5
    seconds, fifths = (
        [quality.START + leg.config.updates * cost[leg.recipe] for leg in legs]
        for legs in (paper, pyramid)
    )
    for whole, fifth in zip(seconds, fifths[:-1], strict=True):
        assert fifth == pytest.approx(0.95 * whole / 5, rel=0.01)
    assert seconds[-1] == pytest.approx(360 * 60, rel=0.01)
    assert fifths[-1] == pytest.approx(0.95 * 360 * 60, rel=0.01)
    same = ("dataset", "n_examples", "n_left_out", "image_size", "n_f", "seed")
    for name in same:
        assert len({getattr(leg.config, name) for leg in found}) == 1


def test_few_minutes_give_no_point_twice(tmp_path):
    found = quality.legs(tmp_path, 1, {"paper": 5.0, "pyramid": 0.2}, {})
    points = [(leg.recipe, leg.config.updates) for leg in found]
    assert len(points) == len(set(points)) < 9
    assert points[0] == ("paper", 1) and points[-1][0] == "pyramid"


def test_a_missing_file_of_inception_is_refused_before_training(tmp_path):
    with pytest.raises(UserError, match="no such file"):
        next(quality.quality(tmp_path / "q", 1, 50, str(tmp_path / "none")))
    assert not (tmp_path / "q").exists()


def test_a_second_call_measures_nothing_again(tmp_path, monkeypatch):
    trained, measured = [], []

    def train(config, directory):
        directory.mkdir(exist_ok=True)
        trained.append(config.updates)

    def evaluate_run(run, **options):
        measured.append(run.path.name)
        values = {"fid": 100.0 + len(measured), "kid": 0.1}
        return {
            name: {"value": value, "standard_error": 0.01}
            for name, value in values.items()
        }

    costs = iter([5.0, 0.2])
    monkeypatch.setattr(
        quality.cpu_time, "of_an_update", lambda config, least: next(costs)
    )
    monkeypatch.setattr(quality, "_write_real", lambda path, config: None)
    monkeypatch.setattr(quality.train, "train", train)
    monkeypatch.setattr(quality.evaluate, "evaluate_run", evaluate_run)
    first = list(quality.quality(tmp_path, 60, 50, ""))
    assert len(measured) == 9 and len(first) == 9 + 4 + 1
    assert "FID 101.0 +- 0.0" in first[0] and "n=50" in first[0]
    assert list(quality.quality(tmp_path, 60, 50, "")) == first
    assert len(measured) == len(trained) == 9
    points = json.loads((tmp_path / "quality.json").read_text())
    assert [p["recipe"] for p in points] == 4 * ["paper"] + 5 * ["pyramid"]
    assert (tmp_path / "quality.png").stat().st_size > 1000


def test_every_time_of_the_paper_is_compared_at_a_fifth_of_it():
    def point(recipe, cpu_seconds, fid):
        return {"recipe": recipe, "cpu_seconds": cpu_seconds, "fid": fid}

    paper = [point("paper", T, fid) for T, fid in ((9, 9.0), (50, 8.0))]
    paper.append(point("paper", 100, 3.0))
    pyramid = [point("pyramid", T, fid) for T, fid in ((10, 7.0), (20, 4.0))]
    assert [
        line.split(": ", 1)[1] for line in quality.compare(paper + pyramid)
    ] == [
        "the improved recipe has no point before T/5",
        "reached by T/5 (T/5.0: 7.0)",
        "NOT reached by T/5 (T/5.0: 4.0)",
    ]


def test_the_cost_of_an_update_is_measured_once(tmp_path):
    path = tmp_path / "costs.json"
    first = quality._costs(path, TINY, least=0.01)
    assert all(0 < seconds < 60 for seconds in first.values())
    assert quality._costs(path, TINY, least=0.01) == first


def test_its_flags_are_for_it_alone():
    code, _, err = call("benchmark", "fit", "--minutes=5")
    assert code == 1 and "--minutes is for bin/benchmark quality" in err


@pytest.mark.slow
def test_a_small_one_runs_to_its_end(tmp_path):
    lines = list(quality.quality(tmp_path, 0.2, 20, "", TINY))
    assert "T/5" in lines[-2] and lines[-1].endswith("quality.json and .png")
