"""bin/reproduce: the paper's tables and figures, each as a command.

Trains what it needs, or goes on with what is there, measures it, and sets it
beside the paper's values in WORKDIR/report/index.html.
"""

import importlib
import json
import os
import pathlib
import platform
import shlex
import shutil
import statistics
import time

from srmcmc_tf.cli import app, flags
from srmcmc_tf.cli.flags import Flag
from srmcmc_tf.cli.parsers import absolute_path, choice, directory, switch
from srmcmc_tf.errors import NonFiniteError, UserError
from srmcmc_tf.evaluation import METRICS
from srmcmc_tf.reproduce import cost, experiments
from srmcmc_tf.runs import interventions
from srmcmc_tf.runs.run import Run

_NAMES = (*experiments.plan("paper"), "all")
COMMAND = flags.Command(
    "reproduce",
    f"bin/reproduce NAME ... [flags]\n\n{__doc__}\nNAME: {', '.join(_NAMES)}",
    (
        Flag(
            "scale",
            "cpu",
            "paper, cpu (2 cores, 2 hours a table) or smoke",
            choice(*experiments.SCALES),
        ),
        Flag(
            "workdir",
            None,
            "where runs/ and report/ go",
            placeholder="reproduced/SCALE",
        ),
        Flag(
            "data_dir",
            None,
            "holds celeb_a/, lsun_bedroom/, TFDS's data sets",
            directory,
        ),
        flags.INCEPTION,
        Flag("dry_run", "false", "only print the plan and its cost", switch),
    ),
    operands=_NAMES,
)


def main():
    app.run("reproduce", reproduce)


def reproduce(argv):
    args = flags.parse(COMMAND, argv)
    chosen = args.operands
    if not chosen:
        raise UserError(f"say what to reproduce: {', '.join(_NAMES)}")
    plan = experiments.plan(args.scale, absolute_path(args.data_dir or ""))
    if "all" in chosen:
        chosen = list(plan)
    app.import_tensorflow()
    if args.dry_run:
        print(cost.describe(plan, chosen, args.scale))
        return 0
    parts = [part for name in chosen for part in plan[name]]
    _check(parts, args.inception)
    work = _Work(argv, args)
    for name in chosen:
        for i, part in enumerate(plan[name]):
            label = name if len(plan[name]) == 1 else f"{name}{'abc'[i]}"
            print(f"\n## {label}: {part.title}")
            work.make(label, part)
    return 0


def _check(parts, inception):
    """Finds out what is missing before anything is trained."""
    from srmcmc_tf.data import sources
    from srmcmc_tf.evaluation import evaluate

    tables = [p for p in parts if isinstance(p, experiments.Table)]
    configs = [run.config for table in tables for run in table.runs]
    for config in configs:
        if config.channels == 3:
            evaluate.network_for((config.image_size,) * 2 + (3,), inception)
            break
    configs += [p.config for p in parts if isinstance(p, experiments.Figure)]
    found = {c.dataset: c for c in configs if not c.toy}
    for config in found.values():
        sources.find(config)


