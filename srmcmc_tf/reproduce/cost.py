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
                gflop = _gflop(config, n)
                cost = (gflop / _CORES + n / _INCEPTION) / 3600
                again = run in seen
                seen.add(run)
                hours += 0.0 if again else cost
                lines.append(
                    f"    {run}: {config.updates:,} updates of "
                    f"{config.image_size}x{config.image_size}, "
                    f"{gflop / 1e6:,.3g} PFLOP"
                    + (" (shared)" if again else f", {cost:,.2g} h")
                )
    paper = hours * _CORES / _PAPER
    lines.append(
        f"about {hours:,.3g} hours on 2 cores ({_CORES} GFLOP/s), "
        f"{paper:,.3g} at the rate of the paper's four GPUs"
    )
    return "\n".join(lines)


def _runs(part):
    """Pairs of a config and whether Inception sees its samples."""
    if isinstance(part, experiments.Table):
        return [(run.config, True) for run in part.runs]
    if isinstance(part, experiments.Figure):
        return [(part.config, False)]
    return []


def _gflop(config, n):
    """Of a run and n samples: K steps of f and f', and updates' gradients."""
    from srmcmc_tf import energy

    if config.dataset.startswith("toy"):
        return 0.0
    one = energy.flop(config.image_size, config.channels, config.n_f)
    # A baseline's update is a few evaluations of networks of this size.
    steps = 2 * config.K if config.model == "ebm" else 6
    images = config.updates * config.batch_size
    return (images * (steps + 6) + n * steps) * one / 1e9
