"""Makes the paper's tables and figures: trains, measures, draws, reports."""

import logging
import os
import pathlib
import platform
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import keras

from srmcmc_tf.config.config import Config
from srmcmc_tf.data import sources
from srmcmc_tf.errors import NonFiniteError, UserError
from srmcmc_tf.evaluation import METRICS, evaluate
from srmcmc_tf.reproduce import experiments, report, scales, sweep, theory
from srmcmc_tf.runs import interventions
from srmcmc_tf.runs.run import Run
from srmcmc_tf.training import train

logger = logging.getLogger(__name__)


def reproduce(
    plan: experiments.Plan,
    names: Sequence[str],
    *,
    scale: str,
    directory: pathlib.Path,
    inception: str = "",
    command: str = "",
) -> pathlib.Path:
    """Makes tables and figures, and resumes what an earlier call has begun.

    Args:
        plan: of `experiments.plan`.
        names: keys of `plan`.
        scale: of the plan.
        directory: for the runs, in `runs/`, and for the report, in `report/`.
        inception: path of Inception's weights; by default downloaded.
        command: the command line, for the report.

    Returns:
        The page of the report. `UserError` where data or weights are missing;
        nothing is trained then.
    """
    check([part for name in names for part in plan[name]], inception)
    work = _Work(scale, directory, inception, command)
    for name in names:
        parts = plan[name]
        for part, letter in zip(parts, "abc", strict=False):
            label = name if len(parts) == 1 else f"{name}{letter}"
            logger.info("\n## %s: %s", label, part.title)
            page = work.make(label, part)
            logger.info("%s", page)
    return page


def check(parts: Iterable[experiments.Part], inception: str) -> None:
    """Raises `UserError` if data or Inception's weights are missing."""
    parts = list(parts)
    tables = [p for p in parts if isinstance(p, experiments.Table)]
    configs = [run.config for table in tables for run in table.runs]
    for config in configs:
        if config.channels == 3:
            evaluate.network_for((config.image_size,) * 2 + (3,), inception)
            break
    configs += [p.config for p in parts if isinstance(p, experiments.Figure)]
    found = {c.dataset: c for c in configs if not c.data.points}
    for config in found.values():
        sources.find(config)


class _Work:
    """What the parts of one command share."""

    def __init__(
        self, scale: str, directory: pathlib.Path, inception: str, command: str
    ) -> None:
        self.scale = scale
        self.inception = inception
        self.command = command
        self.runs = directory / "runs"
        self.report = directory / "report"
        self.report.mkdir(parents=True, exist_ok=True)

    def make(self, name: str, part: experiments.Part) -> pathlib.Path:
        """Makes a table or a figure; returns the page of the report."""
        begin = time.perf_counter()
        if isinstance(part, experiments.Table):
            result = self._table(part)
        elif isinstance(part, experiments.Figure):
            result = self._figure(name, part)
        else:
            picture = self.report / f"{name}.png"
            laws = theory.learn()
            theory.figure(picture, laws)
            notes = theory.table(laws)
            for note in notes:
                logger.info("- %s", note)
            result = {"pictures": [picture.name], "notes": notes}
        result |= {
            "title": part.title,
            "command": self.command,
            "scale": self.scale,
            "seconds": time.perf_counter() - begin,
            "machine": f"{os.cpu_count()} cores of {_processor()}",
        }
        report.write(self.report, name, result)
        return report.write_index(self.report)

    def _table(self, table: experiments.Table) -> report.Result:
        rows, notes = [], _settings(table.runs)
        for experiment in table.runs:
            ours, errors, remarks = self._values(experiment)
            rows.append(
                {
                    "label": experiment.label,
                    "ours": ours,
                    "errors": errors,
                    "paper": experiment.paper,
                }
            )
            notes += [remark for remark in remarks if remark not in notes]
        sweep.describe(self.runs, report.METRICS)
        notes += report.agreement(rows)
        return {"rows": rows, "notes": notes}

    def _values(
        self, experiment: experiments.Experiment
    ) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
        """Returns our values, their errors by metric, and remarks on them."""
        label, wanted = experiment.label, experiment.paper
        try:
            run = self._train(experiment.config)
        except NonFiniteError as error:
            diverged = dict.fromkeys(wanted, "diverged")
            return diverged, {}, [f"{label}: {error}"]
        records = evaluate.evaluate_run(
            run,
            n=scales.N[self.scale],
            metrics=[m for m in METRICS if m in (*wanted, "fid", "kid")],
            inception=self.inception,
            n_mse=scales.N_MSE[self.scale],
        )
        found = {name: record["value"] for name, record in records.items()}
        if "f_prime_norm" in wanted:
            found["f_prime_norm"] = last_f_prime_norm(run)
        sweep.log(run, run.config.updates, found)
        remarks = [r for item in records.items() for r in _remarks(*item)]
        remarks += [f"{label}: {line}" for line in _interventions(run)]
        errors = {
            name: record.get("standard_error")
            for name, record in records.items()
        }
        return found, errors, remarks

    def _figure(self, name: str, figure: experiments.Figure) -> report.Result:
        run = self._train(figure.config)
        pictures = figure.draw(run, self.report / name)
        for picture in pictures:
            logger.info("%s", picture)
        return {
            "pictures": [str(p.relative_to(self.report)) for p in pictures],
            "notes": [_setting(figure.config), *_interventions(run)],
        }

    def _train(self, config: Config) -> Run:
        """Trains a run to its end, or resumes it."""
        keras.backend.clear_session()
        run = Run(self.runs / experiments.directory(config))
        received = train.train(config, run.path)
        if received:
            raise UserError(f"{received.name}: the same command resumes it")
        return run


