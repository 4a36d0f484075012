"""Where the chains of a model start, and what they leave for the next update.

A persistent start continues the ends of earlier chains, a bank; the stopping
rule "level" compares f with its running mean on data. Both are part of a
checkpoint, and the same on all replicas.
"""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from srmcmc_tf.distribution import replicas
from srmcmc_tf.distribution.replicas import Rows
from srmcmc_tf.models import inputs
from srmcmc_tf.models.stage import Stage
from srmcmc_tf.sampling import rng, starts
from srmcmc_tf.sampling.kernels import LANGEVIN
from srmcmc_tf.sampling.starts import Start

# No chain stops at this level: so it is until f of the data is known.
UNKNOWN = tf.float32.max
_DECAY = 0.99


class Starting(tf.Module):
    """The starts of a model's chains.

    Make it in the scope of the strategy.

    Args:
        start: where chains start.
        stages: of the model; only "noise" is for several.
        seed: integer, the random seed of the bank's first chains.

    Attributes:
        images: if the start needs images, those from which the chains of
            seeds start (image number seed mod n) where no others are given;
            of "dataset", those of updates, too. uint8 or float [n, ...], or a
            function that returns them. Set them before training.
    """

    def __init__(
        self, start: Start, stages: Sequence[Stage], seed: int
    ) -> None:
        super().__init__()
        self.start, self._stages = start, tuple(stages)
        self.shape = shape = stages[-1].image_shape
        start.check(shape)
        self._check()
        self.images: Any = None
        self._used: tuple[Any, tf.Tensor] = (None, None)
        self.level = None
        if stages[0].stop.rule == "level":
            self.level = _variable(UNKNOWN)
        self.bank = None
        if start.kind == "persistent":
            stream = rng.stream(seed).fold(rng.BANK)
            self.bank = _variable(start.noise(stream, [start.bank, *shape]))

    def of_seeds(
        self, streams: Sequence[rng.StreamPerRow], images: Any
    ) -> list[tf.Tensor]:
        """The start of each seed's chain, for each stage.

        Args:
            streams: of n seeds, for each stage.
            images: [n, ...], if the start needs them, otherwise None.
        """
        n = streams[0].seeds.shape[0]
        if images is not None and not self.start.needs_images:
            raise ValueError(
                f"start={self.start.kind!r}: chains start from no images"
            )
        if self.bank is not None:
            row = starts.pick(streams[0], self.start.bank)
            return [tf.gather(self.bank, row)]
        if not self.start.needs_images:
            return self._noise(streams, n)
        if images is None:
            number = tf.bitcast(streams[0].seeds, tf.int64)
            x = self._take(number % len(self._all()))
        else:
            x = inputs.images(images, self.shape)
            if n is not None and x.shape[0] not in (None, n):
                raise ValueError(f"{len(x)} images for {n} seeds: one for each")
        return [self.start.from_images(x, streams[0])]

    def of_rows(
        self,
        x: tf.Tensor,
        rows: Rows,
        streams: Sequence[rng.AnyStream],
        seed: int,
        update: Any,
    ) -> list[tf.Tensor]:
        """In a replica, the starts of the chains of its rows, for each stage.

        Args:
            x: the data of these rows.
            rows: of the replica.
            streams: of these rows for this update, for each stage.
            seed, update: name the chains of the bank that are continued, or
                the images of the other domain.
        """
        if self.start.kind == "persistent":
            return [self._continued(rows, streams[0], seed, update)]
        if self.start.kind == "dataset":
            whole = _rows(rows, seed, update, len(self._all()))
            x = self._take(_own(whole, rows))
        if self.start.needs_images:
            return [self.start.from_images(x, streams[0])]
        return self._noise(streams, rows.present)

    def store(self, x: tf.Tensor, rows: Rows, seed: int, update: Any) -> None:
        """In a replica, puts the ends of its chains back into the bank.

        All replicas store the ends of all: so their banks stay the same.
        """
        if self.bank is None:
            return
        after = rows.total - rows.first - rows.n
        rest = [[0, 0]] * (x.shape.rank - 1)
        # -0.0, for x + 0.0 would turn -0.0 into 0.0.
        x = tf.pad(
            x[: rows.n], [[rows.first, after], *rest], constant_values=-0.0
        )
        (ends,) = replicas.total([x])
        place = _rows(rows, seed, update, self.start.bank)
        self.bank.scatter_update(tf.IndexedSlices(ends, place))

    def observe(self, f_data: tf.Tensor, rows: Rows) -> None:
        """In a replica, moves the level towards the mean of f on its data."""
        if self.level is None:
            return
        mean: Any = replicas.total([rows.share(f_data)])[0]
        level = self.level.read_value()
        nearer = _DECAY * level + (1.0 - _DECAY) * mean
        self.level.assign(tf.where(level < UNKNOWN, nearer, mean))

    def kept(self) -> dict[str, tf.Variable]:
        """What must be stored with the weights, by name."""
        both = {"bank": self.bank, "level": self.level}
        return {name: v for name, v in both.items() if v is not None}

    def _continued(
        self, rows: Rows, stream: rng.AnyStream, seed: int, update: Any
    ) -> tf.Tensor:
        """Chains of the bank; some begin again from noise."""
        whole = _rows(rows, seed, update, self.start.bank)
        x = tf.gather(self.bank, _own(whole, rows))
        u = 0.5 + 0.5 * stream.fold(rng.BANK).uniform([rows.present])
        wide = (..., *[None] * (x.shape.rank - 1))
        again = u[wide] < self.start.reinitialize
        return tf.where(again, self.start.noise(stream, tf.shape(x)), x)

    def check_inverts(self) -> None:
        """Raises `ValueError` if the chain is not an ascent from noise.

        Interpolation and reconstruction run, and invert, the plain chain.
        """
        if self.start.needs_images:
            raise ValueError(
                f"start={self.start.kind!r}: chains start from images, not "
                "from a z"
            )
        for stage in self._stages:
            if stage.kernel != LANGEVIN or stage.stop.rule != "K":
                raise ValueError(
                    f"kernel={stage.kernel.name!r}, stop={stage.stop.rule!r}: "
                    "only plain Langevin chains of K steps can be inverted"
                )

    def _check(self) -> None:
        """Raises `ValueError` if start, kernel and stages do not fit."""
        start, n = self.start, len(self._stages)
        if n > 1 and start.kind != "noise":
            raise ValueError(
                f"start={start.kind!r}: a model of several stages starts from "
                "noise"
            )
        other = start.kind in ("data", "degraded", "persistent")
        if other and self._stages[-1].n_classes:
            raise ValueError(
                f"start={start.kind!r}: not for a conditional model, whose "
                "chains would start from images of other classes"
            )
        held = start.kind == "degraded" and start.hold
        for stage in self._stages:
            if stage.stop.rule == "level" and n > 1:
                raise ValueError("stop='level': only for a model of one stage")
            if start.kind == "persistent" and stage.K == 0:
                raise ValueError("start='persistent': chains of K=0 never move")
            if stage.kernel.clamp and held and start.task != "inpaint":
                raise ValueError(
                    f"clamp would change what task={start.task!r} holds: use "
                    "clamp=0 or hold=False"
                )

    def _noise(
        self, streams: Sequence[rng.AnyStream], n: Any
    ) -> list[tf.Tensor]:
        return [
            self.start.noise(stream, [n, *stage.image_shape])
            for stage, stream in zip(self._stages, streams, strict=True)
        ]

    def _all(self) -> tf.Tensor:
        """The images to start from, on the CPU: they may be many."""
        if self.images is None:
            raise ValueError(
                f"start={self.start.kind!r}: chains start from images; give "
                "`images`, one for each seed, or set model.starting.images"
            )
        if self._used[0] is not self.images:
            found = self.images() if callable(self.images) else self.images
            with tf.init_scope(), tf.device("cpu"):
                self._used = self.images, tf.convert_to_tensor(found)
        return self._used[1]

    def _take(self, rows: tf.Tensor) -> tf.Tensor:
        with tf.device("cpu"):
            x = tf.gather(self._all(), rows)
        if x.dtype == tf.uint8:
            x = tf.cast(x, tf.float32) / 127.5 - 1.0
        shape = [rows.shape[0], *self.shape]
        return tf.ensure_shape(tf.cast(x, tf.float32), shape)


def _rows(rows: Rows, seed: int, update: Any, size: int) -> tf.Tensor:
    enough = tf.debugging.assert_less_equal(
        rows.total, size, "a batch must not be larger than the bank of starts"
    )
    with tf.control_dependencies([] if enough is None else [enough]):
        return starts.bank_rows(seed, update, rows.total, size)


def _own(whole: tf.Tensor, rows: Rows) -> tf.Tensor:
    """A replica's part of the numbers of all rows."""
    place = rows.first + tf.range(rows.present)
    return tf.gather(whole, tf.minimum(place, rows.total - 1))


def _variable(value: Any) -> tf.Variable:
    # Replicas assign the same value, so that of the first is as good as any.
    return tf.Variable(
        value,
        trainable=False,
        dtype=tf.float32,
        aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA,
    )
