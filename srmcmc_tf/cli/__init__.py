"""The verbs of bin/: flags to config to calls."""
