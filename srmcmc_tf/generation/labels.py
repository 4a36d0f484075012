"""The classes that a command asks for: numbers, or names of the data."""

from collections.abc import Sequence

from srmcmc_tf.config import fields
from srmcmc_tf.data import examples
from srmcmc_tf.errors import UserError
from srmcmc_tf.models.generator import Generator
from srmcmc_tf.runs.run import Run
from srmcmc_tf.runs.source import Source

Labels = Sequence[int | str]


def pairs(
    source: Source,
    model: Generator,
    seeds: Sequence[int],
    labels: Labels | None,
) -> tuple[list[int], list[int] | None]:
    """Returns the seeds and the labels of samples, one of each per sample.

    Args:
        source, model: as of `numbers`.
        seeds: integers [n].
        labels: classes that each get all seeds; by default a seed has the
            class seed mod `n_classes`. None for a model without classes.
    """
    chosen = numbers(source, model, labels)
    if chosen is None and not model.n_classes:
        return list(seeds), None
    if chosen is None:
        return list(seeds), [seed % model.n_classes for seed in seeds]
    n = len(seeds)
    return list(seeds) * len(chosen), [y for y in chosen for _ in range(n)]


def numbers(
    source: Source, model: Generator, labels: Labels | None
) -> list[int] | None:
    """Returns the numbers of classes; `UserError` where there are none such.

    Args:
        source: the run or the model file.
        model: its model.
        labels: numbers, or names of the classes of the run's data; or None.
    """
    if labels is None:
        return None
    if not model.n_classes:
        raise UserError(
            f"--labels: {source} is not conditional; train with --conditional"
        )
    names = _names(source) if any(isinstance(n, str) for n in labels) else ()
    return [_number(label, names, model.n_classes) for label in labels]


def _names(source: Source) -> tuple[str, ...]:
    """The names of the classes of a run's data."""
    found = None
    if isinstance(source, Run):
        found = examples.load(source.config).labels
    if found is None:
        raise UserError(
            f"--labels: {source} knows no names of classes; give numbers"
        )
    return found.names


def _number(label: int | str, names: tuple[str, ...], n_classes: int) -> int:
    if isinstance(label, int):
        if not 0 <= label < n_classes:
            raise UserError(
                f"--labels={label}: must be from 0 to {n_classes - 1}"
            )
        return label
    if label not in names:
        hint = fields.suggest(label, names)
        some = ", ".join(names[:12]) + ", ..." * (len(names) > 12)
        raise UserError(f"--labels={label}: the classes are {some}{hint}")
    return names.index(label)
