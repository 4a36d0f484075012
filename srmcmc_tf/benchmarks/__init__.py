"""Benchmarks of bin/benchmark: functions that yield lines of Markdown."""