def last_f_prime_norm(run: Run) -> float:
    """Returns the mean norm of f' in the last tenth of the updates."""
    norms = [logged["f_prime_norm"] for logged in run.metrics()]
    return statistics.fmean(norms[-max(len(norms) // 10, 1) :])


def _interventions(run: Run) -> list[str]:
    """Returns the interventions of the guard as sentences."""
    found = run.interventions.up_to(run.config.updates)
    return [interventions.describe(one) for one in found]


def _settings(runs: Sequence[experiments.Experiment]) -> list[str]:
    """Returns the settings of runs, a line for those that share them."""
    same_K = len({run.config.K for run in runs}) == 1
    labels: dict[str, list[str]] = {}
    for run in runs:
        own = _setting(run.config)
        if same_K and run.config.kind.has_chain:
            own = f"K={run.config.K}, {own}"
        labels.setdefault(own, []).append(run.label)
    if len(labels) == 1:
        return list(labels)
    return [f"{', '.join(who)}: {what}" for what, who in labels.items()]


def _setting(config: Config) -> str:
    if config.data.points:
        return f"{config.updates:,} updates, seed {config.seed}"
    average = f"average of weights {config.ema:g}, " if config.ema else ""
    own = "" if config.beta_1 == 0.9 else f"beta_1 {config.beta_1:g}, "
    if config.learning_rate_half_life:
        own = (
            f"halved every {config.learning_rate_half_life:,} updates from "
            f"{config.anneal_after:,} on, {own}"
        )
    return (
        f"{config.image_size}x{config.image_size}, n_f={config.n_f}, "
        f"{config.n_examples:,} examples, {config.updates:,} updates of batch "
        f"{config.batch_size}, learning rate {config.learning_rate:g}, "
        f"{own}{average}seed {config.seed}"
    )


def _processor() -> str:
    """Returns the name of the processor, if the system knows it."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(": ")[2] for line in lines if "model name" in line]
    return f"{names[0] if names else 'unknown'} ({platform.machine()})"


def _remarks(name: str, record: Mapping[str, Any]) -> list[str]:
    """Returns what a value depends on: n, the reference, a warning."""
    if record["value"] is None:
        return [f"{name}: {record['reason']}"]
    n = f"{name}: n={record['n']:,}"
    if "splits" in record:
        n += f" in {record['splits']} splits"
    if "reference" in record:
        real = record["reference"]
        n += f" against {real['name']}, {real['split']}, n={real['n']:,}"
    return [n] + [f"{name}: {record[k]}" for k in ("warning",) if k in record]
