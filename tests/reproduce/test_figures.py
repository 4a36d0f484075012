import pathlib

import pytest

from srmcmc_tf.reproduce import figures
from srmcmc_tf.runs.run import Run


def test_the_last_picture_of_a_training_is_copied(tmp_path):
    run = Run(tmp_path / "run")
    for update in (999_999, 1_000_000):  # not in the order of their names
        path = run.picture(update)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(update))
    (picture,) = figures.last_picture(run, tmp_path / "report" / "toysa")
    assert picture.read_text() == "1000000"


@pytest.mark.parametrize(
    "draw, names",
    [
        (figures.samples, ["grid.png"]),
        (figures.trace, ["grid.png", "trace.png"]),
        (figures.steps, ["K.png"]),
        (figures.interpolation, ["interpolation.png"]),
        (figures.reconstruction, ["reconstruction.png"]),
    ],
)
def test_a_figure_is_drawn_from_a_run(averaged, tmp_path, draw, names):
    out = tmp_path / "report" / "figure"
    pictures = draw(Run(averaged[0]), out)
    assert [path.name for path in pictures] == names
    for path in map(pathlib.Path, pictures):
        assert path.parent == out
        assert path.read_bytes().startswith(b"\x89PNG")
