"""The settings of a run, `configs/`, and what datasets and models are."""
