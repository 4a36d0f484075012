"""Devices and workers."""
