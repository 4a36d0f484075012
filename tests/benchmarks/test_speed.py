import re
import sys

from srmcmc_tf.benchmarks import common, speed


def test_fit_is_compared_with_the_bare_update():
    line = speed.compare_fit(8, 1, 4, 2, rounds=1, n=2)
    assert line.startswith("8x8x1, n_f=4, K=2, batch 64: update ")
    ratios = re.findall(r"= ([\d.]+)", line)
    assert len(ratios) == 2 and all(float(ratio) > 0 for ratio in ratios)


def test_the_timed_chain_runs_K_steps_of_a_batch(monkeypatch):
    model = common.model(8, 1, 4, 2)
    asked, run = [], model.stages[0].run

    def spy(z, stream, *, K):
        asked.append((tuple(z.shape), K))
        return run(z, stream, K=K)

    monkeypatch.setattr(model.stages[0], "run", spy)
    speed._chain(model)(3, 5)
    assert asked == [((3, 8, 8, 1), 5)]


def test_without_torch_there_is_nothing_to_compare_with(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr(speed.importlib.util, "find_spec", lambda name: None)
    assert list(speed.torch()) == [
        "torch is not installed here: nothing to compare with"
    ]
