from srmcmc_tf.cli import failure


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
