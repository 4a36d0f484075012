import pytest
from helpers import untrained_run

from srmcmc_tf.cli import flags, parsers
from srmcmc_tf.errors import UserError

COMMAND = flags.Command(
    "paint",
    "Paints.",
    (
        flags.Flag("n", "3", "how many", parsers.integer(1, 9)),
        flags.Flag("wet", "false", "while wet", parsers.switch, group="how"),
        flags.Flag("color", None, "of all", placeholder="(any)", group="how"),
    ),
)


def test_defaults_are_filled_in():
    args = flags.parse(COMMAND, ["--n=5"])
    assert (args.n, args.wet, args.color) == (5, False, None)
    assert args.given == {"n": 5}


def test_flags_are_parsed():
    args = flags.parse(COMMAND, ["--wet", "--color", "red", "--n=9"])
    assert args.given == {"n": 9, "wet": True, "color": "red"}
    assert flags.parse(COMMAND, ["--nowet"]).wet is False


@pytest.mark.parametrize(
    "argv, message",
    [
        (["--m=1"], r"Unknown command line flag 'm'.*bin/paint --help"),
        (["--colour=red"], "Did you mean: color"),
        (["--n=0"], "--n=0: must be a whole number, 1 to 9"),
        (["red"], "'red': flags look like --name=value"),
        (["--n"], "n"),
    ],
)
def test_a_wrong_argument_is_explained_in_a_line(argv, message):
    with pytest.raises(UserError, match=message) as error:
        flags.parse(COMMAND, argv)
    assert "\n" not in str(error.value)


def test_help_is_made_of_the_flags(capsys):
    with pytest.raises(SystemExit) as end:
        flags.parse(COMMAND, ["--help"])
    assert end.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    assert [" ".join(line.split()) for line in lines] == [
        "Paints.",
        "",
        "--n=3 how many",
        "",
        "how:",
        "--wet=false while wet",
        "--color=(any) of all",
    ]


def test_help_may_depend_on_flags(capsys):
    def help_of(args):
        return COMMAND._replace(description=f"Paints {args.color}.")

    with pytest.raises(SystemExit):
        flags.parse(COMMAND, ["-h", "--color=red"], help_of)
    assert capsys.readouterr().out.startswith("Paints red.")


def test_operands_are_some_of_those_allowed():
    command = COMMAND._replace(operands=("cats", "dogs"))
    args = flags.parse(command, ["dogs", "--n", "2", "cats"])
    assert args.operands == ["dogs", "cats"] and args.n == 2
    with pytest.raises(UserError, match="'cows': must be one of cats, dogs"):
        flags.parse(command, ["cows"])


def test_a_required_flag_is_asked_for():
    needed = flags.WORKDIR._replace(required=True)
    command = COMMAND._replace(flags=(needed,))
    with pytest.raises(UserError, match="--workdir=RUN is needed"):
        flags.parse(command, [])


SOURCE = (flags.WORKDIR, flags.MODEL_FILE, flags.PRESET, flags.BEST)


def test_a_run_refuses_flags_that_mean_nothing_to_it(tmp_path):
    run = untrained_run(tmp_path / "vae", model="vae")
    command = COMMAND._replace(flags=(*SOURCE, flags.Flag("K", None, "steps")))
    args = flags.parse(command, [f"--workdir={run}"])
    assert flags.open_source(args).path == run.path
    args = flags.parse(command, [f"--workdir={run}", "--K=3"])
    with pytest.raises(UserError, match="--K is not for --model=vae"):
        flags.open_source(args)


def test_points_are_refused_where_images_are_needed(tmp_path):
    run = untrained_run(tmp_path / "toy", dataset="toy_1d")
    with pytest.raises(UserError, match="--trace is for images; .* points"):
        flags.require_images(run, "--trace")
