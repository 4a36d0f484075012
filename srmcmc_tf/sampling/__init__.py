"""Random numbers, short-run chains and their inversion: pure functions."""
