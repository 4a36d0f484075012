"""Energies, the short-run model, the baselines, and a config's model."""
