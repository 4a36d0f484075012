from helpers import call, explains_a_missing_run, untrained_run


def test_a_missing_run_is_explained(tmp_path):
    explains_a_missing_run("interpolate", tmp_path)


def test_the_smoothness_is_printed(tmp_path):
    run = untrained_run(tmp_path / "run")
    code, out, err = call(
        "interpolate", f"--workdir={run}", "--pairs=3", "--columns=5"
    )
    assert code == 0, err
    first, second = out.splitlines()
    assert first.startswith("largest jump between neighbors")
    assert first.endswith("(0.25 would be a straight line)")
    assert second == str(run.generated_directory / "interpolation.png")
