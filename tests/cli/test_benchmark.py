import pytest
from helpers import call

from srmcmc_tf.benchmarks import metrics, speed


def test_help_lists_every_benchmark():
    code, out, _ = call("benchmark", "--help")
    assert code == 0
    for name in ("fit", "scaling", "memory", "workers", "inception"):
        assert f"\n  {name:<9} " in out


@pytest.mark.parametrize("argv", [["nope"], ["--inceptoin=x"]])
def test_a_wrong_command_is_explained(argv):
    code, out, err = call("benchmark", *argv)
    assert code == 1 and out == "" and err.startswith("benchmark: error: ")


def test_the_lines_of_the_chosen_benchmarks_are_printed(monkeypatch):
    monkeypatch.setattr(speed, "fit", lambda: iter(["one", "two"]))
    monkeypatch.setattr(metrics, "inception", lambda path="": iter([path]))
    code, out, _ = call("benchmark", "inception", "fit", "--inception=w.npz")
    assert code == 0
    titles = [line for line in out.splitlines() if line.startswith("## ")]
    assert [title.split(":")[0] for title in titles] == [
        "## inception",
        "## fit",
    ]
    assert "w.npz\n" in out and out.endswith("one\ntwo\n")
