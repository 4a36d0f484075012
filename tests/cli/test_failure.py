from tqdm import tqdm

from srmcmc_tf.cli import failure


def test_an_error_is_a_line_of_its_own_where_a_bar_is_open(capsys):
    bar = tqdm(total=3, mininterval=0)
    bar.update()
    failure.show("paint", "error: no paint")
    assert capsys.readouterr().err.splitlines()[-1] == "paint: error: no paint"


class Closed:
    def write(self, text):
        raise BrokenPipeError

    flush = write


def test_a_line_that_nobody_can_read_is_no_error(monkeypatch):
    discarded = []
    monkeypatch.setattr(failure, "_discard", discarded.append)
    monkeypatch.setattr("sys.stderr", Closed())
    failure.show("paint", "error: no paint")
    assert discarded == [2]
