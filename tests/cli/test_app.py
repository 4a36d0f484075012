import logging
import re
import subprocess
import sys

import pytest
from helpers import ROOT
from tqdm import tqdm

from srmcmc_tf.cli import app, failure
from srmcmc_tf.errors import UserError


def exit_code(main):
    with pytest.raises(SystemExit) as end:
        app.run("paint", main)
    return end.value.code


def test_an_error_is_one_line_and_an_exit_code():
    done = subprocess.run(
        [sys.executable, ROOT / "bin" / "train", "--K=0"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and done.stdout == ""
    assert re.fullmatch(r"train: error: --K=0: .*\n", done.stderr)


@pytest.mark.parametrize(
    "error, message",
    [
        (UserError("no paint"), "paint: error: no paint\n"),
        (OSError(28, "disk full", "a.png"), "paint: error: disk full: a.png\n"),
        (
            UserError("two\nlines \udc80"),
            r"paint: error: two\nlines \udc80" "\n",
        ),
        (MemoryError("32 GB"), "paint: error: out of memory (32 GB)\n"),
        (KeyboardInterrupt(), "paint: interrupted\n"),
    ],
)
def test_errors_are_shown_without_a_traceback(error, message, capsys):
    def main(argv):
        raise error

    assert exit_code(main) == (130 if "interrupted" in message else 1)
    assert capsys.readouterr().err == message


def test_progress_is_written_to_a_log_now_and_then():
    code = (
        "from srmcmc_tf.cli import app, train\n"
        "def main(argv):\n"
        "    from tqdm import tqdm\n"
        "    for _ in tqdm(range(10**6)): pass\n"
        "    return 0\n"
        "app.run('paint', main)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0 and done.stderr.isascii()
    assert done.stderr.count("%|") == 2  # the beginning and the end


def test_the_exit_code_is_that_of_the_command():
    assert exit_code(lambda argv: 143) == 143


def test_what_the_library_logs_is_shown_as_plain_lines(capsys):
    logger = logging.getLogger("srmcmc_tf.somewhere")

    def main(argv):
        logger.info("%d pots", 3)
        logger.warning("warning: wet")
        logger.debug("nothing")
        return 0

    for _ in range(2):  # the second call does not repeat lines
        assert exit_code(main) == 0
        shown = capsys.readouterr()
        assert (shown.out, shown.err) == ("3 pots\n", "warning: wet\n")
    assert not logging.getLogger("srmcmc_tf").handlers


def test_held_stderr_is_shown_if_the_block_fails(capfd):
    with app._stderr_held():
        subprocess.run("echo chatter >&2", shell=True)
    assert capfd.readouterr().err == ""
    with pytest.raises(ValueError), app._stderr_held():
        subprocess.run("echo reason >&2", shell=True)
        raise ValueError
    assert capfd.readouterr().err == "reason\n"


def test_any_other_error_is_one_line_that_names_the_file_of_its_traceback(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def main(argv):
        raise ZeroDivisionError("no\nbrush")

    assert exit_code(main) == exit_code(main) == 70
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("paint: internal error: ZeroDivisionError: no; ")
    paths = {line.rpartition(" ")[2] for line in (first, second)}
    assert paths == {str(path) for path in tmp_path.iterdir()}
    for path in tmp_path.iterdir():
        assert "ZeroDivisionError: no\nbrush" in path.read_text()


def test_an_error_is_shown_where_its_traceback_cannot_be_saved(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    assert exit_code(lambda argv: 1 // 0) == 70
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("could not be saved (No such file or directory)")


def shell(text):
    """A shell command of bin/ as PROGRAM; exit code of it and stderr."""
    program = f"{sys.executable} {ROOT / 'bin' / 'train'}"
    done = subprocess.run(
        ["bash", "-c", text.replace("PROGRAM", program)],
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stderr


def test_a_reader_that_leaves_and_closed_streams_are_no_stack_trace():
    assert shell("PROGRAM --help | true; exit ${PIPESTATUS[0]}") == (0, "")
    assert shell("PROGRAM --K=0 2>&1 | true; exit ${PIPESTATUS[0]}") == (1, "")
    assert shell("PROGRAM --help <&- >&- 2>&-") == (0, "")


def test_output_that_nobody_reads_ends_a_command(monkeypatch, capsys):
    discarded = []
    monkeypatch.setattr(failure, "_discard", discarded.append)

    def main(argv):
        raise BrokenPipeError(32, "Broken pipe")

    assert exit_code(main) == 141 and discarded == [1]
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_an_error_is_a_line_of_its_own_after_a_log_under_a_delayed_bar(capsys):
    def main(argv):
        with tqdm(total=3, delay=60) as bar:
            bar.update()
            logging.getLogger("srmcmc_tf").info("skipped a.png")
            raise UserError("no paint")

    assert exit_code(main) == 1
    shown = capsys.readouterr()
    assert shown.out == "skipped a.png\n"
    assert shown.err == "paint: error: no paint\n"