class _Work:
    """What the parts of one command share."""

    def __init__(self, argv, args):
        self.command = "bin/reproduce " + shlex.join(argv)
        self.scale = args.scale
        self.inception = args.inception
        workdir = args.workdir or os.path.join("reproduced", args.scale)
        self.runs = pathlib.Path(workdir, "runs")
        self.report = pathlib.Path(workdir, "report")
        self.report.mkdir(parents=True, exist_ok=True)

    def make(self, name, part):
        from srmcmc_tf.reproduce import report

        begin = time.perf_counter()
        kinds = {
            experiments.Table: self._table,
            experiments.Figure: self._figure,
            experiments.Theory: self._theory,
        }
        result = kinds[type(part)](name, part)
        result |= {
            "title": part.title,
            "command": self.command,
            "scale": self.scale,
            "seconds": time.perf_counter() - begin,
            "machine": f"{os.cpu_count()} cores of {_processor()}",
        }
        report.write(self.report, name, result)
        print(report.write_index(self.report))

    def _table(self, name, table):
        from srmcmc_tf.reproduce import report, sweep

        rows, notes = [], _settings(table.runs)
        for run in table.runs:
            ours, errors, remarks = self._values(run)
            rows.append(
                {
                    "label": run.label,
                    "ours": ours,
                    "errors": errors,
                    "paper": run.paper,
                }
            )
            notes += [remark for remark in remarks if remark not in notes]
        sweep.describe(self.runs, report.METRICS)
        notes += report.agreement(rows)
        return {"rows": rows, "notes": notes}

    def _values(self, run):
        """Our numbers for a run, their errors by metric, remarks on them."""
        from srmcmc_tf.evaluation import evaluate
        from srmcmc_tf.reproduce import sweep

        try:
            workdir = self._trained(run.config)
        except NonFiniteError as error:
            diverged = dict.fromkeys(run.paper, "diverged")
            return diverged, {}, [f"{run.label}: {error}"]
        records = evaluate.evaluate_run(
            Run(workdir),
            n=experiments.N[self.scale],
            metrics=[m for m in METRICS if m in (*run.paper, "kid")],
            inception=self.inception,
            n_mse=experiments.N_MSE[self.scale],
        )
        found = {name: record["value"] for name, record in records.items()}
        if "f_prime_norm" in run.paper:
            found["f_prime_norm"] = _last_f_prime_norm(workdir)
        sweep.log(workdir, run.config.updates, found)
        remarks = [r for item in records.items() for r in _remarks(*item)]
        for line in Run(workdir).interventions.up_to(run.config.updates):
            remarks.append(f"{run.label}: {interventions.describe(line)}")
        errors = {
            name: record.get("standard_error")
            for name, record in records.items()
        }
        return found, errors, remarks

    def _figure(self, name, figure):
        config = figure.config
        workdir = self._trained(config)
        notes = [_setting(config)]
        found = Run(workdir).interventions.up_to(config.updates)
        notes += map(interventions.describe, found)
        out = self.report / name
        if figure.verb is None:
            out.mkdir(exist_ok=True)
            newest = max((workdir / "samples").glob("*.png"))
            shutil.copy(newest, out / "picture.png")
            return {"pictures": [f"{name}/picture.png"], "notes": notes}
        verb = importlib.import_module(f"srmcmc_tf.cli.{figure.verb}")
        flags = [f"--workdir={workdir}", f"--out={out}", *figure.arguments]
        getattr(verb, figure.verb)(flags)
        pictures = [f"{name}/{picture}" for picture in figure.pictures]
        return {"pictures": pictures, "notes": notes}

    def _theory(self, name, part):
        from srmcmc_tf.reproduce import theory

        notes = theory.figure(self.report / f"{name}.png")
        return {"pictures": [f"{name}.png"], "notes": notes}

    def _trained(self, config):
        """Trains a run to its end, or goes on with it; its directory."""
        import keras

        from srmcmc_tf.training import train

        keras.backend.clear_session()
        workdir = self.runs / experiments.directory(config)
        received = train.train(config, workdir)
        if received:
            raise UserError(f"{received.name}: the same command goes on")
        return workdir


def _settings(runs):
    """The settings of runs in words, a line for those that share them."""
    labels = {}
    for run in runs:
        labels.setdefault(_setting(run.config), []).append(run.label)
    if len(labels) == 1:
        return list(labels)
    return [f"{', '.join(who)}: {what}" for what, who in labels.items()]


def _setting(config):
    if config.toy:
        return f"{config.updates:,} updates, seed {config.seed}"
    return (
        f"{config.image_size}x{config.image_size}, n_f={config.n_f}, "
        f"{config.n_examples:,} examples, {config.updates:,} updates of batch "
        f"{config.batch_size}, learning rate {config.learning_rate:g}, "
        f"seed {config.seed}"
    )


def _processor():
    """The name of the processor, where the system tells it."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(": ")[2] for line in lines if "model name" in line]
    return f"{names[0] if names else 'unknown'} ({platform.machine()})"


def _remarks(name, record):
    """What belongs to a value: n, the reference, a warning."""
    if record["value"] is None:
        return [f"{name}: {record['reason']}"]
    n = f"{name}: n={record['n']:,}"
    if "splits" in record:
        n += f" in {record['splits']} splits"
    if "reference" in record:
        real = record["reference"]
        n += f" against {real['name']}, {real['split']}, n={real['n']:,}"
    return [n] + [f"{name}: {record[k]}" for k in ("warning",) if k in record]


def _last_f_prime_norm(workdir):
    """The mean norm of f' along the chains of the last tenth of the updates."""
    with open(workdir / "metrics.jsonl") as file:
        norms = [json.loads(line)["f_prime_norm"] for line in file]
    return statistics.fmean(norms[-max(len(norms) // 10, 1) :])
