"""The expected cost of experiments, from formulas, before they are run."""

from collections.abc import Collection, Sequence

from srmcmc_tf.config.config import Config
from srmcmc_tf.reproduce import experiments, scales

# GFLOP a second in the convolutions: two cores as bin/benchmark measured
# them, and the paper's four Titan Xp from its 16 hours for 100,000 updates.
_CORES, _PAPER = 120, 21_900
# The same of two cores below 32x32, where convolutions are too small for them:
# 25 on one busy core (n_f=16, batch 16).
_CORES_SMALL = 40
# Images a second through Inception on two cores.
_INCEPTION = 12


def describe(plan: experiments.Plan, names: Sequence[str], scale: str) -> str:
    """Returns the runs of some experiments and their hours, as text."""
    lines: list[str] = []
    seen: set[str] = set()
    hours = arithmetic = 0.0
    for name in names:
        lines.append(f"{name}:")
        for part in plan[name]:
            lines.append(f"  {part.title}")
            for config, measured in _runs(part):
                run = experiments.directory(config)
                n = scales.N[scale] if measured else 0
                n_mse = scales.N_MSE[scale] if "mse" in measured else 0
                gflop = _gflop(config, n, n_mse)
                rate = _CORES if config.image_size >= 32 else _CORES_SMALL
                cost = (gflop / rate + n / _INCEPTION) / 3600
                again = run in seen
                seen.add(run)
                hours += 0.0 if again else cost
                arithmetic += 0.0 if again else gflop
                if config.data.points:
                    lines.append(f"    {run}: points, about a minute")
                    continue
                lines.append(
                    f"    {run}: {config.updates:,} updates of "
                    f"{config.image_size}x{config.image_size}, "
                    f"{gflop / 1e6:,.3g} PFLOP"
                    + (" (shared)" if again else f", {_hours(cost)} h")
                )
    paper = arithmetic / _PAPER / 3600
    lines.append(
        f"about {_hours(hours)} hours on 2 cores, "
        f"{_hours(paper)} at the rate of the paper's four GPUs"
    )
    return "\n".join(lines)


def _hours(hours: float) -> str:
    return f"{hours:,.0f}" if hours >= 10 else f"{hours:.2g}"


def _runs(
    part: experiments.Part,
) -> list[tuple[Config, Collection[str]]]:
    """Returns the configs of a part and the metrics measured of each."""
    if isinstance(part, experiments.Table):
        return [(run.config, run.paper) for run in part.runs]
    if isinstance(part, experiments.Figure):
        return [(part.config, ())]
    return []


def _gflop(config: Config, n: int, n_mse: int) -> float:
    """Returns the cost of a run, n samples and n_mse reconstructions."""
    from srmcmc_tf.models import energies

    if config.data.points:
        return 0.0
    one = energies.flop(config.image_size, config.channels, config.n_f)
    # A chain evaluates f and f' K times. A baseline's update is a few
    # evaluations of networks of this size.
    steps = 2 * config.K if config.kind.has_chain else 6
    images = config.updates * config.batch_size
    # The gradient through a chain costs three times the chain (measured).
    descents = n_mse * 201 * 3 * steps
    return (images * (steps + 6) + n * steps + descents) * one / 1e9
