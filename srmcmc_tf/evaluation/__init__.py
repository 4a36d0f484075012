"""Measures runs and sets of images; nothing here is imported eagerly."""

METRICS = ("fid", "kid", "is", "mse")
SET_METRICS = METRICS[:3]  # of two sets of images: mse needs a model
RUN_METRICS = (*METRICS, "accuracy")  # the last of conditional runs only
N_SAMPLES = 40_000
