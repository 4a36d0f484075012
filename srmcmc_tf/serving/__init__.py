"""Exported models and the demo server."""
