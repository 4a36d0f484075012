"""Measures runs and sets of images."""
