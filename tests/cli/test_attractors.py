from helpers import call, explains_a_missing_run


def test_it_prints_what_it_found(tiny_run, tmp_path):
    code, out, _ = call(
        "attractors",
        f"--workdir={tiny_run.path}",
        "--n=4",
        "--steps=3",
        f"--out={tmp_path}",
    )
    assert code == 0
    assert "fixed points; largest basins" in out
    assert "left half:" in out and str(tmp_path / "attractors.png") in out


def test_it_explains_a_missing_run(tmp_path):
    explains_a_missing_run("attractors", tmp_path)
