"""Workarounds that depend on private parts of other packages."""
