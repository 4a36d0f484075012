"""What an experiment will cost, from the formulas, before it is run."""

from srmcmc_tf.reproduce import experiments

# GFLOP a second in the convolutions: two cores as bin/benchmark measured
# them, and the paper's four Titan Xp from its 16 hours for 100,000 updates.
_CORES, _PAPER = 120, 21_900
# Images a second through Inception on two cores.
_INCEPTION = 12


def describe(plan, names, scale):
    """The runs of some experiments and their hours, as text."""
    lines, seen, hours = [], set(), 0.0
    for name in names:
        lines.append(f"{name}:")
        for part in plan[name]:
            lines.append(f"  {part.title}")
            for config, measured in _runs(part):
                run = experiments.directory(config)
                n = experiments.N[scale] if measured else 0
                n_mse = experiments.N_MSE[scale] if "mse" in measured else 0
                gflop = _gflop(config, n, n_mse)
                cost = (gflop / _CORES + n / _INCEPTION) / 3600
                again = run in seen
                seen.add(run)
                hours += 0.0 if again else cost
                if config.toy:
                    lines.append(f"    {run}: points, about a minute")
                    continue
                lines.append(
                    f"    {run}: {config.updates:,} updates of "
                    f"{config.image_size}x{config.image_size}, "
                    f"{gflop / 1e6:,.3g} PFLOP"
                    + (" (shared)" if again else f", {_hours(cost)} h")
                )
    paper = hours * _CORES / _PAPER
    lines.append(
        f"about {_hours(hours)} hours on 2 cores ({_CORES} GFLOP/s), "
        f"{_hours(paper)} at the rate of the paper's four GPUs"
    )
    return "\n".join(lines)


def _hours(hours):
    return f"{hours:,.0f}" if hours >= 10 else f"{hours:.2g}"


def _runs(part):
    """Pairs of a config and the names of what is measured of it."""
    if isinstance(part, experiments.Table):
        return [(run.config, run.paper) for run in part.runs]
    if isinstance(part, experiments.Figure):
        return [(part.config, ())]
    return []


def _gflop(config, n, n_mse):
    """Of a run, n samples and n_mse reconstructions: K steps of f and f'."""
    from srmcmc_tf.models import energies

    if config.dataset.startswith("toy"):
        return 0.0
    one = energies.flop(config.image_size, config.channels, config.n_f)
    # A baseline's update is a few evaluations of networks of this size.
    steps = 2 * config.K if config.model == "ebm" else 6
    images = config.updates * config.batch_size
    # The gradient through a chain costs three times the chain (measured).
    descents = n_mse * 201 * 3 * steps
    return (images * (steps + 6) + n * steps + descents) * one / 1e9
